import CookieModel
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Writes an audit log, apart from the requests that it tells of.
///
/// What is rare is written at once, what is frequent is summed up. A disk that is full holds up nobody: lines wait in
/// memory until there is room, and where there are too many, the log says how many it lost.
final class AuditWriter: AuditLog, Service {
    /// How many lines wait in memory.
    private static let waitingLimit = 50_000
    /// How many different things are summed up before they are written early.
    private static let summaryLimit = 10_000

    private struct State {
        var waiting: [AuditEntry] = []
        var summary = AuditSummary()
        var lost = 0
        var isFailing = false
    }

    private let state = Mutex(State())
    /// Held by whoever writes: one at a time, so that lines stay in order.
    private let file: Mutex<AuditFile>
    private let summaryInterval: Duration
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let wake: AsyncStream<Void>.Continuation
    private let awakenings: AsyncStream<Void>

    init(
        path: String, summaryInterval: Duration, logger: Logger, now: @escaping @Sendable () -> Timestamp
    ) throws(ServiceStartError) {
        file = Mutex(try AuditFile(path))
        self.summaryInterval = summaryInterval
        self.logger = logger
        self.now = now
        (awakenings, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func note(_ access: SecretAccess, by caller: Caller, from peer: String, route: String) {
        let time = now()
        let isUrgent = state.withLock { state in
            if access.kind.isFrequent {
                state.summary.add(access, by: caller, from: peer, route: route, at: time)
                return state.summary.count >= AuditWriter.summaryLimit
            }
            if state.waiting.count < AuditWriter.waitingLimit {
                state.waiting.append(AuditEntry(access, caller: caller, peer: peer, route: route, time: time))
            } else {
                state.lost += 1
            }
            return true
        }
        if isUrgent { wake.yield() }
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    for await _ in awakenings { write(withSummary: isSummaryLarge) }
                }
                group.addTask { [self] in
                    while (try? await Task.sleep(for: summaryInterval)) != nil { write(withSummary: true) }
                }
                group.addTask { [self] in
                    for await _ in await UnixSignalsSequence(trapping: .sighup) { reopen() }
                }
                // The first one ends when the service stops, after everybody who takes notes has.
                await group.next()
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.wake.finish()
        }
        write(withSummary: true)
    }

    private var isSummaryLarge: Bool {
        state.withLock { $0.summary.count >= AuditWriter.summaryLimit }
    }

    private func reopen() {
        write(withSummary: true)
        let isReopened = file.withLock { $0.reopen() }
        if !isReopened { logger.error("The audit log cannot be opened anew; it goes on in the old file") }
    }

    /// Writes what there is.
    func write(withSummary: Bool) {
        file.withLock { file in
            let entries = state.withLock { state in
                if withSummary { state.waiting += state.summary.take() }
                defer { state.waiting = [] }
                return state.waiting
            }
            let written = file.append(entries)
            let (hasFailed, lost) = state.withLock { state in
                state.waiting = Array(entries[written...]) + state.waiting
                let excess = max(0, state.waiting.count - AuditWriter.waitingLimit)
                state.lost += excess
                state.waiting.removeLast(excess)
                let hasFailed = written < entries.count && !state.isFailing
                state.isFailing = written < entries.count
                defer { if !state.isFailing { state.lost = 0 } }
                return (hasFailed, state.isFailing ? 0 : state.lost)
            }
            if hasFailed {
                logger.error(
                    "The audit log cannot be written; its lines wait in memory", metadata: ["file": "\(file.path)"])
            }
            if lost > 0 { logger.error("The audit log has lost lines", metadata: ["lines": "\(lost)"]) }
        }
    }
}
