internal import GRDB
internal import GRDBSQLite

extension SessionDatabase {
    /// Runs statements that change nothing.
    func read<Result>(_ body: (Database) throws -> Result) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(path) {
            try queue.inDatabase { database in
                try file.checkBeforeRead(database)
                return try body(database)
            }
        }
    }

    /// Runs one transaction that holds the write lock from its first statement on, or a part of one that other threads
    /// write at the same time: all of it is there, or nothing.
    func write<Result>(_ body: (Database) throws -> Result) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(path) {
            var result: Result?
            try commits.write(on: queue, file) { result = try body($0) }
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
                    try file.checkBeforeCommit(database)
                    return .commit
                }
            }
        }
    }
}
