import CookieModel
import NIOPosix
import SessionStore
import Synchronization

/// Stores all responses that wait for a jar in one transaction, and resumes the caller of each after the commit.
///
/// One thread writes for all callers that wait for the same jar: waking up a thread of each for every commit would cost
/// more than the writing. With SQLite, threads of several jars share commits like other writers of the process. On a
/// server, a few threads write to all jars that are known well enough, each to many in one transaction.
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
        /// Whether its transaction may be that of several jars.
        var canShare: Bool { jar.canShare(response) }
    }

    private struct State {
        /// Those that wait, by jar; a jar is there for as long as someone writes to it.
        var waiting: [Int64: [Job]] = [:]
        /// The jars whose transaction may be that of several, and that no thread writes to yet, in the order in which they
        /// came.
        var sharing: [Int64] = []
        /// How many threads write to several jars.
        var sharers = 0
    }

    /// How many responses one transaction takes of a jar.
    private static let groupLimit = 256
    /// How many jars share a transaction.
    private static let jarLimit = 128
    /// After how many lines a transaction that jars share takes no further response, and how many lines the last one may
    /// have: their statements are sent at once.
    private static let lineLimits = (all: 128, last: 32)
    /// How many threads write to several jars at a time. What comes while all of them wait for their commits is written
    /// together.
    private static let sharerLimit = 2

    private let writers: NIOThreadPool
    private let state = Mutex(State())

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

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
            let canShare = job.canShare
            let (isFirst, isSharer) = state.withLock { state -> (Bool, Bool) in
                let isFirst = state.waiting[jar.id] == nil
                state.waiting[jar.id, default: []].append(job)
                guard isFirst, canShare else { return (isFirst, false) }
                state.sharing.append(jar.id)
                guard state.sharers < ResponseQueue.sharerLimit else { return (false, false) }
                state.sharers += 1
                return (false, true)
            }
            if isFirst { writers.submit { self.write(toJar: jar.id, on: $0) } }
            if isSharer { writers.submit { self.share($0) } }
        }
    }

    // MARK: - One jar

    /// Writes to a jar until nothing waits for it.
    ///
    /// - Parameter jobs: what is written first.
    private func write(toJar id: Int64, _ jobs: ArraySlice<Job> = [], on threads: NIOThreadPool.WorkItemState) {
        var jobs: ArraySlice<Job>? = jobs
        while let group = jobs {
            switch threads {
            case .active: run(group)
            case .cancelled: cancel(group)
            }
            jobs = state.withLock { state in
                let next = ResponseQueue.take(ofJar: id, &state)
                if next == nil { state.waiting[id] = nil }
                return next
            }
        }
    }

    /// The jobs of a jar's next transaction; `nil` for none.
    private static func take(
        ofJar id: Int64, _ state: inout State, where isWanted: (Job) -> Bool = { _ in true }
    ) -> ArraySlice<Job>? {
        guard let jobs = state.waiting[id], let first = jobs.first else { return nil }
        // Cookies beyond a jar's total are evicted at the end of the transaction, and reported with the response that
        // caused it.
        let limit = first.jar.policy.limits.totalCookies == nil ? groupLimit : 1
        let settings = first.settings
        let taken = jobs.prefix(limit).prefix { $0.settings == settings && isWanted($0) }
        state.waiting[id] = Array(jobs.dropFirst(taken.count))
        return taken
    }

    private func cancel(_ jobs: ArraySlice<Job>) {
        for job in jobs { job.answer.resume(throwing: CancellationError()) }
    }

    private func run(_ jobs: ArraySlice<Job>) {
        guard let first = jobs.first else { return }
        do {
            let outcome = RepeatableRequest.$current.withValue(jobs.compactMap(\.request)) {
                Result { () throws(SessionStoreError) in
                    try first.jar.withBatch(beginningWith: first.response, now: ResponseQueue.now(jobs)) {
                        batch throws(SessionStoreError) in try ResponseQueue.receive(jobs, in: &batch)
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

    /// The time at which the responses of one transaction are received.
    private static func now(_ jobs: ArraySlice<Job>) -> Timestamp {
        jobs.dropFirst().reduce(jobs[jobs.startIndex].now) { max($0, $1.now) }
    }

    private static func receive(
        _ jobs: ArraySlice<Job>, in batch: inout CookieBatch
    ) throws(SessionStoreError) -> [[StorageDecision]] {
        var all: [[StorageDecision]] = []
        all.reserveCapacity(jobs.count)
        for job in jobs { all.append(try batch.receive(job.response, at: job.time)) }
        return all
    }

    // MARK: - Several jars

    /// Writes to several jars at a time, until none waits for that.
    private func share(_ threads: NIOThreadPool.WorkItemState) {
        while let groups = takeShared() {
            switch threads {
            case .cancelled:
                for group in groups { cancel(group.jobs) }
                release(groups.map(\.id))
            case .active:
                let shared = groups.filter { !$0.jobs.isEmpty }
                let isDone = runTogether(shared.map(\.jobs))
                if isDone { release(shared.map(\.id)) }
                for group in groups where !isDone || group.jobs.isEmpty {
                    writers.submit { self.write(toJar: group.id, group.jobs, on: $0) }
                }
            }
        }
    }

    /// The jobs of the next transaction of several jars, empty if those of a jar cannot share one; `nil` if no
    /// jar waits, after which the next caller begins again.
    private func takeShared() -> [(id: Int64, jobs: ArraySlice<Job>)]? {
        state.withLock { state in
            guard !state.sharing.isEmpty else {
                state.sharers -= 1
                return nil
            }
            var groups: [(id: Int64, jobs: ArraySlice<Job>)] = []
            var lines = 0
            for id in state.sharing.prefix(ResponseQueue.jarLimit) where lines < ResponseQueue.lineLimits.all {
                let jobs = ResponseQueue.take(ofJar: id, &state) { job in
                    let count = job.response.setCookie.count
                    guard lines < ResponseQueue.lineLimits.all, count <= ResponseQueue.lineLimits.last, job.canShare
                    else { return false }
                    lines += count
                    return true
                }
                groups.append((id, jobs ?? []))
            }
            state.sharing.removeFirst(groups.count)
            return groups
        }
    }

    /// Lets the next transaction take jars.
    private func release(_ ids: [Int64]) {
        state.withLock { state in
            for id in ids {
                if state.waiting[id]?.isEmpty == false { state.sharing.append(id) } else { state.waiting[id] = nil }
            }
        }
    }

    /// Writes the jobs of several jars in one transaction.
    ///
    /// - Returns: whether all were answered. Otherwise nothing of them is there.
    private func runTogether(_ groups: [ArraySlice<Job>]) -> Bool {
        guard let first = groups.first?.first else { return true }
        var all = [[[StorageDecision]]](repeating: [], count: groups.count)
        let parts = groups.indices.compactMap { index in
            groups[index].first.map { job in
                SharedBatch(job.jar, now: ResponseQueue.now(groups[index])) { batch throws(SessionStoreError) in
                    all[index] = try ResponseQueue.receive(groups[index], in: &batch)
                }
            }
        }
        let outcome = RepeatableRequest.$current.withValue(groups.joined().compactMap(\.request)) {
            Result { () throws(SessionStoreError) in try first.jar.database.receiveTogether(parts) }
        }
        switch outcome {
        case .success(true):
            for (job, decisions) in zip(groups.joined(), all.joined()) { job.answer.resume(returning: decisions) }
            return true
        case .failure(let error) where ResponseQueue.isOfAll(error):
            for job in groups.joined() { job.answer.resume(throwing: error) }
            return true
        case .success(false), .failure:
            return false
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
