internal import GRDB

extension SessionStoreError {
    /// Runs `body` and turns what SQLite reports into an error of this module. SQLite's own message stays out: it may
    /// quote a statement.
    static func catching<Result>(
        _ path: String, _ body: () throws -> Result
    ) throws(SessionStoreError) -> Result {
        do {
            return try body()
        } catch let error as SessionStoreError {
            throw error
        } catch let error as DatabaseError {
            throw SessionStoreError(error, path)
        } catch {
            throw SessionStoreError(.databaseFailed, path, "the database cannot be used")
        }
    }

    private init(_ error: DatabaseError, _ path: String) {
        let code = error.resultCode
        let extended = error.extendedResultCode.rawValue
        switch code {
        case .SQLITE_NOTADB:
            self.init(.databaseForeign, path, "this file is not a database; nothing was changed")
        case .SQLITE_CORRUPT:
            self.init(
                .databaseDamaged, path, "the database is damaged (SQLite code \(extended)); restore it from a backup")
        case .SQLITE_FULL:
            self.init(.diskFull, path, "the disk is full; nothing stored before is lost: make room and try again")
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE:
            // The index of the write-ahead log cannot grow: a full disk meets readers too.
            self.init(.diskFull, path, "the disk is full; nothing stored before is lost: make room and try again")
        case .SQLITE_IOERR:
            self.init(
                .databaseFailed, path,
                "reading or writing the file failed (SQLite code \(extended)); check the disk and its free space")
        case .SQLITE_READONLY:
            self.init(
                .databaseReadOnly, path, "the database cannot be written; check the permissions of file and folder")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(
                .databaseUnavailable, path, "the file cannot be opened; check the permissions of file and folder")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.databaseBusy, path, "another process is using the database; try again in a moment")
        case .SQLITE_CONSTRAINT where error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY:
            self.init(.jarNotFound, "the jar", "it was removed meanwhile; 'crumb jars' lists the jars")
        default:
            self.init(.databaseFailed, path, "SQLite failed (code \(extended))")
        }
    }
}
