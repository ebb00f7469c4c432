import Captures
import CookieModel
import SessionOperations

/// Writes cookies in one format to one destination, and tells the user what became of each.
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

    /// Accounts for a cookie whose value cannot be read back.
    mutating func leaveOut(unreadable cookie: Cookie) {
        exporter.leaveOut(unreadable: cookie)
    }

    /// Ends the file, and says what became of the cookies; the command ends with the status that belongs to it.
    mutating func finish(_ console: Console, json: Bool) throws {
        // Where nothing is written, what was there stays.
        if !exporter.isNothing {
            exporter.finish(&destination.bytes)
            try destination.finish()
        }
        let report = exporter.report
        if json {
            try console.writeJSON(report, toTalk: destination.file == nil)
        } else {
            for line in report.text { console.note(line) }
        }
        for line in report.complaints { console.complain(line) }
        if let status = report.status { throw status.exitCode }
        if exporter.isNothing { throw ExitStatus.nothingToSend.exitCode }
    }
}
