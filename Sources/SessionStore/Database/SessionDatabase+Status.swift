import Platform

extension SessionDatabase {
    /// The version of SQLite that the program uses.
    package static var sqliteVersion: String { Engine.sqliteVersion }

    /// The newest migration that was applied: this version's newest, because older schemas are migrated when the
    /// database is opened.
    package var schemaVersion: String { engine.schemaVersion }

    /// How many bytes the file takes on disk, its write-ahead log included; 0 in memory.
    package var sizeInBytes: Int64 {
        [path, path + "-wal"].reduce(0) { $0 + (FileSystem.size($1) ?? 0) }
    }

    /// Whether a file of any kind exists at `path`. Also `true` if that cannot be found out, so that opening it reports
    /// why.
    package static func exists(at path: String) -> Bool {
        !FileSystem.isAbsent(path)
    }

    /// Whether there is a Crumb database at `path`.
    package static func isDatabase(at path: String) -> Bool {
        FileSystem.isRegular(path) && (try? Engine.isOurs(file: path)) == true
    }

    /// Whether both paths lead to the same file.
    package static func isSameFile(_ left: String, _ right: String) -> Bool {
        FileSystem.isSame(left, right)
    }
}

extension SessionDatabase {
    /// The writes since this object opened the database.
    package struct WriteLoad: Sendable {
        /// How many writers wait now.
        package let waiting: Int
        /// How many transactions were committed.
        package let commits: Int
        /// How many writes these were: several waiting ones share a commit.
        package let writers: Int
    }

    /// How much this object has to write.
    package var writeLoad: WriteLoad {
        let (waiting, commits, writers) = engine.load
        return WriteLoad(waiting: waiting, commits: commits, writers: writers)
    }
}

extension SessionDatabase {
    /// How much space a transaction of a few cookies may take in the write-ahead log, with some reserve.
    private static let neededRoom: Int64 = 64 << 10

    /// Checks that the disk has space for a small transaction. Reads only the state of the file system.
    ///
    /// - Throws: ``SessionStoreError/Code/diskFull``
    package func checkRoom() throws(SessionStoreError) {
        guard engine.isFileOnDisk, let room = FileSystem.room(besides: path),
            room < SessionDatabase.neededRoom
        else {
            return
        }
        throw SessionStoreError(.diskFull, path, "the disk is full; free some space and try again")
    }

    /// Checks that transactions can be committed, with one that writes a page and changes no data.
    package func checkWriting() throws(SessionStoreError) {
        try SessionStoreError.catching(path) { try engine.checkWriting(memory) }
    }
}
