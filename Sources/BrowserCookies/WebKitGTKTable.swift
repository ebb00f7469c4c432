import Captures
import CookieModel
import SQLite

/// WebKitGTK's table (libsoup's): moments in seconds, no cookies that end with the session, no partitions.
struct WebKitGTKTable: BrowserCookieTable {
    let format = CaptureFormat.webKitGTK
    let source: String
    let columns: Set<String>

    func read(_ database: DatabaseConnection, _ emit: (CaptureItem) throws -> Void) throws {
        let rows = try BrowserCookieRows(
            database, table: "moz_cookies", texts: ["name", "value", "host", "path"],
            numbers: ["expiry", "isSecure", "isHttpOnly", "sameSite"], of: columns)
        try rows.forEach(in: source, emit) { row, place in
            guard let record = record(row) else { return false }
            try emit(.cookie(record, place))
            return true
        }
    }

    private func record(_ row: BrowserCookieRow) -> CookieRecord? {
        guard var record = row.record(host: "host", secure: "isSecure", httpOnly: "isHttpOnly"),
            let expiry = row.number("expiry")
        else { return nil }
        record.expiry = Timestamp(seconds: expiry)
        // Libsoup writes 0 both for SameSite=None and for no attribute: "not known" is the stricter one.
        record.sameSite = row.sameSite("sameSite", isSecure: false)
        return record
    }
}
