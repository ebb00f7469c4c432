internal import Dispatch
package import StoreEngine
internal import Synchronization

/// A database on a PostgreSQL server, or on several of which one is the primary.
///
/// Transactions run on a few connections, as READ COMMITTED. That suffices: each begins by locking what it changes, so
/// that its statements see what was committed before, and nothing changes beside it.
package final class PostgreSQLDatabase: ServedDatabase {
    /// Where the database is.
    package let target: PostgreSQLTarget
    package let schemaVersion: String
    package let engineVersion: String
    package let isFenced: Bool
    /// The connection of the heartbeat, which waits for no transaction of this program, and which of its connections has
    /// confirmed one.
    private let heart: Mutex<(session: PostgreSQLSession, generation: Int)>

    private struct State {
        var idle: [PostgreSQLSession] = []
        var waiting = 0
        var inUse = 0
        var commits = 0
    }

    /// How often to retry a transaction that the server rolled back because of a conflict.
    private static let repetitionLimit = 3

    private let state = Mutex(State())
    /// How many connections may still be taken.
    private let free: DispatchSemaphore

    /// Connects to a database that has a schema.
    ///
    /// - Parameters:
    ///   - connections: how many transactions run at a time; the caches have three connections besides, and the heartbeat
    ///     one.
    ///   - isFenced: whether statements need a heartbeat, which ``beat()`` commits.
    /// - Throws: ``StoreFailure`` if the server cannot be used; ``SessionStoreError`` if the schema is not the one that
    ///   this program works with.
    package init(_ target: PostgreSQLTarget, connections: Int = 16, isFenced: Bool = false) throws {
        self.target = target
        self.isFenced = isFenced
        // A heartbeat that takes longer is of no use, and the next one finds a new primary.
        heart = Mutex((try PostgreSQLSession(target.waiting(atMost: 5)), 0))
        free = DispatchSemaphore(value: connections)
        let session = try PostgreSQLSession(target)
        schemaVersion = try PostgreSQLSchema(session).checkedVersion()
        let version = session.serverVersion
        engineVersion = "PostgreSQL \(version / 10_000).\(version % 10_000)"
        state.withLock { $0.idle = [session] }
    }

    package var load: ServerLoad {
        state.withLock {
            ServerLoad(
                waiting: $0.waiting, connections: $0.inUse, commits: $0.commits, roundTrips: target.roundTrips.count,
                failovers: target.servers.epoch)
        }
    }
}

// MARK: - Transactions

extension PostgreSQLDatabase {
    package func read<Result>(_ body: (any ServedConnection) throws -> Result) throws -> Result {
        try withSession { session in
            try session.repeatingIfLostIdle { try read(on: session, body) }
        }
    }

    private func read<Result>(
        on session: PostgreSQLSession, _ body: (any ServedConnection) throws -> Result
    ) throws -> Result {
        try begin(session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let result = Swift.Result { try body(session) }
        do {
            try session.enqueue("COMMIT")
            try session.synchronize()
            session.isInTransaction = false
        } catch {
            session.rollBack()
            _ = try result.get()
            throw error
        }
        // Rows that were read behind a closed fence may be stale, and so may be an empty result.
        if isFenced { try session.fence.checkFence(forWriting: false) }
        return try result.get()
    }

    package func write<Result>(
        _ lock: WriteLock, isPatient: Bool, isRepeatable: Bool, foreseeing queries: [ForeseenQuery],
        _ body: (any ServedConnection) throws -> Result
    ) throws -> Result {
        try withSession { session in
            for _ in 0..<(isRepeatable ? Self.repetitionLimit : 0) {
                do {
                    return try write(on: session, (lock, isPatient), queries, body)
                } catch let failure as StoreFailure where failure.kind == .undone {
                    continue
                }
            }
            return try write(on: session, (lock, isPatient), queries, body)
        }
    }

    package func writeAtOnce<Result>(
        _ lock: WriteLock, isPatient: Bool, assuming assumptions: [Assumption],
        _ body: (any ServedConnection) throws -> Result
    ) throws -> Result? {
        try withSession { session in
            // A connection that is lost at the commit leaves it unknown, which one that was lost before must not.
            guard session.isUsable else { return nil }
            do {
                try session.enqueue("BEGIN")
                session.isInTransaction = true
                if !isPatient {
                    // A program that stops before it has sent the rest keeps others from many rows.
                    try session.enqueue("SET LOCAL idle_in_transaction_session_timeout = '5s'")
                }
                try session.enqueue(lock, isPatient: isPatient)
                // Statements of their own: they see what was committed before the lock was taken.
                for (index, assumption) in assumptions.enumerated() {
                    let fence = isFenced && index == 0 ? " AND fence() = 0" : ""
                    let check = session.known("SELECT 1 / coalesce(\(assumption.condition)\(fence), false)::integer")
                    assumption.bind(check)
                    try check.run()
                }
                let result = try body(session)
                try commit(session)
                return result
            } catch let failure as StoreFailure
                where [.unknownCommit, .unavailable].contains(failure.kind)
                || failure.kind == .busy && isPatient
            {
                if session.isInTransaction { session.rollBack() }
                throw failure
            } catch {
                if session.isInTransaction { session.rollBack() }
                return nil
            }
        }
    }

    /// Runs a transaction once.
    private func write<Result>(
        on session: PostgreSQLSession, _ lock: (what: WriteLock, isPatient: Bool), _ queries: [ForeseenQuery],
        _ body: (any ServedConnection) throws -> Result
    ) throws -> Result {
        try session.repeatingIfLostIdle { try begin(session, "BEGIN", lock, queries) }
        let result: Result
        do {
            result = try body(session)
        } catch {
            let failure = session.failure
            session.rollBack()
            // Even if `body` has turned it into another error.
            if let failure, failure.kind == .undone { throw failure }
            throw error
        }
        try commit(session)
        return result
    }

    /// Begins a transaction and takes its lock, in one round trip where the statement is known.
    private func begin(
        _ session: PostgreSQLSession, _ beginning: String, _ lock: (what: WriteLock, isPatient: Bool)? = nil,
        _ queries: [ForeseenQuery] = []
    ) throws {
        do {
            try session.enqueue(beginning)
            session.isInTransaction = true
            guard let lock else {
                if isFenced { try session.fence.run() }
                return
            }
            try session.enqueue(lock.what, isPatient: lock.isPatient)
            // With the lock in hand: it may have taken a while.
            if isFenced { try session.fence.run() }
            try session.foresee(queries)
            try session.synchronize()
            if isFenced { try session.fence.checkFence(forWriting: true) }
        } catch {
            session.rollBack()
            throw error
        }
    }

    /// Commits in one round trip with the queued statements.
    private func commit(_ session: PostgreSQLSession) throws {
        if let failure = session.failure {
            session.rollBack()
            throw failure
        }
        func isUnknown(_ failure: StoreFailure) -> Bool {
            // A commit that the server has skipped is known to be none.
            (failure.kind == .unavailable || failure.kind == .unknownCommit)
                && !(session.isConnected && session.hasSkippedLast)
        }
        do {
            try session.enqueue("COMMIT")
            try session.synchronize()
            session.isInTransaction = false
            state.withLock { $0.commits += 1 }
        } catch let failure as StoreFailure where isUnknown(failure) {
            session.rollBack()
            throw StoreFailure(.unknownCommit, code: failure.code)
        } catch {
            session.rollBack()
            throw error
        }
    }
}

extension PostgreSQLSession {
    /// Queues the statement that takes a lock.
    fileprivate func enqueue(_ lock: WriteLock, isPatient: Bool) throws {
        guard let text = lock.statement else { return }
        let statement = known(text + (isPatient ? "" : " NOWAIT"))
        switch lock {
        case .database, .profiles, .accessTokens, .changedRows: break
        case .jar(let id): statement.bind(1, id)
        case .jars(let ids): statement.bind(1, list: ids)
        case .profile(let name): statement.bind(1, text: name)
        }
        try statement.run()
    }
}

extension WriteLock {
    /// The statement that locks until the end of the transaction; `nil` if none does.
    fileprivate var statement: String? {
        switch self {
        case .changedRows: nil
        // A lock of a row includes a lock of its table, which this one excludes.
        case .database: "LOCK TABLE jar, token_profile, service_token IN EXCLUSIVE MODE"
        case .profiles: "LOCK TABLE token_profile IN EXCLUSIVE MODE"
        case .accessTokens: "LOCK TABLE service_token IN EXCLUSIVE MODE"
        case .jar: "SELECT id FROM jar WHERE id = ? FOR UPDATE"
        // In this order for everyone, so that no two wait for each other.
        case .jars: "SELECT id FROM jar WHERE id = ANY (?::text::bigint[]) ORDER BY id FOR UPDATE"
        case .profile: "SELECT id FROM token_profile WHERE name = ? FOR UPDATE"
        }
    }
}

// MARK: - Connections

extension PostgreSQLDatabase {
    /// Calls `body` with a connection that no other thread has.
    private func withSession<Result>(_ body: (PostgreSQLSession) throws -> Result) throws -> Result {
        state.withLock { $0.waiting += 1 }
        let outcome = free.wait(timeout: .now() + target.timeout)
        state.withLock { state in
            state.waiting -= 1
            if outcome == .success { state.inUse += 1 }
        }
        guard outcome == .success else { throw StoreFailure(.busy, code: "no free connection") }
        defer {
            state.withLock { $0.inUse -= 1 }
            free.signal()
        }
        let session = try state.withLock { $0.idle.popLast() } ?? PostgreSQLSession(target)
        defer { state.withLock { $0.idle.append(session) } }
        return try body(session)
    }

    package func makeReader() throws -> any ServedReader {
        PostgreSQLReader(session: try PostgreSQLSession(target), isFenced: isFenced)
    }

    package func status() throws -> ServerStatus {
        try read { connection in
            let statement = try connection.statement(
                """
                SELECT pg_database_size(current_database()),
                    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
                    (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
                    current_setting('synchronous_standby_names') <> '', fence()
                """)
            guard try statement.step() else { throw StoreFailure.unexpectedResult }
            defer { statement.reset() }
            return ServerStatus(
                version: engineVersion, schema: schemaVersion, sizeInBytes: statement.int64(0),
                time: statement.int64(1), synchronousStandbys: Int(statement.int64(2)),
                waitsForStandby: statement.int64(3) != 0,
                fence: FenceState(rawValue: statement.int64(4)) ?? .noHeartbeat)
        }
    }

    /// One statement that commits by itself: a service that is stopped in the middle keeps no other from it.
    package func beat() throws {
        try heart.withLock { heart in
            let statement = heart.session.known(
                """
                UPDATE heartbeat SET at = clock_timestamp(), timeline = current_timeline(),
                    timeline_since = CASE WHEN timeline = current_timeline()
                        THEN least(timeline_since, clock_timestamp()) ELSE clock_timestamp() END
                WHERE id = 1
                """)
            _ = try statement.step()
            guard heart.generation != heart.session.generation else { return }
            // There may be another primary, and a former one that is frozen would let each connection wait in vain.
            if heart.generation > 0 { heart.session.beginEpoch() }
            heart.generation = heart.session.generation
        }
    }
}

extension PostgreSQLSession: ServedConnection {
    func statement(_ sql: String) throws -> any ServedStatement {
        known(sql)
    }

    func lock(_ lock: WriteLock) throws {
        try enqueue(lock, isPatient: true)
    }
}

/// A connection that the caches read with, outside transactions: each statement sees what was committed before.
final class PostgreSQLReader: ServedReader {
    private let session: PostgreSQLSession
    private let isFenced: Bool

    init(session: PostgreSQLSession, isFenced: Bool) {
        self.session = session
        self.isFenced = isFenced
    }

    func prepare(_ sql: String) throws -> any ServedStatement {
        try session.connect()
        let statement = session.known(sql)
        try statement.prepare()
        if isFenced { statement.fence = session.fence }
        return statement
    }
}
