import CookieModel
import Logging
import Platform
import ServiceLifecycle
import SessionOperations
import SessionStore
import Synchronization
import UnixSignals

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes an audit log, independently of the requests that it records.
///
/// Rare events are written at once, frequent ones are summed up. A full disk delays no request: lines wait in memory
/// until there is room. If there are too many, the log contains the number of lost lines.
final class AuditWriter: Service {
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
    /// Held while a thread writes: one at a time, so that lines stay in order.
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

    /// Records which caller read which secret. Never waits for a disk.
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
                // The first one ends when the service stops, after everything that writes to the log.
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
        if !isReopened { logger.error("The audit log cannot be reopened; it continues in the old file") }
    }

    /// Writes the waiting lines.
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

/// The file of an audit log: JSON lines, its owner's alone, only ever added to.
struct AuditFile: ~Copyable {
    let path: String
    private var file: Descriptor
    private let encoder: JSONEncoder

    /// Opens the file, and creates it if it does not exist.
    init(_ path: String) throws(ServiceStartError) {
        PrivateFile.createFolders(above: path)
        file = try AuditFile.open(path)
        self.path = path
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    private static func open(_ path: String) throws(ServiceStartError) -> Descriptor {
        let file: Descriptor
        do throws(SystemError) {
            file = try PrivateFile.openForAppending(path)
        } catch {
            throw ServiceStartError(
                .fileUnusable, "\(path): the audit log cannot be opened: \(error.message(creating: path))")
        }
        guard PrivateFile.isPrivate(path) else {
            file.close()
            throw ServiceStartError(
                .fileUnusable, "\(path): other users can read this audit log; run: chmod 600 '\(path)'")
        }
        return file
    }

    deinit {
        try? file.synchronize()
        file.close()
    }

    /// Continues in a new file of the same name, if the old one was moved away.
    ///
    /// - Returns: whether it does. It continues in the old one if the new one cannot be opened, or if other users can read it.
    mutating func reopen() -> Bool {
        // The process that moved the old one away may have put a new one there.
        guard let opened = try? AuditFile.open(path) else { return false }
        try? file.synchronize()
        file.close()
        file = opened
        return true
    }

    /// Adds whole lines.
    ///
    /// - Returns: how many of them are written whole: fewer than given if the disk is full.
    func append(_ entries: [AuditEntry]) -> Int {
        var written = 0
        for entry in entries {
            guard let line = try? encoder.encode(entry) else { continue }
            guard (try? file.append(Array(line) + [UInt8(ascii: "\n")])) != nil else { return written }
            written += 1
        }
        return written
    }
}
