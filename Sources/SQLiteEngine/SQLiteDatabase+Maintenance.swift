internal import CSQLite
internal import SQLite
internal import StoreEngine

extension SQLiteDatabase {
    /// The version of SQLite that the program runs on.
    package static var engineVersion: String { String(cString: sqlite3_libversion()) }

    /// The newest migration that was applied.
    package static var schemaVersion: String { SchemaMigrations.newest }

    /// Rewrites the file without free pages (VACUUM).
    package func compact() throws {
        try StoreFailure.translating { try queue.sync { try $0.execute("VACUUM") } }
    }

    /// Moves the write-ahead log into the file and truncates the log.
    ///
    /// - Returns: whether that was possible. It is not while another process is reading.
    package func emptyLog() throws -> Bool {
        do {
            try StoreFailure.translating { try queue.sync { try $0.truncateLog() } }
            return true
        } catch let failure as StoreFailure where failure.kind == .busy {
            return false
        }
    }

    /// Runs `body` while every commit waits for the disk.
    package func withFullSynchronization<Result>(_ body: () throws -> Result) throws -> Result {
        let level = try setSynchronous(2)
        let result = try body()
        _ = try setSynchronous(level)
        return result
    }

    /// Sets SQLite's level of waiting for the disk.
    ///
    /// - Returns: the level that was set.
    private func setSynchronous(_ level: Int64) throws -> Int64 {
        try StoreFailure.translating {
            try queue.sync { database in
                let before = try database.number("PRAGMA synchronous") ?? 2
                try database.execute("PRAGMA synchronous = \(level)")
                return before
            }
        }
    }

    /// Copies the database into one file, and waits until it is on the disk. The copy has no log, so it can be moved
    /// anywhere.
    package func writeCopy(to path: String) throws {
        try StoreFailure.translating { try SQLiteDatabase.writeCopy(of: queue, to: path) }
    }

    /// Copies a database that does not have to be open, in the same way.
    package static func writeCopy(ofFile source: String, to path: String) throws {
        try StoreFailure.translating {
            let queue = try DatabaseQueue(path: DatabaseFile.location(source), isReadOnly: true)
            try writeCopy(of: queue, to: path)
            try queue.close()
        }
    }

    private static func writeCopy(of source: DatabaseQueue, to path: String) throws {
        let copy = try DatabaseQueue(path: DatabaseFile.location(path)) { try $0.execute("PRAGMA synchronous = FULL") }
        try copy.sync { destination in try source.read { try $0.backUp(to: destination) } }
        try foldLog(of: copy)
    }

    /// Runs statements that only read on a file with any schema, which does not have to be open.
    package static func read<Result>(file path: String, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try StoreFailure.translating {
            // Not as a reader: the last connection that can write removes the log's index when it closes.
            let queue = try DatabaseQueue(path: DatabaseFile.location(path))
            let result = try queue.read { database in
                let (kept, control) = (KeptStatements(), KeptStatements())
                return try body(SQLiteConnection(database, kept: kept, control: control))
            }
            try queue.close()
            return result
        }
    }

    /// Moves the write-ahead log of a database that no process has open into its file, and removes the log.
    package static func foldLog(ofFile path: String) throws {
        try StoreFailure.translating { try foldLog(of: try DatabaseQueue(path: DatabaseFile.location(path))) }
    }

    private static func foldLog(of queue: DatabaseQueue) throws {
        try queue.sync { try $0.execute("PRAGMA journal_mode = DELETE") }
        try queue.close()
    }
}

extension SQLiteConnection {
    /// The pages of the file, in bytes: all of them, and those that are free.
    package func pageSizes() throws -> (all: Int64, free: Int64) {
        let size = try number("PRAGMA page_size")
        return (try number("PRAGMA page_count") * size, try number("PRAGMA freelist_count") * size)
    }

    /// Writes a page and changes nothing.
    package func writePage() throws {
        try statement("PRAGMA user_version = \(try number("PRAGMA user_version"))").run()
    }

    /// Returns the errors in the structure of the file, at most 20 lines. They name pages, tables and indexes, and quote
    /// no values.
    package func structureFailures() throws -> [String] {
        let statement = try statement("PRAGMA integrity_check(20)")
        defer { statement.reset() }
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(0)) }
        return lines.filter { $0 != "ok" }
    }

    private func number(_ sql: String) throws -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
    }
}
