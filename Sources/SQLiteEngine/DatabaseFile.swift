internal import CSQLite
import Platform
internal import StoreEngine

/// The file of a database before a connection opens it.
package enum DatabaseFile {
    /// Marks the file as a database of Crumb: "Crmb" in the header's application ID.
    static let applicationID: UInt32 = 0x4372_6D62

    /// The path in a form that SQLite takes for the name of a file: a relative `:memory:` or `file:…` would mean
    /// something else.
    static func location(_ path: String) -> String {
        path.hasPrefix("/") ? path : "./\(path)"
    }

    /// Checks that the file is a database of Crumb or new. Does so without SQLite, which would modify it.
    ///
    /// - Returns: whether it has Crumb's application ID and a write-ahead log.
    static func prepare(_ path: String) throws(SessionStoreError) -> Bool {
        if FileSystem.isFolder(path) {
            throw SessionStoreError(.databaseUnavailable, path, "this is a folder; name a file")
        }
        if FileSystem.isSpecial(path) {
            throw SessionStoreError(.databaseUnavailable, path, "this is not a regular file; name one")
        }
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.create(path)
        guard failure == 0 else { throw SessionStoreError(opening: path, errno: failure) }
        if let unreadable = FileSystem.readingFailure(path) {
            throw SessionStoreError(opening: path, errno: unreadable.number)
        }
        guard let header = DatabaseHeader(path) else {
            throw SessionStoreError(.databaseUnavailable, path, "the file cannot be read; check the disk")
        }
        guard !header.isEmpty else {
            // An empty file made by another program becomes a database: it must be as private as one made here.
            let failure = (FileSystem.permissions(path) ?? 0) & 0o077 == 0 ? 0 : PrivateFile.restrict(path)
            guard failure == 0 else { throw SessionStoreError(opening: path, errno: failure) }
            return false
        }
        guard header.isDatabase else {
            throw SessionStoreError(.databaseForeign, path, "this file is not a database; nothing was changed")
        }
        guard header.isOurs else {
            throw SessionStoreError(
                .databaseForeign, path, "this database belongs to another program; nothing was changed")
        }
        return header.hasWriteAheadLog
    }

    /// Removes a database with the files of SQLite beside it.
    package static func remove(_ path: String) {
        unlink(path)
        removeLogs(of: path)
    }

    /// Removes the files of SQLite beside a database: its journal, its write-ahead log and the log's index.
    package static func removeLogs(of path: String) {
        for end in ["-journal", "-wal", "-shm"] { unlink(path + end) }
    }
}

extension SessionStoreError {
    /// The file at `path` cannot be opened for the reason that `errno` gives.
    fileprivate init(opening path: String, errno failure: Int32) {
        if failure == ENOSPC {
            self.init(.diskFull, path, "the disk is full; free some space and try again")
        } else {
            self.init(
                .databaseUnavailable, path, "the file cannot be opened: \(SystemError(failure).message(creating: path))"
            )
        }
    }
}

/// The first octets of a database's file (https://sqlite.org/fileformat.html, section 1.3).
package struct DatabaseHeader {
    private static let size: Int32 = 100
    private static let mark = Array("SQLite format 3\0".utf8)

    private let bytes: [UInt8]

    /// Reads only the header; `nil` if the file cannot be opened.
    package init?(_ path: String) {
        // SQLite's own size is 0 for a file of one byte, which is not the user's to lose.
        guard let file = SystemFile(path), let count = FileSystem.size(path) else { return nil }
        // The bytes past the end of a shorter file stay zero.
        var bytes = [UInt8](repeating: 0, count: Int(DatabaseHeader.size))
        let reading = file.read(into: &bytes)
        guard reading & 0xFF == SQLITE_OK || reading == DatabaseHeader.shortRead else { return nil }
        self.bytes = Array(bytes.prefix(Int(clamping: count)))
    }

    /// SQLITE_IOERR_SHORT_READ
    private static let shortRead = SQLITE_IOERR | 2 << 8

    /// Whether the file is empty. An empty file can become a database.
    var isEmpty: Bool { bytes.isEmpty }

    /// Whether this is the header of a database.
    package var isDatabase: Bool { bytes.count == DatabaseHeader.size && bytes.starts(with: DatabaseHeader.mark) }

    /// Whether this is the header of a database of Crumb.
    package var isOurs: Bool { isDatabase && applicationID == DatabaseFile.applicationID }

    /// The application ID, which tells the program that the database belongs to.
    private var applicationID: UInt32 { bytes.count < 72 ? 0 : bytes[68..<72].reduce(0) { $0 << 8 | UInt32($1) } }

    /// Whether the database has a write-ahead log, according to the header's format versions for writing and reading.
    var hasWriteAheadLog: Bool { isDatabase && bytes[18] == 2 && bytes[19] == 2 }
}
