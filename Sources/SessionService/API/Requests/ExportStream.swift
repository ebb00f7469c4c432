import Captures
import CookieModel
import SessionOperations
import SessionStore
import Synchronization

/// An export that is written piece by piece, so that it is never in memory as a whole. One piece is written at a time,
/// on whatever thread.
final class ExportStream: Sendable {
    /// How many octets a piece has at least, but for the last.
    static let pieceByteCount = 64 << 10

    private struct State {
        var cookies: ExportedCookies
        var exporter: CookieExporter
        var isDone = false
    }

    private let selection: CookieSelection
    private let state: Mutex<State>

    init(
        of jar: CookieJar, _ format: ExportFormat, for request: RequestContext?, _ selection: CookieSelection,
        now: Timestamp
    ) throws {
        self.selection = selection
        state = Mutex(
            State(
                cookies: try ExportedCookies(of: jar, for: request, format.scope, now: now),
                exporter: CookieExporter(format, host: request?.url.host, now: now)))
    }

    /// The next piece; `nil` if there is no more.
    func next() throws -> [UInt8]? {
        try state.withLock { state in
            var bytes: [UInt8] = []
            while !state.isDone, bytes.count < ExportStream.pieceByteCount {
                if let part = try state.cookies.next() {
                    part.forEach(admittedBy: selection) {
                        state.exporter.write($0, to: &bytes)
                    } leaveOut: {
                        state.exporter.leaveOut(unreadable: $0)
                    }
                } else if let part = try state.cookies.nextStorage(
                    admittedBy: selection, for: state.exporter.format)
                {
                    state.exporter.write(part, to: &bytes)
                } else {
                    state.exporter.finish(&bytes)
                    state.isDone = true
                }
            }
            return bytes.isEmpty ? nil : bytes
        }
    }

    /// Returns the outcome of every cookie, and drops the written bytes.
    func report() throws -> ExportReport {
        while try next() != nil {}
        return state.withLock { $0.exporter.report }
    }
}
