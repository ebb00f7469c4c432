internal import GRDB
internal import GRDBSQLite
internal import Synchronization

extension SessionDatabase {
    /// The version of SQLite that the program runs on.
    public static var sqliteVersion: String { String(cString: sqlite3_libversion()) }

    /// The newest migration that the schema has seen: this version's own, since older ones are brought up to date.
    public var schemaVersion: String { SchemaMigrations.newest }

    /// How many bytes the file takes on disk, its write-ahead log included; 0 in memory.
    public var sizeInBytes: Int64 {
        [path, path + "-wal"].reduce(0) { $0 + (PrivateFile.size($1) ?? 0) }
    }

    /// Whether there is a file at `path`, of whatever kind; true also where that cannot be found out, so that opening
    /// it tells why.
    public static func exists(at path: String) -> Bool {
        !PrivateFile.isAbsent(path)
    }

    /// Whether both paths lead to the same file.
    public static func isSameFile(_ left: String, _ right: String) -> Bool {
        PrivateFile.isSame(left, right)
    }
}

extension SessionDatabase {
    /// What writing came to since the database was opened here.
    package struct WriteLoad: Sendable {
        /// How many writers wait at present.
        package let waiting: Int
        /// How many transactions were committed.
        package let commits: Int
        /// How many writes that was: several that wait share a commit.
        package let writers: Int
    }

    /// How much this object has to write.
    package var writeLoad: WriteLoad {
        let (commits, writers) = commits.sizes.withLock { $0 }
        return WriteLoad(waiting: self.commits.waitingCount, commits: commits, writers: writers)
    }
}

extension SessionDatabase {
    /// How much room a transaction of a few cookies may take in the write-ahead log, and some more.
    private static let neededRoom: Int64 = 64 << 10

    /// Checks that the disk has room for a small transaction. Looks at the file system, and writes nothing.
    ///
    /// - Throws: ``SessionStoreError/Code/diskFull``
    package func checkRoom() throws(SessionStoreError) {
        guard isOnDisk, let room = PrivateFile.room(besides: path), room < SessionDatabase.neededRoom else { return }
        throw SessionStoreError(.diskFull, path, "the disk is full; free some space and try again")
    }

    /// Checks that a transaction can be committed, by one that writes a page and changes nothing.
    package func checkWriting() throws(SessionStoreError) {
        try write { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            try database.execute(sql: "PRAGMA user_version = \(version)")
        }
    }
}

/// The first octets of a database's file (https://sqlite.org/fileformat.html, section 1.3).
struct DatabaseHeader {
    private static let size: Int32 = 100
    private static let mark = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]

    /// Reads the header and no more; `nil` where the file cannot be opened.
    init?(_ path: String) {
        // SQLite's own size is 0 for a file of one byte, which is not the user's to lose.
        guard let file = SystemFile(path, SQLITE_OPEN_READONLY), let count = PrivateFile.size(path) else { return nil }
        // What a shorter file does not have is zeros.
        var bytes = [UInt8](repeating: 0, count: Int(DatabaseHeader.size))
        let reading = file.read(into: &bytes)
        guard reading & 0xFF == SQLITE_OK || reading == DatabaseHeader.shortRead else { return nil }
        self.bytes = Array(bytes.prefix(Int(clamping: count)))
    }

    /// SQLITE_IOERR_SHORT_READ
    private static let shortRead = SQLITE_IOERR | 2 << 8

    /// Whether the file is empty, as one is that is to become a database.
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether this is the header of a database.
    var isDatabase: Bool { bytes.count == DatabaseHeader.size && bytes.starts(with: DatabaseHeader.mark) }

    /// Whose database it is.
    var applicationID: UInt32 { bytes.count < 72 ? 0 : bytes[68..<72].reduce(0) { $0 << 8 | UInt32($1) } }

    /// Whether its journal is written ahead: the versions of the format for writing and for reading say so.
    var hasWriteAheadLog: Bool { isDatabase && bytes[18] == 2 && bytes[19] == 2 }
}
