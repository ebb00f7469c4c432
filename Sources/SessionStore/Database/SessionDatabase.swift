public import CookieModel
internal import GRDB
internal import GRDBSQLite

/// One SQLite file with jars and tokens in it, shared safely by any number of threads and processes.
///
/// Values are sealed (``KeySource``); the file, its folder and its key are readable by their owner alone. Every call is
/// synchronous and short: a read looks at the rows of one site, a write is one transaction.
public final class SessionDatabase: Sendable {
    /// Marks the file as ours: "Crmb" in the header's application id.
    static let applicationID: UInt32 = 0x4372_6D62

    /// Where the file lies; `:memory:` for a database in memory.
    public let path: String
    let queue: DatabaseQueue
    let commits = CommitGroup()
    let cache = SiteCache()
    let jarCache = JarCache()
    let serviceTokenCache = ServiceTokenCache()
    let isOnDisk: Bool
    let keyRing: KeyRing
    let file: OpenFile
    let busyTimeout: Double
    let lastAccessGranularity: Int64

    /// Opens a database, making it where there is none.
    ///
    /// - Parameters:
    ///   - path: the file. Its folder is made where it is missing.
    ///   - keys: where the sealing key comes from.
    ///   - durability: what an acknowledged write survives.
    ///   - busyTimeout: how many seconds to wait for another process before giving up.
    ///   - lastAccessGranularity: how many seconds a cookie's last-access-time in the file may be behind, so that
    ///     reading seldom means writing. Only the order of eviction depends on it.
    ///   - now: the time, written into what is made.
    /// - Throws: an error that names the file. A file that is no database, one of another program and one of a newer
    ///   version are refused untouched.
    public convenience init(
        path: String, keys: KeySource, durability: Durability = .normal, busyTimeout: Double = 10,
        lastAccessGranularity: Int64 = 3600, now: Timestamp
    ) throws(SessionStoreError) {
        try self.init(
            path: path, keys: keys, durability: durability, busyTimeout: busyTimeout,
            lastAccessGranularity: lastAccessGranularity, fileClock: FilePlaces.Clock(), now: now)
    }

    /// The same, with the clock by which the file is looked after.
    init(
        path: String, keys: KeySource, durability: Durability, busyTimeout: Double, lastAccessGranularity: Int64,
        fileClock: FilePlaces.Clock, now: Timestamp
    ) throws(SessionStoreError) {
        let isMemory = durability == .memory
        isOnDisk = !isMemory
        self.path = isMemory ? ":memory:" : path
        self.busyTimeout = busyTimeout
        self.lastAccessGranularity = lastAccessGranularity
        let isOurs = isMemory ? true : try SessionDatabase.prepareFile(path)
        let configuration = SessionDatabase.configuration(durability, busyTimeout, isOurs: isOurs)
        let name = self.path
        let location = SessionDatabase.location(path)
        queue = try SessionStoreError.catching(name) {
            let queue =
                try isMemory
                ? DatabaseQueue(configuration: configuration)
                : DatabaseQueue(path: location, configuration: configuration)
            try SchemaMigrations.run(on: queue, path: name)
            return queue
        }
        let queue = queue
        file = try SessionStoreError.catching(name) {
            try queue.inDatabase { try OpenFile($0, path: name, clock: fileClock) }
        }
        keyRing = try SessionStoreError.catching(name) {
            try KeyRing(queue, source: keys, path: name, now: now)
        }
    }

    deinit {
        cache.close()
        jarCache.close()
        serviceTokenCache.close()
        commits.memory.statements.removeAll()
    }

    /// Seals values under the newest key that this object knows of, and opens those of older ones too.
    var sealer: Sealer { keyRing.sealer }

    /// The path as SQLite takes it: a relative `:memory:` or `file:…` would be something else than a file's name.
    static func location(_ path: String) -> String {
        path.hasPrefix("/") ? path : "./\(path)"
    }

    /// Checks that the file is ours or new, without SQLite, which would touch it.
    ///
    /// - Returns: whether it bears our mark and has its journal written ahead.
    private static func prepareFile(_ path: String) throws(SessionStoreError) -> Bool {
        if PrivateFile.isFolder(path) {
            throw SessionStoreError(.databaseUnavailable, path, "this is a folder; name a file")
        }
        if PrivateFile.isSpecial(path) {
            throw SessionStoreError(.databaseUnavailable, path, "this is not a regular file; name one")
        }
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.create(path)
        guard failure == 0 else { throw SessionStoreError(opening: path, errno: failure) }
        let unreadable = PrivateFile.readingFailure(path)
        guard unreadable == 0 else { throw SessionStoreError(opening: path, errno: unreadable) }
        guard let header = DatabaseHeader(path) else {
            throw SessionStoreError(.databaseUnavailable, path, "the file cannot be read; check the disk")
        }
        guard !header.isEmpty else {
            // Somebody else's empty file becomes a database: it must be as private as one made here.
            let failure = (PrivateFile.permissions(path) ?? 0) & 0o077 == 0 ? 0 : PrivateFile.restrict(path)
            guard failure == 0 else { throw SessionStoreError(opening: path, errno: failure) }
            return false
        }
        guard header.isDatabase else {
            throw SessionStoreError(.databaseForeign, path, "this file is not a database; nothing was changed")
        }
        guard header.applicationID == applicationID else {
            throw SessionStoreError(
                .databaseForeign, path, "this database belongs to another program; nothing was changed")
        }
        return header.hasWriteAheadLog
    }

    /// How many pages of log a transaction may leave: of so many, the log's index is one block, and no search in it
    /// takes longer; the more there are, the more often a page of the file is written once for many transactions.
    private static let checkpointPages = 4000

    private static func configuration(
        _ durability: Durability, _ busyTimeout: Double, isOurs: Bool
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "crumb"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            if !isOurs { try database.becomeOurs(applicationID: applicationID, busyTimeout: busyTimeout) }
            try database.execute(
                sql: """
                    PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL");
                    PRAGMA secure_delete = ON;
                    PRAGMA cache_size = -16000;
                    PRAGMA wal_autocheckpoint = \(checkpointPages);
                    """)
        }
        return configuration
    }
}

extension SessionStoreError {
    /// The file at `path` cannot be opened for the reason that `errno` gives.
    fileprivate init(opening path: String, errno failure: Int32) {
        if failure == PrivateFile.noSpace {
            self.init(.diskFull, path, "the disk is full; free some space and try again")
        } else {
            self.init(.databaseUnavailable, path, "the file cannot be opened: \(PrivateFile.message(failure))")
        }
    }
}

extension SessionDatabase {
    /// Runs statements that change nothing; a second time where the key was rotated meanwhile, so that what `body`
    /// returns can be opened.
    func read<Result>(_ body: (Database) throws -> Result) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(path) {
            try queue.inDatabase { try reading($0, body) }
        }
    }

    /// The same on any connection to the file.
    func reading<Result>(_ database: Database, _ body: (Database) throws -> Result) throws -> Result {
        while true {
            try file.check()
            let result = Swift.Result { try body(database) }
            guard try keyRing.renew(database) else { return try result.get() }
        }
    }

    /// Runs one transaction that holds the write lock from its first statement on, or a part of one that other threads
    /// write at the same time: all of it is there, or nothing. Seals under the newest key.
    func write<Result>(_ body: (Database) throws -> Result) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(path) {
            var result: Result?
            // Within the transaction: a value sealed under a key that was just given up would be lost.
            try commits.write(
                on: queue, renew: { [keyRing] in try keyRing.renew($0) }, last: file.check
            ) { result = try body($0) }
            guard let result else { throw SessionStoreError(.databaseFailed, path, "the transaction did not run") }
            return result
        }
    }

    /// Runs one transaction where nobody else holds the write lock, and does not wait for it.
    func writeUnlessBusy(_ body: (Database) throws -> Void) throws(SessionStoreError) {
        try SessionStoreError.catching(path) {
            try queue.writeWithoutTransaction { database in
                sqlite3_busy_timeout(database.sqliteConnection, 0)
                defer { sqlite3_busy_timeout(database.sqliteConnection, Int32(busyTimeout * 1000)) }
                try database.inTransaction(.immediate) {
                    try body(database)
                    try file.check()
                    return .commit
                }
            }
        }
    }
}

/// What a database survives.
public enum Durability: String, Sendable, CaseIterable {
    /// An acknowledged write survives power loss: every commit waits for the disk.
    case full
    /// An acknowledged write survives a crash of the process; after power loss the database is whole, but the last
    /// commits may be missing. The default.
    case normal
    /// Nothing survives: the database lives in memory. The path is not used.
    case memory
}

/// A connection that can only read, beside the one that writes: no writer of this process holds it up.
///
/// SQLite's own, without a queue: whoever has it sees to it that one thread at a time uses it.
final class ReadingConnection {
    let pointer: OpaquePointer
    /// The index of the write-ahead log; `nil` where there is none, as on some network drives.
    private(set) var walIndex: WALIndex?

    /// - Parameter busyTimeout: how many seconds to wait for another process before giving up.
    /// - Throws: also where another file lies in the place of this one.
    init(_ file: OpenFile, busyTimeout: Double) throws {
        try file.checkBeforeOpening()
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(file.location, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened, code == SQLITE_OK else {
            sqlite3_close(opened)
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        pointer = opened
        // Both together: what lies at the name is what this connection has open, and what it has always been.
        try file.checkAfterOpening(pointer)
        sqlite3_extended_result_codes(pointer, 1)
        sqlite3_busy_timeout(pointer, Int32(busyTimeout * 1000))
        // The first reading is what opens the log and its index.
        let mode = try prepare("PRAGMA journal_mode")
        let schema = try prepare("SELECT count(*) FROM sqlite_schema")
        if try schema.step(), try mode.step(), mode.text(0) == "wal" { walIndex = WALIndex(pointer) }
        schema.reset()
        mode.reset()
    }

    deinit {
        while let statement = sqlite3_next_stmt(pointer, nil) { sqlite3_finalize(statement) }
        sqlite3_close(pointer)
    }

    /// A statement that lives as long as this connection.
    func prepare(_ sql: String) throws -> RowStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard let statement, code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        return RowStatement(statement, on: pointer)
    }
}
