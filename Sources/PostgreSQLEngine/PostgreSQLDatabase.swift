internal import Dispatch
package import StoreEngine
internal import Synchronization

/// A database on a PostgreSQL server, or on several servers of which one is the primary.
///
/// Transactions run on a few connections, as READ COMMITTED. That suffices: each first locks what it changes. So its
/// statements see what was committed before, and no other transaction changes it meanwhile.
package final class PostgreSQLDatabase: ServedDatabase {
    /// Where the database is.
    package let target: PostgreSQLTarget
    package let schemaVersion: String
    package let engineVersion: String
    package let isFenced: Bool
    /// The connection of the heartbeat, which waits for no transaction of this program, and the generation of the
    /// connection that last committed a heartbeat.
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
    /// Limits how many connections are in use.
    private let free: DispatchSemaphore

    /// Connects to a database that has a schema.
    ///
    /// - Parameters:
    ///   - connections: how many transactions run at a time; the caches use three more connections, and the heartbeat
    ///     one.
    ///   - isFenced: whether statements need a heartbeat, which ``commitHeartbeat()`` commits.
    /// - Throws: ``StoreFailure`` if the server cannot be used; ``SessionStoreError`` if this program does not support
    ///   the schema.
    package init(_ target: PostgreSQLTarget, connections: Int = 16, isFenced: Bool = false) throws {
        self.target = target
        self.isFenced = isFenced
        // A heartbeat that takes longer is useless, and the next one finds a new primary.
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
        // If the fence is closed, rows that were read may be stale, and so may an empty result.
        if isFenced { try session.fence.checkFence(forWriting: false) }
        return try result.get()
    }

    package func write<Result>(
        _ lock: WriteLock, isPatient: Bool, isRepeatable: Bool, prefetching queries: [ForeseenQuery],
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

    package func writeOptimistically<Result>(
        _ lock: WriteLock, isPatient: Bool, assuming assumptions: [Assumption],
        _ body: (any ServedConnection) throws -> Result
    ) throws -> Result? {
        try withSession { session in
            // If the connection is lost during the commit, the result is unknown. A connection that was lost before
            // must not lead to that.
            guard session.isUsable else { return nil }
            do {
                try session.enqueue("BEGIN")
                session.isInTransaction = true
                if !isPatient {
                    // If this program stops before it has sent the rest, it would block many rows for others.
                    try session.enqueue("SET LOCAL idle_in_transaction_session_timeout = '5s'")
                }
                try session.enqueue(lock, isPatient: isPatient)
                // Separate statements, so that they see what was committed before the lock was taken.
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

    /// Begins a transaction and takes its lock, in one round trip if the statement is prepared.
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
            // After the lock was taken, because that may have taken a while.
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
            // If the server has skipped the commit, nothing was stored.
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
        // A row lock includes a lock on its table, which conflicts with this one.
        case .database: "LOCK TABLE jar, token_profile, service_token IN EXCLUSIVE MODE"
        case .profiles: "LOCK TABLE token_profile IN EXCLUSIVE MODE"
        case .accessTokens: "LOCK TABLE service_token IN EXCLUSIVE MODE"
        case .jar: "SELECT id FROM jar WHERE id = ? FOR UPDATE"
        // All transactions lock in this order, so that no two wait for each other.
        case .jars: "SELECT id FROM jar WHERE id = ANY (?::text::bigint[]) ORDER BY id FOR UPDATE"
        case .profile: "SELECT id FROM token_profile WHERE name = ? FOR UPDATE"
        }
    }
}

// MARK: - Connections

extension PostgreSQLDatabase {
    /// Calls `body` with a connection that no other thread uses.
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

    /// Runs one statement that commits by itself, so a service that is stopped in the middle blocks no other.
    package func commitHeartbeat() throws {
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
            // There may be another primary. If the former one is frozen, each connection to it would wait in vain.
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
