internal import GRDB
internal import GRDBSQLite
internal import StoreEngine
internal import Synchronization

/// One SQLite file: the connection that reads and writes it, and those that only read.
///
/// Every call is synchronous, from any number of threads and processes. Throws ``StoreFailure``, and
/// ``SessionStoreError`` where what is wrong is the file rather than a statement.
package final class SQLiteDatabase: Sendable {
    /// Where the file lies; `:memory:` for a database in memory.
    package let path: String
    package let isOnDisk: Bool
    let file: OpenFile
    let queue: DatabaseQueue
    let commits = CommitGroup()
    private let busyTimeout: Double
    private let kept = KeptStatements()
    private let control = KeptStatements()

    /// Opens a database, creating it if necessary, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: the file; `nil` for a database in memory.
    ///   - waitsForDisk: whether every commit waits for the disk.
    ///   - busyTimeout: how many seconds to wait for another process before giving up.
    ///   - clock: the clock by which the file is looked after.
    package init(path: String?, waitsForDisk: Bool, busyTimeout: Double, clock: FilePlaces.Clock) throws {
        isOnDisk = path != nil
        let name = path ?? ":memory:"
        self.path = name
        self.busyTimeout = busyTimeout
        let isOurs = try path.map { try DatabaseFile.prepare($0) } ?? true
        let configuration = SQLiteDatabase.configuration(waitsForDisk, busyTimeout, isOurs: isOurs)
        (queue, file) = try StoreFailure.translating {
            let queue =
                try path.map { try DatabaseQueue(path: DatabaseFile.location($0), configuration: configuration) }
                ?? DatabaseQueue(configuration: configuration)
            try SchemaMigrations.run(on: queue, path: name)
            return (queue, try queue.inDatabase { try OpenFile($0, path: name, clock: clock) })
        }
    }

    deinit {
        kept.removeAll()
        control.removeAll()
    }

    /// How many pages of log a transaction may leave: of so many, the log's index is one block, and no search in it
    /// takes longer; the more there are, the more often a page of the file is written once for many transactions.
    private static let checkpointPages = 4000

    private static func configuration(
        _ waitsForDisk: Bool, _ busyTimeout: Double, isOurs: Bool
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "crumb"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            if !isOurs {
                try database.becomeOurs(applicationID: DatabaseFile.applicationID, busyTimeout: busyTimeout)
            }
            try database.execute(
                sql: """
                    PRAGMA synchronous = \(waitsForDisk ? "FULL" : "NORMAL");
                    PRAGMA secure_delete = ON;
                    PRAGMA cache_size = -16000;
                    PRAGMA wal_autocheckpoint = \(checkpointPages);
                    """)
        }
        return configuration
    }
}

extension SQLiteDatabase {
    /// Runs `body` with the connection, while no other thread uses it.
    func withConnection<Result>(_ body: (SQLiteConnection) throws -> Result) rethrows -> Result {
        try queue.writeWithoutTransaction { try body(SQLiteConnection($0, kept: kept, control: control)) }
    }

    /// Runs statements that change nothing in one transaction: all of them see the same commit.
    package func read<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try StoreFailure.translating {
            try withConnection { connection in
                try file.check()
                return try transaction(.read, connection, body)
            }
        }
    }

    /// Runs one transaction that holds the write lock from its first statement on, or a part of one that other threads
    /// write at the same time: all of it is there, or nothing.
    ///
    /// - Parameter body: must not write in another way: it would wait for itself.
    package func write(_ observer: any WriteObserver, _ body: (SQLiteConnection) throws -> Void) throws {
        try StoreFailure.translating { try commits.write(in: self, observer, body) }
    }

    /// Runs one transaction of its own that holds the write lock from its first statement on.
    ///
    /// - Parameter isPatient: whether to wait for another process that has the lock.
    package func writeAlone<Result>(
        isPatient: Bool = true, _ body: (SQLiteConnection) throws -> Result
    ) throws -> Result {
        try StoreFailure.translating {
            try withConnection { connection in
                let pointer = connection.database.sqliteConnection
                if !isPatient { sqlite3_busy_timeout(pointer, 0) }
                defer { if !isPatient { sqlite3_busy_timeout(pointer, Int32(busyTimeout * 1000)) } }
                return try transaction(.begin, connection) { connection in
                    let result = try body(connection)
                    try file.check()
                    return result
                }
            }
        }
    }

    private func transaction<Result>(
        _ beginning: TransactionControl, _ connection: SQLiteConnection, _ body: (SQLiteConnection) throws -> Result
    ) throws -> Result {
        try connection.run(beginning)
        do {
            let result = try body(connection)
            // A reading that met a failing disk may have been ended by SQLite: its body knows what that means.
            if beginning != .read || connection.isInTransaction { try connection.run(.commit) }
            return result
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Refuses to go on where the file is no longer in its place, before something is answered from memory.
    package func checkFile() throws {
        try file.check()
    }

    /// A connection that only reads. It has to be closed before this object goes: the last connection to be closed must
    /// be one that can write, or the log stays behind.
    package func makeReader() throws -> SQLiteReader {
        try SQLiteReader(file, busyTimeout: busyTimeout)
    }
}

extension SQLiteDatabase {
    /// How much this object has to write: how many writers wait at present, and how many transactions were committed
    /// for how many writers.
    package var load: (waiting: Int, commits: Int, writers: Int) {
        let (commits, writers) = commits.sizes.withLock { $0 }
        return (self.commits.waitingCount, commits, writers)
    }
}

extension Database {
    /// Marks a new file as ours and has it write its journal ahead; changes nothing where both are so.
    ///
    /// SQLite does not wait for a lock where a read becomes a write, as it does here: while another process makes the
    /// same database, this is tried again for as long as a lock may take.
    fileprivate func becomeOurs(applicationID: UInt32, busyTimeout: Double) throws {
        let pause: Int32 = 5
        let timeout = Int32(busyTimeout * 1000)
        sqlite3_busy_timeout(sqliteConnection, 0)
        defer { sqlite3_busy_timeout(sqliteConnection, timeout) }
        var pausesLeft = timeout / pause
        while true {
            do {
                // The mark is written before the journal becomes a WAL, so that it stands in the file's own header.
                if try Int64.fetchOne(self, sql: "PRAGMA application_id") == 0,
                    try Int64.fetchOne(self, sql: "SELECT count(*) FROM sqlite_schema") == 0
                {
                    try execute(sql: "PRAGMA application_id = \(applicationID)")
                }
                try execute(sql: "PRAGMA journal_mode = WAL")
                return
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && pausesLeft > 0 {
                pausesLeft -= 1
                sqlite3_sleep(pause)
            }
        }
    }
}
