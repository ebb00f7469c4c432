import Platform
internal import SQLiteEngine

extension SessionDatabase {
    /// Writes a consistent copy of the database into one file, while others continue to read and write.
    ///
    /// The copy is sealed under the same key as the database, and cannot be used without it. It appears completely or
    /// not at all, and has mode 0600 from the start.
    ///
    /// - Parameters:
    ///   - destination: the file to create, in an existing folder.
    ///   - replacing: whether to replace an existing file.
    /// - Returns: how many bytes the copy takes.
    /// - Throws: `SessionStoreError.Code.fileExists` if the file exists and must not be replaced, or is the database
    ///   or its key; `SessionStoreError.Code.fileNotWritten` and `SessionStoreError.Code.diskFull` if it cannot be
    ///   written. After an error, no new file remains.
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
