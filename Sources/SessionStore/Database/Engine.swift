internal import SQLiteEngine
internal import StoreEngine

/// The engine of a database: an SQLite file, or a server.
///
/// This file, `Engine+Maintenance.swift` and `Statement.swift` are the only files that name SQLite's types. Rows,
/// caches and maintenance use the types of these files.
///
/// They are enumerations rather than existentials or generic parameters: a row takes about twenty calls, which stay
/// direct calls for SQLite.
enum Engine: Sendable {
    case sqlite(SQLiteDatabase)
    case served(any ServedDatabase)

    /// Opens an SQLite file, or a database in memory if `path` is `nil`.
    init(path: String?, waitsForDisk: Bool, busyTimeout: Double, clock: FilePlaces.Clock) throws {
        self = .sqlite(
            try SQLiteDatabase(path: path, waitsForDisk: waitsForDisk, busyTimeout: busyTimeout, clock: clock))
    }

    var traits: EngineTraits {
        switch self {
        case .sqlite: .file
        case .served: .server
        }
    }

    /// Whether questions are worth being answered from memory: not in a database that is in memory itself.
    var isOnDisk: Bool {
        switch self {
        case .sqlite(let database): database.isOnDisk
        case .served: true
        }
    }

    /// Whether the database is a file on a disk of this machine.
    var isFileOnDisk: Bool { file?.isOnDisk == true }

    /// The SQLite file, for operations on files only; `nil` for a server.
    var file: SQLiteDatabase? {
        guard case .sqlite(let database) = self else { return nil }
        return database
    }

    /// Runs statements that only read. All of them see the same commit.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        switch self {
        case .sqlite(let database): try database.read { try body(.sqlite($0)) }
        case .served(let database): try database.read { try body(.served($0)) }
        }
    }

    /// Runs one transaction, or with SQLite a part of one that other threads share. All of it is stored, or nothing.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction can change at the same time.
    ///   - isRepeatable: whether to retry a server's transaction if the server rolled it back because of a conflict.
    ///   - memory: what the writing connection keeps between transactions.
    ///   - queries: the queries that `body` runs first. A server answers them beforehand.
    ///   - body: must write only through its connection: otherwise it would wait for itself.
    func write(
        _ lock: WriteLock, isRepeatable: Bool, _ memory: WriterMemory, prefetching queries: [ForeseenQuery] = [],
        _ body: (Connection) throws -> Void
    ) throws {
        switch self {
        case .sqlite(let database):
            try database.write(memory) { try body(.sqlite($0)) }
        case .served(let database):
            let queries = [ForeseenQuery(SealingKeyRows.newestQuery)] + queries
            try database.write(lock, isPatient: true, isRepeatable: isRepeatable, prefetching: queries) { connection in
                try memory.checkKey(.served(connection))
                try body(.served(connection))
                try RepeatableRequestRows(database: .served(connection)).noteCommit(of: RepeatableRequest.current)
            }
        }
    }

    /// A part of ``write(_:_:)``, and when its caller began to wait.
    typealias WritePart = (start: ContinuousClock.Instant, body: (Connection) throws -> Void)

    /// Runs several parts, in order. In a file, they share a transaction, and each is stored or not by itself.
    ///
    /// - Returns: Why each was not stored; `nil` for those that were.
    func write(_ memory: WriterMemory, _ parts: [WritePart]) -> [(any Error)?] {
        switch self {
        case .sqlite(let database):
            database.write(
                memory,
                parts.map { part in
                    SQLiteDatabase.WritePart(since: part.start) { try part.body(.sqlite($0)) }
                })
        case .served:
            parts.map { part in
                do {
                    try write(.database, isRepeatable: false, memory, part.body)
                    return nil
                } catch {
                    return error
                }
            }
        }
    }

    /// Runs one transaction of a server in one round trip, if the caller's assumptions are true.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction can change at the same time.
    ///   - isPatient: whether to wait for another transaction that holds the lock, or a part of it.
    ///   - assumptions: the assumptions, including that of the sealing key.
    /// - Returns: the result of `body`; `nil` if nothing was stored.
    func writeOptimistically<Result>(
        _ lock: WriteLock, isPatient: Bool, assuming assumptions: [Assumption],
        _ body: (Connection) throws -> Result
    ) throws -> Result? {
        guard case .served(let database) = self else { return nil }
        return try database.writeOptimistically(lock, isPatient: isPatient, assuming: assumptions) {
            let result = try body(.served($0))
            try RepeatableRequestRows(database: .served($0)).noteCommit(of: RepeatableRequest.current)
            return result
        }
    }

    /// Runs a separate transaction. `body` runs at most once.
    ///
    /// - Parameter isPatient: whether to wait for another process that has the lock.
    func writeAlone<Result>(
        _ lock: WriteLock = .database, isPatient: Bool = true, _ body: (Connection) throws -> Result
    ) throws -> Result {
        switch self {
        case .sqlite(let database): try database.writeAlone(isPatient: isPatient) { try body(.sqlite($0)) }
        case .served(let database):
            try database.write(lock, isPatient: isPatient, isRepeatable: false, prefetching: []) {
                try body(.served($0))
            }
        }
    }

    /// Throws if the file is no longer at its path. Call it before answering from memory.
    func checkFile() throws {
        if case .sqlite(let database) = self { try database.checkFile() }
    }

    /// A connection that only reads.
    func makeReader() throws -> Reader {
        switch self {
        case .sqlite(let database): .sqlite(try database.makeReader())
        case .served(let database): .served(try database.makeReader())
        }
    }
}

/// The connection of an ``Engine`` while one thread has it.
enum Connection {
    case sqlite(SQLiteConnection)
    case served(any ServedConnection)

    @inline(__always)
    func statement(_ sql: String) throws -> Statement {
        switch self {
        case .sqlite(let connection): .sqlite(try connection.statement(sql))
        case .served(let connection): .served(try connection.statement(sql))
        }
    }

    @inline(__always)
    func statement(kept number: Int, _ sql: @autoclosure () -> String) throws -> Statement {
        switch self {
        case .sqlite(let connection): .sqlite(try connection.statement(kept: number, sql()))
        case .served(let connection): .served(try connection.statement(sql()))
        }
    }

    /// Takes a further lock of a server until the transaction ends; SQLite has locked the whole database.
    ///
    /// - Returns: whether a lock was taken. Then data that was read before may have changed.
    func lock(_ lock: WriteLock) throws -> Bool {
        guard case .served(let connection) = self else { return false }
        try connection.lock(lock)
        return true
    }

    var traits: EngineTraits {
        switch self {
        case .sqlite: .file
        case .served: .server
        }
    }

    /// How many rows this connection has changed since it was opened: what only SQLite's memory asks for.
    var totalChangeCount: Int64 { file?.totalChangeCount ?? 0 }

    var dataVersion: UInt32? { file?.dataVersion }

    /// The connection to an SQLite file, for operations on files only; `nil` for a server.
    var file: SQLiteConnection? {
        guard case .sqlite(let connection) = self else { return nil }
        return connection
    }
}

extension WriterMemory: WriteObserver {
    func begin(_ connection: SQLiteConnection) throws { try begin(.sqlite(connection)) }
    func commit(_ connection: SQLiteConnection) { commit(.sqlite(connection)) }
    func rollBack(_ connection: SQLiteConnection) { rollBack(.sqlite(connection)) }
}

/// A connection that only reads, outside transactions. One thread at a time uses it.
enum Reader {
    case sqlite(SQLiteReader)
    case served(any ServedReader)

    typealias Version = SQLiteReader.Version

    /// The version of the committed data; `nil` if it is being changed or unknown. It is always unknown for a server:
    /// the caches then use the end of the jar's journal.
    @inline(__always)
    var version: Version? {
        guard case .sqlite(let reader) = self else { return nil }
        return reader.version
    }

    /// A statement that lives as long as this connection.
    func prepare(_ sql: String) throws -> Statement {
        switch self {
        case .sqlite(let reader): .sqlite(try reader.prepare(sql))
        case .served(let reader): .served(try reader.prepare(sql))
        }
    }
}

/// A statement that runs for every batch, or for every cookie of one.
enum KeptStatement: Int {
    case cookieOutlines, insertCookie, updateCookie, deleteCookie
    case journalEnd, insertChange

    fileprivate var sql: String {
        switch self {
        case .cookieOutlines: CookieRows.outlineQuery
        case .insertCookie: CookieRows.insertion
        case .updateCookie: CookieRows.update
        case .deleteCookie: CookieRows.deletion
        case .journalEnd: ChangeRows.endQuery
        case .insertChange: ChangeRows.insertion
        }
    }
}

extension Connection {
    /// A statement that stays prepared, found without its text.
    @inline(__always)
    func statement(_ kept: KeptStatement) throws -> Statement {
        try statement(kept: kept.rawValue, kept.sql)
    }
}
