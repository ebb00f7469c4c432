import CookieModel
import NIOPosix
import SessionStore
import Synchronization

/// Stores all responses that wait for a jar in one transaction, and resumes the caller of each after the commit.
///
/// One thread writes for all callers that wait for the same jar: waking up a thread of each for every commit would cost
/// more than the writing. Threads of several jars share commits like other writers of the process.
final class ResponseQueue: Sendable {
    private struct Job: Sendable {
        let jar: CookieJar
        let response: ReceivedResponse
        let time: Timestamp
        let now: Timestamp
        /// The attempt that it belongs to, if its client may send it again.
        let request: RepeatableRequest?
        let answer: CheckedContinuation<[StorageDecision], any Error>

        /// The settings that all responses of a transaction must share.
        var settings: JarSettings { JarSettings(jar.policy) }
    }

    /// How many responses one transaction takes.
    private static let groupLimit = 256

    private let writers: NIOThreadPool
    /// Those that wait, by jar; a jar is there for as long as someone writes to it.
    private let waiting = Mutex<[Int64: [Job]]>([:])

    /// How many wait.
    var waitingCount: Int { waiting.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    /// A queue that writes on threads that may block.
    init(writers: NIOThreadPool) {
        self.writers = writers
    }

    /// Has a jar receive a response.
    ///
    /// - Parameter time: when the response came, from which lifetimes count.
    /// - Returns: the decisions, which have been committed.
    func receive(
        _ response: ReceivedResponse, at time: Timestamp, by jar: CookieJar, now: Timestamp
    ) async throws -> [StorageDecision] {
        try await withCheckedThrowingContinuation { answer in
            let job = Job(
                jar: jar, response: response, time: time, now: now, request: IdempotencyCache.current, answer: answer)
            let isFirst = waiting.withLock { waiting in
                let isFirst = waiting[jar.id] == nil
                waiting[jar.id, default: []].append(job)
                return isFirst
            }
            guard isFirst else { return }
            writers.submit { [self] state in
                while let jobs = take(ofJar: jar.id) {
                    switch state {
                    case .active: run(jobs)
                    case .cancelled: for job in jobs { job.answer.resume(throwing: CancellationError()) }
                    }
                }
            }
        }
    }

    /// The jobs of the next transaction; `nil` for none, after which the next caller begins again.
    private func take(ofJar id: Int64) -> ArraySlice<Job>? {
        waiting.withLock { waiting in
            guard let jobs = waiting[id], let first = jobs.first else {
                waiting[id] = nil
                return nil
            }
            // Cookies beyond a jar's total are evicted at the end of the transaction, and reported with the response
            // that caused it.
            let limit = first.jar.policy.limits.totalCookies == nil ? ResponseQueue.groupLimit : 1
            let settings = first.settings
            let taken = jobs.prefix(limit).prefix { $0.settings == settings }
            waiting[id] = Array(jobs.dropFirst(taken.count))
            return taken
        }
    }

    private func run(_ jobs: ArraySlice<Job>) {
        guard let first = jobs.first else { return }
        do {
            let now = jobs.lazy.map(\.now).max() ?? first.now
            let outcome = RepeatableRequest.$current.withValue(jobs.compactMap(\.request)) {
                Result { () throws(SessionStoreError) in
                    try first.jar.withBatch(beginningWith: first.response, now: now) {
                        batch throws(SessionStoreError) in
                        var all: [[StorageDecision]] = []
                        for job in jobs { all.append(try batch.receive(job.response, at: job.time)) }
                        return all
                    }
                }
            }
            var (all, evicted) = try outcome.get()
            if let last = all.indices.last, let end = all[last].indices.last { all[last][end].evicted += evicted }
            for (job, decisions) in zip(jobs, all) { job.answer.resume(returning: decisions) }
        } catch {
            guard jobs.count > 1, !ResponseQueue.isOfAll(error) else {
                for job in jobs { job.answer.resume(throwing: error) }
                return
            }
            // Nothing of it is there; whose fault it was shows when each is tried alone.
            for index in jobs.indices { run(jobs[index...index]) }
        }
    }

    /// Whether a failure is independent of the data that was written.
    private static func isOfAll(_ error: SessionStoreError) -> Bool {
        switch error.code {
        case .databaseBusy, .databaseUnavailable, .databaseUnreachable, .databaseFenced, .databaseReadOnly,
            .diskFull:
            true
        // All of it may be there: nothing is tried again.
        case .commitUnknown: true
        default: false
        }
    }
}
