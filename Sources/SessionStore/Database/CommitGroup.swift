internal import GRDB
internal import Synchronization

/// Writers of one process share commits: those that wait while one commits are taken along by the next.
///
/// Each writer's changes are a savepoint of their own, so that one that fails leaves nothing and harms no other; each is
/// answered after the commit.
final class CommitGroup: Sendable {
    private let waiting = Mutex<[WriteJob]>([])
    /// How many writers wait.
    var waitingCount: Int { waiting.withLock { $0.count } }
    /// How many writers each commit was for.
    let sizes = Mutex<(commits: Int, writers: Int)>((0, 0))

    /// Runs `body` in a transaction that holds the write lock from its first statement on.
    ///
    /// - Parameters:
    ///   - prepare: runs first, once for each transaction; where it fails, everybody does.
    ///   - check: runs last, likewise.
    func write(
        on queue: DatabaseQueue, first prepare: (Database) throws -> Void, last check: (Database) throws -> Void,
        _ body: (Database) throws -> Void
    ) throws {
        try withoutActuallyEscaping(body) { body in
            let job = WriteJob(body)
            waiting.withLock { $0.append(job) }
            // The queue lets one in at a time, and whoever is in takes all that wait.
            queue.writeWithoutTransaction { database in
                guard !job.isDone else { return }
                let jobs = waiting.withLock { jobs in
                    defer { jobs = [] }
                    return jobs
                }
                sizes.withLock { $0 = ($0.commits + 1, $0.writers + jobs.count) }
                CommitGroup.commit(jobs, on: database, first: prepare, last: check)
            }
            if let failure = job.failure { throw failure }
        }
    }

    private static func commit(
        _ jobs: [WriteJob], on database: Database, first prepare: (Database) throws -> Void,
        last check: (Database) throws -> Void
    ) {
        do {
            try database.inTransaction(.immediate) {
                try prepare(database)
                for job in jobs { try run(job, alone: jobs.count == 1, on: database) }
                try check(database)
                return .commit
            }
        } catch {
            // Nothing of the transaction is there. Those that failed by themselves know better why.
            for job in jobs { job.failure = job.failure ?? error }
        }
        for job in jobs { job.isDone = true }
    }

    private static func run(_ job: WriteJob, alone: Bool, on database: Database) throws {
        if alone { return try job.body(database) }
        do {
            try database.inSavepoint {
                try job.body(database)
                return .commit
            }
        } catch {
            job.failure = error
            // A full disk and the like end the whole transaction.
            if !database.isInsideTransaction { throw error }
        }
    }
}

/// What one writer wants to write.
///
/// `@unchecked` because the compiler cannot see that nobody shares it: until it is done, only the thread that is within
/// the database queue touches it while its owner waits for that queue; afterwards its owner does alone.
private final class WriteJob: @unchecked Sendable {
    let body: (Database) throws -> Void
    var failure: (any Error)?
    var isDone = false

    init(_ body: @escaping (Database) throws -> Void) {
        self.body = body
    }
}
