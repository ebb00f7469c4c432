internal import SQLiteEngine

extension SessionDatabase {
    /// Writes a copy of the database, as it is at one moment, into one file, while others go on reading and writing.
    ///
    /// The copy is sealed as the database is, under the same key: without that it is worth nothing. It appears whole or
    /// not at all, with mode 0600 from before its first byte.
    ///
    /// - Parameters:
    ///   - destination: the file to make.
    ///   - replacing: whether a file that is there already goes.
    /// - Returns: how many bytes the copy takes.
    /// - Throws: ``SessionStoreError/Code/fileExists`` where there is a file and it is not to go, or is the database or
    ///   its key; ``SessionStoreError/Code/fileNotWritten`` and ``SessionStoreError/Code/diskFull`` where it cannot be
    ///   written; nothing is left behind then.
    @discardableResult
    public func backUp(to destination: String, replacing: Bool = false) throws(SessionStoreError) -> Int64 {
        guard let file = engine.file else {
            throw SessionStoreError(
                .fileNotWritten, destination, "the database is on a server; back it up with pg_dump or pg_basebackup")
        }
        try checkDestination(destination, replacing: replacing)
        let temporary = PrivateFile.temporaryName(for: destination)
        PrivateFile.createFolders(above: destination)
        let failure = PrivateFile.create(temporary)
        guard failure == 0 else { throw notWritten(destination, failure) }
        defer { PrivateFile.removeDatabase(temporary) }
        try SessionStoreError.catching(destination) { try file.writeCopy(to: temporary) }
        let size = PrivateFile.size(temporary) ?? 0
        let publishing = PrivateFile.publish(file: temporary, as: destination, replacing: replacing)
        guard publishing == 0 else { throw notWritten(destination, publishing) }
        return size
    }

    private func checkDestination(_ destination: String, replacing: Bool) throws(SessionStoreError) {
        if PrivateFile.isFolder(destination) {
            throw SessionStoreError(.fileNotWritten, destination, "this is a folder; name a file in it")
        }
        if PrivateFile.isSpecial(destination) {
            throw SessionStoreError(.fileNotWritten, destination, "this is not a regular file; name one")
        }
        let own = [path, "\(path)-wal", "\(path)-shm"] + (keyRing.source.file.map { [$0.path] } ?? [])
        if own.contains(where: { PrivateFile.isSame($0, destination) }) {
            throw SessionStoreError(
                .fileExists, destination, "this is the database itself or its key file; name another file")
        }
        if !replacing, !PrivateFile.isAbsent(destination) {
            throw SessionStoreError(
                .fileExists, destination, "the file already exists; name another one, or use --force")
        }
    }

    private func notWritten(_ destination: String, _ failure: Int32) -> SessionStoreError {
        if failure == PrivateFile.noSpace {
            return SessionStoreError(.diskFull, destination, "the disk is full; free some space and try again")
        }
        if failure == PrivateFile.alreadyThere {
            return SessionStoreError(
                .fileExists, destination, "the file already exists; name another one, or use --force")
        }
        return SessionStoreError(
            .fileNotWritten, destination, "the backup cannot be written: \(PrivateFile.message(failure))")
    }
}
