import Captures
import CookieModel
import SQLite

/// Firefox's table. Session cookies are not in it, but in the session store's file.
///
/// Containers, private windows and first-party isolation separate cookies that have the same name, domain and path. One
/// container is read at a time; cookies of the others are counted in a notice.
struct FirefoxTable: BrowserCookieTable {
    let format = CaptureFormat.firefox
    let source: String
    let columns: Set<String>
    let container: Int

    /// From here on a moment is in milliseconds, which newer versions write; as seconds it would be beyond the year 5000.
    private static let millisecondsFrom: Int64 = 100_000_000_000

    func read(_ database: DatabaseConnection, _ emit: (CaptureItem) throws -> Void) throws {
        let rows = try BrowserCookieRows(
            database, table: "moz_cookies", texts: ["name", "value", "host", "path", "originAttributes"],
            numbers: ["expiry", "isSecure", "isHttpOnly", "creationTime", "lastAccessed", "sameSite"], of: columns)
        var others: [Int: Int] = [:]
        var isolatedCount = 0
        try rows.forEach(in: source, emit) { row, place in
            guard let attributes = FirefoxOriginAttributes(row.text("originAttributes") ?? ""),
                let record = record(row, attributes)
            else { return false }
            if attributes.isIsolated {
                isolatedCount += 1
            } else if attributes.container != container {
                others[attributes.container, default: 0] += 1
            } else {
                try emit(.cookie(record, place))
            }
            return true
        }
        let place = CapturePlace(source: source)
        for (other, count) in others.sorted(by: { $0.key < $1.key }) {
            try emit(.failure(.otherContainer(other, count: count), at: place))
        }
        if isolatedCount > 0 { try emit(.failure(.isolatedCookies(isolatedCount), at: place)) }
    }

    private func record(_ row: BrowserCookieRow, _ attributes: FirefoxOriginAttributes) -> CookieRecord? {
        guard var record = row.record(host: "host", secure: "isSecure", httpOnly: "isHttpOnly"),
            let expiry = row.number("expiry")
        else { return nil }
        if expiry > Int64.max / 1000 {
            record.expiry = .distantFuture
        } else {
            record.expiry =
                expiry >= Self.millisecondsFrom
                ? Timestamp(microseconds: expiry * 1000) : Timestamp(seconds: expiry)
        }
        record.creation = row.number("creationTime").map { Timestamp(microseconds: $0) }
        record.lastAccess = row.number("lastAccessed").map { Timestamp(microseconds: $0) }
        record.partitionKey = attributes.partitionKey(ofCookieFor: record.domain)
        record.sameSite = row.sameSite("sameSite", isSecure: record.isSecure)
        return record
    }
}

/// The attributes by which Firefox separates cookies, in the form of its database:
/// `^userContextId=2&partitionKey=%28https%2Ca.test%29`.
struct FirefoxOriginAttributes {
    /// The container; 0 for none.
    private(set) var container = 0
    /// Whether they belong to a private window or to first-party isolation, which nothing outside of it has.
    private(set) var isIsolated = false
    private var partition: (site: String, domain: String, hasForeignAncestor: Bool)?

    /// Parses the text; `nil` if Firefox does not write such a text.
    init?(_ text: String) {
        guard !text.isEmpty else { return }
        guard text.first == "^" else { return nil }
        for member in text.dropFirst().split(separator: "&") {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = FirefoxOriginAttributes.decoded(parts[1]) else { return nil }
            switch parts[0] {
            case "userContextId":
                guard let number = Int(value) else { return nil }
                container = number
            case "privateBrowsingId": isIsolated = isIsolated || value != "0"
            case "firstPartyDomain": isIsolated = isIsolated || !value.isEmpty
            case "partitionKey":
                guard setPartition(value) else { return nil }
            default: break
            }
        }
    }

    /// `(https,example.com)`, with a port and an `f` for a foreign ancestor, if it has them.
    private mutating func setPartition(_ text: String) -> Bool {
        if text.isEmpty { return true }
        guard text.first == "(", text.last == ")" else { return false }
        let parts = text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count >= 2, ["http", "https"].contains(parts[0]), !parts[1].isEmpty else { return false }
        partition = ("\(parts[0])://\(parts[1])", String(parts[1]), parts.dropFirst(2).contains("f"))
        return true
    }

    /// The partition of a cookie of that domain. Firefox's `f` tells of a page that is embedded in itself through
    /// another site; that a cookie of another site than the page's has a cross-site ancestor goes without saying there.
    func partitionKey(ofCookieFor domain: String) -> PartitionKey? {
        guard let partition else { return nil }
        let isOwn = domain == partition.domain || domain.hasSuffix(".\(partition.domain)")
        return PartitionKey(
            topLevelSite: partition.site, hasCrossSiteAncestor: partition.hasForeignAncestor || !isOwn)
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentEncoding.decodeStrictly(Array(text.utf8).span).map { String(decoding: $0, as: UTF8.self) }
    }
}
