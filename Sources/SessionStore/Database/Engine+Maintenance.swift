internal import CookieModel
internal import SQLiteEngine
internal import StoreEngine

/// Maintenance of a database's file. A server maintains its own files, so most of this does nothing there.
extension Engine {
    /// The version of SQLite that the program uses.
    static var sqliteVersion: String { SQLiteDatabase.engineVersion }

    /// Copies a database file, open or not, into one file, and waits until that is on the disk.
    static func writeCopy(ofFile source: String, to path: String) throws {
        try SQLiteDatabase.writeCopy(ofFile: source, to: path)
    }

    /// Whether a file is a Crumb database.
    static func isOurs(file path: String) throws -> Bool {
        guard let header = DatabaseHeader(path) else { throw StoreFailure(.notOpened, code: 14) }
        return header.isOurs
    }

    /// Runs statements that only read on a file with any schema, open or not.
    static func read<Result>(file path: String, _ body: (Connection) throws -> Result) throws -> Result {
        try SQLiteDatabase.read(file: path) { try body(.sqlite($0)) }
    }

    /// Moves the write-ahead log of a closed database file into it, and removes the log.
    static func foldLog(ofFile path: String) throws {
        try SQLiteDatabase.foldLog(ofFile: path)
    }

    /// The newest migration that was applied.
    var schemaVersion: String {
        switch self {
        case .sqlite: SQLiteDatabase.schemaVersion
        case .served(let database): database.schemaVersion
        }
    }

    /// How many writers wait now, and how many transactions were committed for how many writers.
    var load: (waiting: Int, commits: Int, writers: Int) {
        switch self {
        case .sqlite(let database): return database.load
        case .served(let database):
            let load = database.load
            return (load.waiting, load.commits, load.commits)
        }
    }

    /// Checks that transactions can be committed, with one that changes no data.
    func checkWriting(_ memory: WriterMemory) throws {
        switch self {
        case .sqlite(let database): try database.write(memory) { try $0.writePage() }
        case .served(let database): try database.commitHeartbeat()
        }
    }

    /// How many bytes the database takes, and how many of those are free.
    func size() throws -> (all: Int64, free: Int64) {
        switch self {
        case .sqlite(let database): try database.read { try $0.pageSizes() }
        case .served(let database): (try database.status().sizeInBytes, 0)
        }
    }

    /// Rewrites the file without free pages (VACUUM).
    func compact() throws {
        try file?.compact()
    }

    /// Writes a copy of the file, as it is at one moment.
    func writeCopy(to path: String) throws {
        try file?.writeCopy(to: path)
    }

    /// Moves the write-ahead log into the file and cuts it off.
    ///
    /// - Returns: whether that was possible. It is not while another process is reading.
    func emptyLog() throws -> Bool {
        try file?.emptyLog() ?? true
    }

    /// Runs `body` while every commit waits for the disk, as every commit of a server does.
    func withFullSynchronization<Result>(_ body: () throws -> Result) throws -> Result {
        guard let file else { return try body() }
        return try file.withFullSynchronization(body)
    }
}

extension Connection {
    /// How far the database's clock is ahead of this machine's; 0 for a file, which has no clock. Times that machines
    /// agree on, such as the end of a lease, use the server's clock.
    func clockLead(over now: Timestamp) throws -> Int64 {
        guard case .served = self else { return 0 }
        let time = try statement("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").returnedNumber()
        return time - now.microseconds
    }

    /// Has new rows get higher ids than those that were inserted with theirs, as they do in a file.
    func raiseNextIDs() throws {
        guard case .served = self else { return }
        let columns = [
            ("jar", "id"), ("capture", "id"), ("snapshot", "id"), ("token_profile", "id"), ("service_token", "id"),
            ("token_change", "position"),
        ]
        for (table, column) in columns {
            _ = try statement(
                """
                SELECT setval(pg_get_serial_sequence('\(table)', '\(column)'),
                    greatest((SELECT max(abs(\(column))) FROM \(table)), 1))
                """
            ).returnedNumber()
        }
    }

    /// Returns the errors in the structure of the file, at most 20 lines. They name pages, tables and indexes, and quote
    /// no values.
    func structureFailures() throws -> [String] {
        try file?.structureFailures() ?? []
    }
}
