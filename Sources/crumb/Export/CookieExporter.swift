import Captures
import CookieModel

/// Writes cookies in one format to one destination, and accounts for each.
struct CookieExporter {
    private let destination: ExportDestination
    private var writer: CookieWriter
    private let now: Timestamp
    /// What became of the cookies so far.
    private(set) var report: ExportReport

    init(_ format: ExportFormat, to destination: ExportDestination, host: WebHost?, now: Timestamp) {
        self.destination = destination
        self.now = now
        writer = CookieWriter(format: format, host: host, now: now)
        report = ExportReport(format: format, output: destination.file)
    }

    /// Writes a cookie unless its lifetime is over.
    mutating func write(_ record: CookieRecord) throws {
        if let expiry = record.expiry, expiry < now {
            report.expired += 1
            return
        }
        report.count(writer.write(record, to: &destination.bytes), of: record)
        try destination.writeIfFull()
    }

    /// Accounts for a cookie whose value cannot be read back.
    mutating func leaveOut(unreadable cookie: Cookie) {
        report.count(unreadable: cookie)
    }

    /// Ends the file, and says what became of the cookies; the command ends with the status that belongs to it.
    mutating func finish(_ console: Console, json: Bool) throws {
        // A request without cookies has no header: nothing is written, and what was there stays.
        let isNothing = writer.format.scope == .oneRequest && report.written == 0
        if !isNothing {
            writer.finish(&destination.bytes)
            try destination.finish()
        }
        if json {
            try console.writeJSON(report, toTalk: destination.file == nil)
        } else {
            for line in report.text { console.note(line) }
        }
        for line in report.complaints { console.complain(line) }
        if let status = report.status { throw status.exitCode }
        if isNothing { throw ExitStatus.nothingToSend.exitCode }
    }
}
