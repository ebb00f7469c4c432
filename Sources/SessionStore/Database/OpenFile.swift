internal import GRDB
internal import GRDBSQLite

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file that a connection has open, and whether it is still the one at its path.
///
/// A system lets go on with a file that was deleted: what is written there is gone with the process, though SQLite
/// reports success. So it is looked at where a transaction is about to be acknowledged.
struct OpenFile: Sendable {
    /// SQLite's own name of the file: absolute, whatever folder the process has gone to since, and without symbolic
    /// links; empty in memory.
    let location: [CChar]
    private let path: String
    /// The file's own; `nil` in memory.
    private let file: FileIdentity?
    /// The write-ahead log: it stays the same for as long as anybody has the database open. `nil` in memory.
    private let log: OpenLog?

    /// The file that `database` has open, known to people as `path`.
    init(_ database: Database, path: String) {
        self.path = path
        let name = OpenFile.location(database)
        location = name.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } ?? [0]
        file = FileIdentity(name)
        log = OpenFile.logPath(database).flatMap(OpenLog.init)
    }

    /// Refuses to open, or to have opened, another file than this one by the name that it had.
    func checkBeforeOpening() throws {
        guard FileIdentity(location) == file else { throw moved }
    }

    /// Refuses to write where the file or its log is no longer in its place.
    func checkBeforeCommit(_ database: Database) throws {
        try checkBeforeRead(database)
        // Whether their folder is in its place was just seen.
        guard log?.isInPlace ?? true else { throw moved }
    }

    /// Refuses to read a file that is no longer in its place: the one that is there now may say something else.
    func checkBeforeRead(_ database: Database) throws {
        try checkBeforeRead(database.sqliteConnection)
    }

    /// The same for a connection that is not GRDB's.
    func checkBeforeRead(_ connection: OpaquePointer?) throws {
        var hasMoved: Int32 = 0
        // Where there is no file, the question is not answered and nothing has moved.
        sqlite3_file_control(connection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0 else { throw moved }
    }

    private var moved: SessionStoreError {
        SessionStoreError(
            .databaseUnavailable, path,
            "the file or its write-ahead log was deleted or replaced while it was in use; nothing was read or written: "
                + "start again")
    }

    private static func logPath(_ database: Database) -> UnsafePointer<CChar>? {
        location(database).flatMap { sqlite3_filename_wal($0) }
    }

    private static func location(_ database: Database) -> UnsafePointer<CChar>? {
        guard let name = sqlite3_db_filename(database.sqliteConnection, "main"), name.pointee != 0 else { return nil }
        return name
    }
}
