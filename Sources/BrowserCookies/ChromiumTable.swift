import Captures
import CookieModel
import SQLite

/// The table of Chromium and browsers based on it. It includes session cookies.
///
/// Times are in microseconds since 1601. Values are encrypted. Those that cannot be decrypted are counted and reported
/// at the end, with one failure for each kind of encryption.
struct ChromiumTable: BrowserCookieTable {
    /// From here on the value begins with the SHA-256 of its host.
    private static let hashedHostVersion = 24
    /// From 1601 to 1970, in microseconds.
    private static let epoch: Int64 = 11_644_473_600_000_000

    let format = CaptureFormat.chromium
    let source: String
    let columns: Set<String>
    let version: Int
    let password: @Sendable () -> [UInt8]?

    /// The version of the database's schema.
    static func version(_ database: DatabaseConnection) throws -> Int {
        guard try database.hasTable("meta") else { return 0 }
        let texts = try database.texts("SELECT CAST(value AS TEXT) FROM meta WHERE key = 'version'")
        return texts.first.flatMap { Int($0) } ?? 0
    }

    func read(_ database: DatabaseConnection, _ emit: (CaptureItem) throws -> Void) throws {
        // Versions before 2018 had other names for the flags.
        let secure = columns.contains("is_secure") ? "is_secure" : "secure"
        let httpOnly = columns.contains("is_httponly") ? "is_httponly" : "httponly"
        let rows = try BrowserCookieRows(
            database, table: "cookies",
            texts: ["name", "value", "host_key", "path", "encrypted_value", "top_frame_site_key"],
            numbers: [
                "expires_utc", secure, httpOnly, "has_cross_site_ancestor", "has_expires", "creation_utc",
                "last_access_utc", "samesite",
            ], of: columns)
        var cipher = ChromiumCipher(password: password, hasHashedHost: version >= Self.hashedHostVersion)
        var unreadable: [ChromiumCipher.Obstacle: Int] = [:]
        try rows.forEach(in: source, emit) { row, place in
            guard var record = record(row, secure, httpOnly) else { return false }
            switch cipher.value(row.octets("encrypted_value"), host: row.octets("host_key") ?? []) {
            case .plain: break
            case .decrypted(let value): record.value = value
            case .unreadable(let obstacle):
                unreadable[obstacle, default: 0] += 1
                return true
            }
            try emit(.cookie(record, place))
            return true
        }
        let place = CapturePlace(source: source)
        for (obstacle, count) in unreadable.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            try emit(.failure(.encryptedValues(obstacle, count: count), at: place))
        }
    }

    private func record(_ row: BrowserCookieRow, _ secure: String, _ httpOnly: String) -> CookieRecord? {
        guard var record = row.record(host: "host_key", secure: secure, httpOnly: httpOnly),
            let expires = row.number("expires_utc")
        else { return nil }
        record.creation = row.number("creation_utc").flatMap(Self.moment)
        let hasExpiry = row.number("has_expires").map { $0 != 0 } ?? true
        record.expiry = hasExpiry ? Self.moment(expires) : nil
        record.lastAccess = row.number("last_access_utc").flatMap(Self.moment)
        record.sameSite = row.sameSite("samesite", isSecure: record.isSecure)
        if let site = row.text("top_frame_site_key"), !site.isEmpty {
            // Before there was that column, every partition was one across sites.
            let ancestor = row.number("has_cross_site_ancestor").map { $0 != 0 } ?? true
            record.partitionKey = PartitionKey(topLevelSite: site, hasCrossSiteAncestor: ancestor)
        }
        return record
    }

    /// A time; 0 means none.
    private static func moment(_ microseconds: Int64) -> Timestamp? {
        guard microseconds != 0 else { return nil }
        let (sum, overflow) = microseconds.subtractingReportingOverflow(epoch)
        return overflow ? .distantPast : Timestamp(microseconds: sum)
    }
}
