internal import GRDB
internal import GRDBSQLite

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
