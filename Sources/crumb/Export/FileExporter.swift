import Captures
import CookieModel
import SessionOperations

/// Writes cookies in one format to one destination.
struct FileExporter {
    private let destination: ExportDestination
    private var exporter: CookieExporter

    init(_ format: ExportFormat, to destination: ExportDestination, host: WebHost?, now: Timestamp) {
        self.destination = destination
        exporter = CookieExporter(format, to: destination.file, host: host, now: now)
    }

    /// Writes a cookie unless its lifetime is over.
    mutating func write(_ record: CookieRecord) throws {
        exporter.write(record, to: &destination.bytes)
        try destination.writeIfFull()
    }

    /// Writes the web storage of an origin, after all cookies.
    mutating func write(_ part: ExportedCookies.StoragePart) throws {
        exporter.write(part, to: &destination.bytes)
        try destination.writeIfFull()
    }

    /// Accounts for a cookie whose value cannot be read back.
    mutating func leaveOut(unreadable cookie: Cookie) {
        exporter.leaveOut(unreadable: cookie)
    }

    /// Ends the file; what became of the cookies.
    mutating func finish() throws -> ExportReport {
        // Where nothing is written, what was there stays.
        if !exporter.isNothing {
            exporter.finish(&destination.bytes)
            try destination.finish()
        }
        return exporter.report
    }
}
