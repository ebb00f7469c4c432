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

    /// The next piece; `nil` where there is no more.
    func next() throws -> [UInt8]? {
        try state.withLock { state in
            var bytes: [UInt8] = []
            while !state.isDone, bytes.count < ExportStream.pieceByteCount {
                if let (readable, unreadable) = try state.cookies.next() {
                    for record in readable.lazy.map({ CookieRecord($0) }) where selection.admits(record) {
                        state.exporter.write(record, to: &bytes)
                    }
                    for cookie in unreadable where selection.admits(CookieRecord(cookie)) {
                        state.exporter.leaveOut(unreadable: cookie)
                    }
                } else {
                    state.exporter.finish(&bytes)
                    state.isDone = true
                }
            }
            return bytes.isEmpty ? nil : bytes
        }
    }

    /// What becomes of every cookie, with what would be written let go.
    func report() throws -> ExportReport {
        while try next() != nil {}
        return state.withLock { $0.exporter.report }
    }
}
