internal import GRDB
internal import GRDBSQLite

extension Database {
    /// Marks a new file as ours and has it write its journal ahead; changes nothing where both are so.
    ///
    /// SQLite does not wait for a lock where a read becomes a write, as it does here: while another process makes the
    /// same database, this is tried again for as long as a lock may take.
    func becomeOurs(applicationID: UInt32, busyTimeout: Double) throws {
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
