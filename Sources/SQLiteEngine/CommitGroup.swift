internal import Dispatch
internal import Synchronization

/// Keeps what the writing connection can reuse from one transaction to the next.
package protocol WriteObserver: AnyObject {
    /// A transaction that holds the write lock has begun. Every writer of the transaction gets the error that this
    /// throws.
    func begin(_ connection: SQLiteConnection) throws
    /// The transaction was committed.
    func commit(_ connection: SQLiteConnection)
    /// The transaction failed.
    func rollBack(_ connection: SQLiteConnection)
}

/// Writers of one process share commits: the next commit includes all writers that have waited for the previous one.
///
/// Each writer's changes are in a savepoint of their own, so a writer that fails leaves no changes and does not disturb
/// the others. Each writer gets its result after the commit. One of the writers leads: only it enters the database's
/// queue, with the work of all. Then it hands over to the one that has waited longest.
final class CommitGroup: Sendable {
    private struct State {
        var waiting: [WriteJob] = []
        var hasLeader = false
    }

    private let state = Mutex(State())
    /// How many writers wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// How many commits there were, and for how many writers.
    let sizes = Mutex<(commits: Int, writers: Int)>((0, 0))

    /// Runs `body` in a transaction that holds the write lock from its first statement on.
    ///
    /// - Parameters:
    ///   - observer: is notified of each transaction.
    ///   - body: must write only through its connection: otherwise it would wait for itself.
    func write(
        in database: SQLiteDatabase, _ observer: any WriteObserver, _ body: (SQLiteConnection) throws -> Void
    ) throws {
        try withoutActuallyEscaping(body) { body in
            let job = WriteJob(body, since: WriteLockWait.beginning)
            run([job], in: database, observer)
            if let failure = job.failure { throw failure }
        }
    }

    /// Runs several bodies that one thread has to write, as ``write(in:_:_:)`` runs one. They share a commit.
    ///
    /// - Returns: Why each was not stored; `nil` for those that were.
    func write(
        in database: SQLiteDatabase, _ observer: any WriteObserver, _ parts: [SQLiteDatabase.WritePart]
    ) -> [(any Error)?] {
        let jobs = parts.map { WriteJob($0.body, since: $0.start) }
        run(jobs, in: database, observer)
        return jobs.map(\.failure)
    }

    /// Runs the jobs of one thread, in order.
    private func run(_ own: [WriteJob], in database: SQLiteDatabase, _ observer: any WriteObserver) {
        guard let job = own.first else { return }
        let leads = state.withLock { state in
            let leads = !state.hasLeader
            state.hasLeader = true
            // All at once, so that the group that takes one of them takes all.
            state.waiting += leads ? own.dropFirst() : own[...]
            return leads
        }
        if !leads { job.turn.wait() }
        guard !job.isDone else { return }
        var jobs = [job] + takeWaiting()
        do {
            // No job of the group fails before its own timeout.
            let start = jobs.map(\.start).max() ?? job.start
            try database.withWriteLock(since: start) { connection in
                jobs += takeWaiting()
                commit(jobs, in: database, connection, observer)
            }
        } catch {
            for job in jobs {
                job.failure = error
                job.finish()
            }
        }
        handOver()
        for other in jobs where other !== job { other.turn.signal() }
    }

    private func takeWaiting() -> [WriteJob] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func handOver() {
        let next = state.withLock { state in
            state.hasLeader = !state.waiting.isEmpty
            return state.hasLeader ? state.waiting.removeFirst() : nil
        }
        next?.turn.signal()
    }

    private func commit(
        _ jobs: [WriteJob], in database: SQLiteDatabase, _ connection: SQLiteConnection, _ observer: any WriteObserver
    ) {
        sizes.withLock { $0 = ($0.commits + 1, $0.writers + jobs.count) }
        do {
            try observer.begin(connection)
            for job in jobs { try run(job, alone: jobs.count == 1, connection) }
            try database.file.check()
            try connection.run(.commit)
            observer.commit(connection)
        } catch {
            observer.rollBack(connection)
            connection.rollBack()
            // Nothing of the transaction was stored. Jobs that failed by themselves keep their own, more precise
            // failure.
            for job in jobs { job.failure = job.failure ?? error }
        }
        for job in jobs { job.finish() }
    }

    private func run(_ job: WriteJob, alone: Bool, _ connection: SQLiteConnection) throws {
        if alone { return try job.run(connection) }
        try connection.run(.savepoint)
        do {
            try job.run(connection)
        } catch {
            job.failure = error
            // A full disk, for example, ends the whole transaction.
            guard connection.isInTransaction else { throw error }
            try connection.run(.rollbackToSavepoint)
        }
        try connection.run(.releaseSavepoint)
    }
}

/// The transaction of one writer.
///
/// `@unchecked` because the compiler cannot see that one thread at a time uses it: until it is done, the thread that
/// leads the group, while the owner waits; afterwards its owner.
private final class WriteJob: @unchecked Sendable {
    private var body: ((SQLiteConnection) throws -> Void)?
    /// Signalled once: when the job is done, or to lead. The thread that has several jobs waits for the first one.
    let turn = DispatchSemaphore(value: 0)
    /// When the owner began to wait.
    let start: ContinuousClock.Instant
    var failure: (any Error)?

    init(_ body: @escaping (SQLiteConnection) throws -> Void, since start: ContinuousClock.Instant) {
        self.body = body
        self.start = start
    }

    var isDone: Bool { body == nil }

    func run(_ connection: SQLiteConnection) throws {
        try body?(connection)
    }

    /// Releases the body, which may refer to objects of the owner, before the owner goes on.
    func finish() {
        body = nil
    }
}
