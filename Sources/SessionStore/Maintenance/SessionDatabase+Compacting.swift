internal import GRDB

extension SessionDatabase {
    /// Writes the file anew without free pages (VACUUM).
    func compact() throws(SessionStoreError) {
        try SessionStoreError.catching(path) {
            try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        }
    }

    /// Moves the write-ahead log into the file and cuts it off.
    ///
    /// - Returns: whether that was possible; not while another process is reading.
    func emptyLog() throws(SessionStoreError) -> Bool {
        try SessionStoreError.catching(path) {
            do {
                _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                return true
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return false
            }
        }
    }
}
