internal import Dispatch
internal import GRDB
internal import Synchronization

/// Writers of one process share commits: those that wait while one commits are taken along by the next.
///
/// Each writer's changes are a savepoint of their own, so that one that fails leaves nothing and harms no other; each is
/// answered after the commit. One of the writers leads: it alone enters the database's queue, with the work of all, and
/// then hands over to the one that has waited longest.
final class CommitGroup: Sendable {
    private struct State {
        var waiting: [WriteJob] = []
        var hasLeader = false
    }

    private let state = Mutex(State())
    /// What the connection that writes keeps from one transaction to the next.
    let memory = WriterMemory()
    /// How many writers wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// How many writers each commit was for.
    let sizes = Mutex<(commits: Int, writers: Int)>((0, 0))

    /// Runs `body` in a transaction that holds the write lock from its first statement on.
    ///
    /// - Parameters:
    ///   - renew: runs first, in each transaction before which somebody else wrote; where it fails, everybody does.
    ///   - check: runs last, likewise, in every transaction.
    ///   - body: must not write in another way: it would wait for itself.
    func write(
        on queue: DatabaseQueue, renew: (Database) throws -> Void, last check: () throws -> Void,
        _ body: (Database) throws -> Void
    ) throws {
        try withoutActuallyEscaping(body) { body in
            let job = WriteJob(body)
            let leads = state.withLock { state in
                if state.hasLeader { state.waiting.append(job) }
                defer { state.hasLeader = true }
                return !state.hasLeader
            }
            if !leads { job.turn.wait() }
            if !job.isDone {
                let jobs = queue.writeWithoutTransaction { database in
                    let jobs = [job] + takeWaiting()
                    commit(jobs, on: database, renew: renew, last: check)
                    return jobs
                }
                handOver()
                for other in jobs where other !== job { other.turn.signal() }
            }
            if let failure = job.failure { throw failure }
        }
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
        _ jobs: [WriteJob], on database: Database, renew: (Database) throws -> Void,
        last check: () throws -> Void
    ) {
        sizes.withLock { $0 = ($0.commits + 1, $0.writers + jobs.count) }
        do {
            try memory.statements.run(.begin, on: database)
            if !memory.begin(database) { try renew(database) }
            for job in jobs { try run(job, alone: jobs.count == 1, on: database) }
            try check()
            try memory.statements.run(.commit, on: database)
            memory.commit(database)
        } catch {
            memory.rollBack(database)
            // SQLite has ended it already where the disk is full and the like.
            if database.isInsideTransaction { try? memory.statements.run(.rollback, on: database) }
            // Nothing of the transaction is there. Those that failed by themselves know better why.
            for job in jobs { job.failure = job.failure ?? error }
        }
        for job in jobs { job.finish() }
    }

    private func run(_ job: WriteJob, alone: Bool, on database: Database) throws {
        if alone { return try job.run(database) }
        try memory.statements.run(.savepoint, on: database)
        do {
            try job.run(database)
        } catch {
            job.failure = error
            // A full disk and the like end the whole transaction.
            guard database.isInsideTransaction else { throw error }
            try memory.statements.run(.rollbackToSavepoint, on: database)
        }
        try memory.statements.run(.releaseSavepoint, on: database)
    }
}

/// What one writer wants to write.
///
/// `@unchecked` because the compiler cannot see that nobody shares it: until it is done, only the thread that leads
/// touches it while its owner waits; afterwards its owner does alone.
private final class WriteJob: @unchecked Sendable {
    private var body: ((Database) throws -> Void)?
    /// Signalled once: when the job is done, or to lead.
    let turn = DispatchSemaphore(value: 0)
    var failure: (any Error)?

    init(_ body: @escaping (Database) throws -> Void) {
        self.body = body
    }

    var isDone: Bool { body == nil }

    func run(_ database: Database) throws {
        try body?(database)
    }

    /// Lets go of the body: its owner goes on, and what it refers to with it.
    func finish() {
        body = nil
    }
}
