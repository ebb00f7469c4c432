package import Captures
package import CookieModel

/// Writes cookies in one format, and accounts for each.
package struct CookieExporter {
    private var writer: CookieWriter
    private let now: Timestamp
    /// What became of the cookies so far.
    package private(set) var report: ExportReport

    /// Writes the cookies that live at `now`.
    ///
    /// - Parameters:
    ///   - output: the file, as the report names it.
    ///   - host: the host that the cookies are for, where the format is for one.
    package init(_ format: ExportFormat, to output: String? = nil, host: WebHost?, now: Timestamp) {
        self.now = now
        writer = CookieWriter(format: format, host: host, now: now)
        report = ExportReport(format: format, output: output)
    }

    /// Whether there is nothing to be written: a request without cookies has no header.
    package var isNothing: Bool { report.isNothing }

    /// Writes a cookie unless its lifetime is over.
    package mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        if let expiry = record.expiry, expiry < now {
            report.expired += 1
            return
        }
        report.count(writer.write(record, to: &bytes), of: record)
    }

    /// The format.
    package var format: ExportFormat { writer.format }

    /// Writes the web storage of an origin, after all cookies.
    package mutating func write(_ part: ExportedCookies.StoragePart, to bytes: inout [UInt8]) {
        for item in part.items { writer.write(item, to: &bytes) }
        report.count(part)
    }

    /// Accounts for a cookie whose value cannot be read back.
    package mutating func leaveOut(unreadable cookie: Cookie) {
        report.count(unreadable: cookie)
    }

    /// Ends what is written, unless it is nothing.
    package mutating func finish(_ bytes: inout [UInt8]) {
        if !isNothing { writer.finish(&bytes) }
    }
}
