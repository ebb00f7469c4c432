internal import CSQLite
internal import SQLite
internal import StoreEngine
internal import Synchronization

/// One SQLite file, with the connection that reads and writes it.
///
/// Every call is synchronous, from any number of threads and processes. Throws ``StoreFailure`` for a statement that
/// failed, and ``SessionStoreError`` for a problem with the file.
package final class SQLiteDatabase: Sendable {
    /// The path of the file; `:memory:` for a database in memory.
    package let path: String
    package let isOnDisk: Bool
    let file: OpenFile
    let queue: DatabaseQueue
    let commits = CommitGroup()
    private let busyTimeout: Double
    /// When this object had the write lock last.
    private let lastWrite = Mutex<ContinuousClock.Instant?>(nil)
    private let kept = KeptStatements()
    private let control = KeptStatements()

    /// Opens a database, creating it if necessary, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: the file; `nil` for a database in memory.
    ///   - waitsForDisk: whether every commit waits for the disk.
    ///   - busyTimeout: how many seconds to wait for another process before giving up.
    ///   - clock: the clock for checks that the file is still at its path.
    ///   - migrations: the history of the schema.
    package convenience init(
        path: String?, waitsForDisk: Bool, busyTimeout: Double, clock: FilePlaces.Clock,
        migrations: [SchemaMigrations.Migration] = SchemaMigrations.all
    ) throws {
        let settings = """
            PRAGMA synchronous = \(waitsForDisk ? "FULL" : "NORMAL");
            PRAGMA secure_delete = ON;
            PRAGMA cache_size = -16000;
            PRAGMA wal_autocheckpoint = \(SQLiteDatabase.checkpointPages);
            """
        try self.init(path: path, settings: settings, busyTimeout: busyTimeout, clock: clock) { database in
            try SchemaMigrations.run(on: database, path: path ?? ":memory:", migrations: migrations)
        }
    }

    /// Opens a database whose loss is harmless, creating it if necessary. No commit waits for the disk, so that the file
    /// may be damaged after a power failure.
    ///
    /// - Parameter schema: the statements that create the tables, each only if it does not exist.
    package convenience init(expendable path: String, schema: String, busyTimeout: Double) throws {
        let settings = "PRAGMA synchronous = OFF; PRAGMA cache_size = -8000;"
        try self.init(path: path, settings: settings, busyTimeout: busyTimeout, clock: FilePlaces.Clock()) { database in
            guard try database.number("SELECT count(*) FROM sqlite_schema") == 0 else { return }
            try database.transaction(.immediate) { try database.execute(schema) }
        }
    }

    private init(
        path: String?, settings: String, busyTimeout: Double, clock: FilePlaces.Clock,
        prepareSchema: (DatabaseConnection) throws -> Void
    ) throws {
        isOnDisk = path != nil
        let name = path ?? ":memory:"
        self.path = name
        self.busyTimeout = busyTimeout
        let isOurs = try path.map { try DatabaseFile.prepare($0) } ?? true
        (queue, file) = try StoreFailure.translating {
            let location = path.map { DatabaseFile.location($0) } ?? name
            let queue = try DatabaseQueue(path: location, busyTimeout: busyTimeout) { database in
                if !isOurs {
                    try database.becomeOurs(applicationID: DatabaseFile.applicationID, busyTimeout: busyTimeout)
                }
                try database.execute(settings)
            }
            return try queue.sync { database in
                try prepareSchema(database)
                return (queue, try OpenFile(database, path: name, clock: clock))
            }
        }
    }

    /// How many pages of log a transaction may leave. The more there are, the more often one write of a page in the
    /// file covers many transactions. The index of this many pages is still one block, so searches in it stay fast.
    private static let checkpointPages = 4000
}

extension SQLiteDatabase {
    /// Runs `body` with the connection, while no other thread uses it.
    func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) rethrows -> Result {
        try queue.sync { try body(SQLiteConnection($0, kept: kept, control: control)) }
    }

    /// Runs statements that only read in one transaction: all of them see the same commit.
    package func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try StoreFailure.translating {
            try withConnection { connection in
                try file.check()
                try connection.run(.read)
                do {
                    let result = try body(connection)
                    // SQLite may have ended the transaction because of a failing disk: the body handles that.
                    if connection.isInTransaction { try connection.run(.commit) }
                    return result
                } catch {
                    connection.rollBack()
                    throw error
                }
            }
        }
    }

    /// Runs one transaction that holds the write lock from its first statement on, or a part of one that other threads
    /// share. All of the part is stored, or nothing.
    ///
    /// - Parameter body: must write only through its connection: otherwise it would wait for itself.
    package func write(_ observer: any WriteObserver, _ body: (SQLiteConnection) throws -> Void) throws {
        try StoreFailure.translating { try commits.write(in: self, observer, body) }
    }

    /// A part of a transaction.
    package struct WritePart {
        let start: ContinuousClock.Instant
        let body: (SQLiteConnection) throws -> Void

        /// - Parameters:
        ///   - start: When its caller began to wait.
        ///   - body: As that of ``SQLiteDatabase/write(_:_:)``.
        package init(since start: ContinuousClock.Instant, _ body: @escaping (SQLiteConnection) throws -> Void) {
            self.start = start
            self.body = body
        }
    }

    /// Runs several parts, in order, as ``write(_:_:)`` runs one. They share a transaction, and each is stored or not by
    /// itself.
    ///
    /// - Returns: Why each was not stored; `nil` for those that were.
    package func write(_ observer: any WriteObserver, _ parts: [WritePart]) -> [(any Error)?] {
        commits.write(in: self, observer, parts).map { failure in failure.map(StoreFailure.translation(of:)) }
    }

    /// Runs one transaction of its own that holds the write lock from its first statement on.
    ///
    /// - Parameter isPatient: whether to wait for another process that has the lock.
    package func writeAlone<Result>(
        isPatient: Bool = true, _ body: (SQLiteConnection) throws -> Result
    ) throws -> Result {
        try StoreFailure.translating {
            try withWriteLock(isPatient: isPatient) { connection in
                do {
                    let result = try body(connection)
                    try file.check()
                    try connection.run(.commit)
                    return result
                } catch {
                    connection.rollBack()
                    throw error
                }
            }
        }
    }

    /// Calls `body` in a transaction that holds the write lock, and that `body` has to end.
    ///
    /// While another process has the lock, this waits without the connection, so that reads of this process go on.
    ///
    /// - Parameters:
    ///   - isPatient: whether to wait for another process that has the lock.
    ///   - start: when the caller began to wait. The timeout counts from then on, or from the last transaction of this
    ///     object: what waits for others of this process does not wait for another process.
    func withWriteLock<Result>(
        isPatient: Bool = true, since start: ContinuousClock.Instant = WriteLockWait.beginning,
        _ body: (SQLiteConnection) throws -> Result
    ) throws -> Result {
        let begin = lastWrite.withLock { max($0 ?? start, start) }
        let end = isPatient ? begin + .seconds(busyTimeout) : .now
        // Like SQLite itself, which other processes use.
        var pauses: [Int32] = [100, 50, 50, 25, 25, 25, 20, 15, 10, 5, 2, 1]
        while true {
            let result: Result? = try withConnection { connection in
                do {
                    try beginAtOnce(connection)
                } catch let failure as StoreFailure where failure.kind == .busy && ContinuousClock.now < end {
                    return nil
                }
                defer { lastWrite.withLock { $0 = .now } }
                return try body(connection)
            }
            if let result { return result }
            sqlite3_sleep(pauses[pauses.count - 1])
            if pauses.count > 1 { pauses.removeLast() }
        }
    }

    private func beginAtOnce(_ connection: SQLiteConnection) throws {
        let pointer = connection.database.pointer
        sqlite3_busy_timeout(pointer, 0)
        defer { sqlite3_busy_timeout(pointer, Int32(busyTimeout * 1000)) }
        try connection.run(.begin)
    }

    /// Throws if the file is no longer at its path. Call it before answering from memory.
    package func checkFile() throws {
        try file.check()
    }

    /// Opens a connection that only reads. Close it before this object is deallocated: if the last connection to be
    /// closed cannot write, the log remains.
    package func makeReader() throws -> SQLiteReader {
        try SQLiteReader(file, busyTimeout: busyTimeout)
    }
}

/// Since when the current thread waits for the write lock.
package enum WriteLockWait {
    /// When the work of the thread was queued; `nil` if it has just begun.
    @TaskLocal package static var start: ContinuousClock.Instant?

    static var beginning: ContinuousClock.Instant { start ?? .now }
}

extension SQLiteDatabase {
    /// How much this object has to write: how many writers wait now, and how many transactions were committed for how
    /// many writers.
    package var load: (waiting: Int, commits: Int, writers: Int) {
        let (commits, writers) = commits.sizes.withLock { $0 }
        return (self.commits.waitingCount, commits, writers)
    }
}

extension DatabaseConnection {
    /// Sets the application ID and the write-ahead log of a new file; changes nothing if both are set.
    ///
    /// SQLite does not wait for a lock if a read becomes a write, as it does here. So while another process creates the
    /// same database, this is retried until the busy timeout ends.
    fileprivate func becomeOurs(applicationID: UInt32, busyTimeout: Double) throws {
        let pause: Int32 = 5
        let timeout = Int32(busyTimeout * 1000)
        sqlite3_busy_timeout(pointer, 0)
        defer { sqlite3_busy_timeout(pointer, timeout) }
        var pausesLeft = timeout / pause
        while true {
            do {
                // The application ID is set before the write-ahead log, so that it is in the file's own header.
                if try number("PRAGMA application_id") == 0,
                    try number("SELECT count(*) FROM sqlite_schema") == 0
                {
                    try execute("PRAGMA application_id = \(applicationID)")
                }
                try execute("PRAGMA journal_mode = WAL")
                return
            } catch let error as DatabaseError where error.isBusy && pausesLeft > 0 {
                pausesLeft -= 1
                sqlite3_sleep(pause)
            }
        }
    }
}
