import Captures
import CookieModel
import GRDB

/// WebKitGTK's table (libsoup's): moments in seconds, no cookies that end with the session, no partitions.
struct WebKitGTKTable: BrowserCookieTable {
    let format = CaptureFormat.webKitGTK
    let source: String
    let columns: Set<String>

    func read(_ database: Database, _ emit: (CaptureItem) throws -> Void) throws {
        let sameSite = columns.contains("sameSite") ? "sameSite" : "NULL AS sameSite"
        let rows = try BrowserCookieRows(
            database, table: "moz_cookies",
            columns: """
                CAST(name AS BLOB) AS name, CAST(value AS BLOB) AS value, CAST(host AS BLOB) AS host,
                CAST(path AS BLOB) AS path, expiry, isSecure, isHttpOnly, \(sameSite)
                """)
        try rows.forEach(in: source, emit) { row, place in
            guard let record = record(row) else { return false }
            try emit(.cookie(record, place))
            return true
        }
    }

    private func record(_ row: Row) -> CookieRecord? {
        guard let name = row.octets("name"), let value = row.octets("value"), let path = row.octets("path"),
            let (domain, isHostOnly) = row.domain("host"), let expiry = row.number("expiry")
        else { return nil }
        let isSecure = row.flag("isSecure")
        var record = CookieRecord(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path, isSecure: isSecure,
            isHTTPOnly: row.flag("isHttpOnly"), expiry: Timestamp(seconds: expiry))
        // Libsoup writes 0 both for SameSite=None and for no attribute: "not known" is the stricter one.
        record.sameSite =
            switch row.number("sameSite") {
            case 1: .lax
            case 2: .strict
            default: .default
            }
        return record
    }
}

extension Row {
    /// The host without the dot that marks a domain cookie's, and whether it has none.
    func domain(_ column: String) -> (String, isHostOnly: Bool)? {
        guard let host = text(column), !host.isEmpty else { return nil }
        let hasDot = host.hasPrefix(".")
        return (hasDot ? String(host.dropFirst()) : host, !hasDot)
    }
}
