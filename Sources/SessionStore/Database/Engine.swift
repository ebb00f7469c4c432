internal import SQLiteEngine
internal import StoreEngine

/// The engine that keeps a database: a SQLite file, or a server.
///
/// This file, `Engine+Maintenance.swift` and `Statement.swift` are the only ones that name SQLite's types. Rows, caches and maintenance use these types.
///
/// Enumerations rather than existentials or generic parameters: a row costs some twenty calls, which stay direct calls
/// for SQLite.
enum Engine: Sendable {
    case sqlite(SQLiteDatabase)
    case served(any ServedDatabase)

    /// Opens a SQLite file, or a database in memory if there is no path.
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

    /// The SQLite file, for what concerns files alone; `nil` for a server.
    var file: SQLiteDatabase? {
        guard case .sqlite(let database) = self else { return nil }
        return database
    }

    /// Runs statements that change nothing; all of them see the same commit.
    func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        switch self {
        case .sqlite(let database): try database.read { try body(.sqlite($0)) }
        case .served(let database): try database.read { try body(.served($0)) }
        }
    }

    /// Runs one transaction, or with SQLite a part of one that other threads write at the same time: all of it is there,
    /// or nothing.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction changes meanwhile.
    ///   - isRepeatable: whether a server's transaction runs again if the server has undone it because of another one.
    ///   - memory: what the connection that writes keeps between transactions.
    ///   - queries: what `body` asks first, which a server answers beforehand.
    ///   - body: must not write in another way: it would wait for itself.
    func write(
        _ lock: WriteLock, isRepeatable: Bool, _ memory: WriterMemory, foreseeing queries: [ForeseenQuery] = [],
        _ body: (Connection) throws -> Void
    ) throws {
        switch self {
        case .sqlite(let database):
            try database.write(memory) { try body(.sqlite($0)) }
        case .served(let database):
            let queries = [ForeseenQuery(SealingKeyRows.newestQuery)] + queries
            try database.write(lock, isPatient: true, isRepeatable: isRepeatable, foreseeing: queries) { connection in
                try memory.checkKey(.served(connection))
                try body(.served(connection))
                try RepeatableRequestRows(database: .served(connection)).noteCommit(of: RepeatableRequest.current)
            }
        }
    }

    /// Runs one transaction of a server in one round trip, if what its caller takes for granted is so.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction changes meanwhile.
    ///   - isPatient: whether to wait for another transaction that has the lock, or a part of it.
    ///   - assumptions: the key that seals among them.
    /// - Returns: the result of `body`; `nil` if the transaction is not there.
    func writeAtOnce<Result>(
        _ lock: WriteLock, isPatient: Bool, assuming assumptions: [Assumption],
        _ body: (Connection) throws -> Result
    ) throws -> Result? {
        guard case .served(let database) = self else { return nil }
        return try database.writeAtOnce(lock, isPatient: isPatient, assuming: assumptions) {
            let result = try body(.served($0))
            try RepeatableRequestRows(database: .served($0)).noteCommit(of: RepeatableRequest.current)
            return result
        }
    }

    /// Runs one transaction of its own. `body` runs once at most.
    ///
    /// - Parameter isPatient: whether to wait for another process that has the lock.
    func writeAlone<Result>(
        _ lock: WriteLock = .database, isPatient: Bool = true, _ body: (Connection) throws -> Result
    ) throws -> Result {
        switch self {
        case .sqlite(let database): try database.writeAlone(isPatient: isPatient) { try body(.sqlite($0)) }
        case .served(let database):
            try database.write(lock, isPatient: isPatient, isRepeatable: false, foreseeing: []) {
                try body(.served($0))
            }
        }
    }

    /// Refuses to go on where the file is no longer in its place, before something is answered from memory.
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
    /// - Returns: whether there was something to take, so that what was read before may have changed.
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

    /// The connection to a SQLite file, for what concerns files alone; `nil` for a server.
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

    /// The version of what is committed now; `nil` if it is being changed or unknown, as it always is with a server: the
    /// caches then ask how far the jar has come.
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

/// A statement that every batch runs, or every cookie of one.
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
