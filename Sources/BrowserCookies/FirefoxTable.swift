import Captures
import CookieModel
import GRDB

/// Firefox's table. Cookies that end with the session are not in it: they are in the session store's file.
///
/// Containers, private windows and first-party isolation keep cookies apart that have the same name, domain and path. One
/// container is read at a time; what belongs to another one is counted in a notice.
struct FirefoxTable: BrowserCookieTable {
    let format = CaptureFormat.firefox
    let source: String
    let columns: Set<String>
    let container: Int

    /// From here on a moment is in milliseconds, which newer versions write; as seconds it would be beyond the year 5000.
    private static let millisecondsFrom: Int64 = 100_000_000_000

    func read(_ database: Database, _ emit: (CaptureItem) throws -> Void) throws {
        let optional = ["creationTime", "lastAccessed", "sameSite"].map {
            columns.contains($0) ? $0 : "NULL AS \($0)"
        }
        let rows = try BrowserCookieRows(
            database, table: "moz_cookies",
            columns: """
                CAST(name AS BLOB) AS name, CAST(value AS BLOB) AS value, CAST(host AS BLOB) AS host,
                CAST(path AS BLOB) AS path, CAST(originAttributes AS BLOB) AS originAttributes, expiry, isSecure,
                isHttpOnly, \(optional.joined(separator: ", "))
                """)
        var entry = 0
        var others: [Int: Int] = [:]
        var isolatedCount = 0
        while let item = try rows.next() {
            entry += 1
            let place = CapturePlace(source: source, entry: entry)
            guard case .row(let row) = item else {
                try emit(.failure(.rowTooLong(at: place)))
                continue
            }
            guard let attributes = FirefoxOriginAttributes(row.text("originAttributes") ?? ""),
                let record = record(row, attributes)
            else {
                try emit(.failure(.rowMalformed(at: place)))
                continue
            }
            if attributes.isIsolated {
                isolatedCount += 1
            } else if attributes.container != container {
                others[attributes.container, default: 0] += 1
            } else {
                try emit(.cookie(record, place))
            }
        }
        let place = CapturePlace(source: source)
        for (other, count) in others.sorted(by: { $0.key < $1.key }) {
            try emit(.failure(.otherContainer(other, count: count, at: place)))
        }
        if isolatedCount > 0 { try emit(.failure(.isolatedCookies(isolatedCount, at: place))) }
    }

    private func record(_ row: Row, _ attributes: FirefoxOriginAttributes) -> CookieRecord? {
        guard let name = row.octets("name"), let value = row.octets("value"), let path = row.octets("path"),
            let (domain, isHostOnly) = row.domain("host"), let expiry = row.number("expiry")
        else { return nil }
        var record = CookieRecord(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path,
            isSecure: row.flag("isSecure"), isHTTPOnly: row.flag("isHttpOnly"),
            expiry: expiry >= Self.millisecondsFrom
                ? Timestamp(microseconds: expiry.multipliedReportingOverflow(by: 1000).partialValue)
                : Timestamp(seconds: expiry),
            creation: row.number("creationTime").map { Timestamp(microseconds: $0) })
        if expiry > Int64.max / 1000 { record.expiry = .distantFuture }
        record.lastAccess = row.number("lastAccessed").map { Timestamp(microseconds: $0) }
        record.partitionKey = attributes.partitionKey(ofCookieFor: domain)
        record.sameSite =
            switch row.number("sameSite") {
            case 0: record.isSecure ? .none : .default
            case 1: .lax
            case 2: .strict
            default: .default
            }
        return record
    }
}
