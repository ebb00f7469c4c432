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
    /// The file and its write-ahead log, which stays the same for as long as anybody has the database open.
    private let places: FilePlaces

    /// The file that `database` has open, known to people as `path`.
    init(_ database: Database, path: String, clock: FilePlaces.Clock = FilePlaces.Clock()) throws {
        self.path = path
        let name = sqlite3_db_filename(database.sqliteConnection, "main")
        location = OpenFile.text(name)
        places = FilePlaces(
            location.count > 1 ? [location, OpenFile.text(sqlite3_filename_wal(name))] : [], clock: clock)
        try checkAfterOpening(database.sqliteConnection)
    }

    /// Refuses to open another file than this one by the name that it had.
    func checkBeforeOpening() throws {
        guard places.areFound else { throw moved }
    }

    /// Refuses to have opened another file than this one.
    func checkAfterOpening(_ connection: OpaquePointer?) throws {
        var hasMoved: Int32 = 0
        // Where there is no file, the question is not answered and nothing has moved.
        sqlite3_file_control(connection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        guard hasMoved == 0, places.areFound else { throw moved }
    }

    /// Refuses to go on where the file or its log is no longer in its place: what is written there would be lost, and
    /// the file that is there now may say something else.
    func check() throws {
        guard places.areKept else { throw moved }
    }

    private var moved: SessionStoreError {
        SessionStoreError(
            .databaseUnavailable, path,
            "the file or its write-ahead log was deleted or replaced while it was in use; nothing was read or written: "
                + "start again")
    }

    /// A name of SQLite's with its end; that alone where there is no name.
    private static func text(_ name: UnsafePointer<CChar>?) -> [CChar] {
        name.map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) } ?? [0]
    }
}
