import Platform
internal import SQLiteEngine

extension SessionDatabase {
    /// Writes a copy of the database, as it is at one moment, into one file, while others go on reading and writing.
    ///
    /// The copy is sealed as the database is, under the same key: without that it is worth nothing. It appears whole or
    /// not at all, with mode 0600 from before its first byte.
    ///
    /// - Parameters:
    ///   - destination: the file to make, in a folder that exists.
    ///   - replacing: whether a file that is there already goes.
    /// - Returns: how many bytes the copy takes.
    /// - Throws: ``SessionStoreError/Code/fileExists`` where there is a file and it is not to go, or is the database or
    ///   its key; ``SessionStoreError/Code/fileNotWritten`` and ``SessionStoreError/Code/diskFull`` where it cannot be
    ///   written; nothing is left behind then.
    @discardableResult
    public func backUp(to destination: String, replacing: Bool = false) throws(SessionStoreError) -> Int64 {
        guard !engine.traits.isShared else {
            throw SessionStoreError(
                .fileNotWritten, destination, "the database is on a server; back it up with pg_dump or pg_basebackup")
        }
        try checkDestination(destination, replacing: replacing)
        let temporary = PrivateFile.temporaryName(for: destination)
        let failure = PrivateFile.create(temporary)
        guard failure == 0 else { throw SessionStoreError.notWritten(destination, failure) }
        defer { DatabaseFile.remove(temporary) }
        try SessionStoreError.catching(destination) { try engine.writeCopy(to: temporary) }
        let size = FileSystem.size(temporary) ?? 0
        let publishing = PrivateFile.publish(file: temporary, as: destination, replacing: replacing)
        guard publishing == 0 else { throw SessionStoreError.notWritten(destination, publishing) }
        return size
    }

    private func checkDestination(_ destination: String, replacing: Bool) throws(SessionStoreError) {
        if FileSystem.isSpecial(destination) {
            throw SessionStoreError(.fileNotWritten, destination, "this is not a regular file; name one")
        }
        let own = [path, "\(path)-wal", "\(path)-shm"] + (keyRing.source.file.map { [$0.path] } ?? [])
        try SessionStoreError.checkDestination(destination, sparing: own, replacing: replacing)
    }
}
