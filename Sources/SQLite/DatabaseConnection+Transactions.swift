internal import CSQLite

/// Transactions, and what works on a whole database.
extension DatabaseConnection {
    /// How a transaction begins: with the lock for writing, or with a lock as soon as a statement needs one.
    package enum TransactionKind: String {
        case deferred = "DEFERRED"
        case immediate = "IMMEDIATE"
    }

    /// Whether a transaction has begun and has not ended.
    package var isInTransaction: Bool {
        guard let pointer else { return false }
        return sqlite3_get_autocommit(pointer) == 0
    }

    /// Runs `body` in a transaction, which is rolled back if `body` throws.
    package func transaction<Result>(_ kind: TransactionKind, _ body: () throws -> Result) throws -> Result {
        try execute("BEGIN \(kind.rawValue) TRANSACTION")
        do {
            let result = try body()
            // SQLite may have ended it, for example because the disk is full.
            guard isInTransaction else { throw DatabaseError(code: SQLITE_ABORT) }
            try execute("COMMIT TRANSACTION")
            return result
        } catch {
            if isInTransaction { try? execute("ROLLBACK TRANSACTION") }
            throw error
        }
    }

    /// Runs `body` in a transaction in which no statement can write.
    package func read<Result>(_ body: () throws -> Result) throws -> Result {
        if isReadOnly { return try transaction(.deferred, body) }
        try execute("PRAGMA query_only = 1")
        let result = Swift.Result { try transaction(.deferred, body) }
        do {
            try execute("PRAGMA query_only = 0")
        } catch {
            // The first error is the cause.
            _ = try result.get()
            throw error
        }
        return try result.get()
    }

    /// Moves the write-ahead log into the file and truncates the log.
    package func truncateLog() throws {
        guard let pointer else { throw DatabaseError(code: SQLITE_MISUSE) }
        let code = sqlite3_wal_checkpoint_v2(pointer, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(code: code, on: pointer) }
    }

    /// Replaces the contents of another database by those of this one.
    package func backUp(to copy: DatabaseConnection) throws {
        guard let pointer, let destination = copy.pointer else { throw DatabaseError(code: SQLITE_MISUSE) }
        guard let backup = sqlite3_backup_init(destination, "main", pointer, "main") else {
            throw DatabaseError(code: sqlite3_extended_errcode(destination), on: destination)
        }
        var step = SQLITE_OK
        while step == SQLITE_OK { step = sqlite3_backup_step(backup, -1) }
        let end = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE else { throw DatabaseError(code: step, on: destination) }
        guard end == SQLITE_OK else { throw DatabaseError(code: end, on: destination) }
    }

    /// Rejects texts, blobs and rows of more than `count` octets, as the result of an expression, too.
    package func limitLengths(to count: Int32) {
        guard let pointer else { return }
        sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, count)
    }
}
