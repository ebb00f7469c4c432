package import CookieModel
import Platform
internal import SQLiteEngine

/// A backup that has become the database.
package struct DatabaseRestoration: Sendable, Hashable {
    /// How many bytes the database takes.
    package let sizeInBytes: Int64
    /// How many jars it has.
    package let jars: Int
    /// How many sealed values it holds; every one of them can be read.
    package let sealedValues: Int
    /// Whether another database was replaced.
    package let replaced: Bool
}

extension SessionDatabase {
    /// Replaces a database by a copy of a backup: the inverse of ``backUp(to:replacing:)``.
    ///
    /// The backup itself does not change. Its copy is migrated to the current schema, and its structure and every
    /// sealed value are checked, before anything is replaced. The database appears completely or not at all, with mode
    /// 0600. The journal and the write-ahead log of the old database, which would corrupt it, are removed first.
    ///
    /// Programs that follow a jar's journal have to read the whole jar again: the journal goes back to the time of the
    /// backup. Complexity: O(*n*), where *n* is the size of the backup.
    ///
    /// - Parameters:
    ///   - backup: the file that ``backUp(to:replacing:)`` made, or any other database.
    ///   - path: the path of the database.
    ///   - keys: the source of the key that the backup is sealed under.
    ///   - replacing: whether an existing database is replaced.
    ///   - now: the current time, which migrations store.
    /// - Throws: `SessionStoreError.Code.fileExists` if the database exists and must not be replaced, or is the
    ///   backup; `SessionStoreError.Code.databaseForeign` if either file is not a Crumb database;
    ///   `SessionStoreError.Code.databaseBusy` while any process has it open;
    ///   `SessionStoreError.Code.databaseDamaged` if the backup is damaged; the errors of opening a database. After
    ///   an error, nothing has changed.
    @discardableResult
    package static func restore(
        _ backup: String, to path: String, keys: KeySource, replacing: Bool = false, now: Timestamp
    ) throws(SessionStoreError) -> DatabaseRestoration {
        let place = FileSystem.resolved(path)
        try checkBackup(backup)
        let replaced = try checkPlace(place, named: path, sparing: backup, replacing: replacing)
        PrivateFile.createFolders(above: place)
        let temporary = PrivateFile.temporaryName(for: place)
        let failure = PrivateFile.create(temporary)
        guard failure == 0 else { throw notRestored(path, failure) }
        defer { DatabaseFile.remove(temporary) }
        do {
            try SessionStoreError.catching(backup) {
                try Engine.writeCopy(ofFile: backup, to: temporary)
            }
        } catch {
            throw error.code == .databaseDamaged ? damaged(backup) : error
        }
        let (jars, values) = try verified(temporary, keys: keys, named: backup, now: now)
        let size = FileSystem.size(temporary) ?? 0
        // Held until the new file is in its place: a process that opens the old one waits, then finds it replaced.
        let lock = try lock(place, named: path)
        try withExtendedLifetime(lock) { () throws(SessionStoreError) in
            DatabaseFile.removeLogs(of: place)
            let failure = PrivateFile.publish(file: temporary, as: place, replacing: lock != nil)
            guard failure == 0 else { throw notRestored(path, failure) }
        }
        return DatabaseRestoration(sizeInBytes: size, jars: jars, sealedValues: values, replaced: replaced)
    }

    private static func checkBackup(_ backup: String) throws(SessionStoreError) {
        if FileSystem.isFolder(backup) {
            throw SessionStoreError(.databaseForeign, backup, "this is a folder; name the backup in it")
        }
        if FileSystem.isSpecial(backup) {
            throw SessionStoreError(.databaseForeign, backup, "this is not a regular file; name a backup")
        }
        guard let header = DatabaseHeader(backup) else {
            throw SessionStoreError(.databaseUnavailable, backup, "the file cannot be read; check its permissions")
        }
        guard header.isOurs else {
            throw SessionStoreError(
                .databaseForeign, backup,
                advice: "this is not a backup\(command: " that 'crumb backup' made"); nothing was changed")
        }
    }

    /// Checks that the database can be restored to its path.
    ///
    /// - Returns: whether a database exists there.
    private static func checkPlace(
        _ place: String, named path: String, sparing backup: String, replacing: Bool
    ) throws(SessionStoreError) -> Bool {
        if FileSystem.isFolder(place) || FileSystem.isSpecial(place) {
            throw SessionStoreError(.databaseUnavailable, path, "this is not a regular file; name one")
        }
        if FileSystem.isSame(place, backup) {
            throw SessionStoreError(.fileExists, path, "the backup is the database itself; name another file")
        }
        guard !FileSystem.isAbsent(place), FileSystem.size(place) != 0 else { return false }
        guard replacing else {
            throw SessionStoreError(
                .fileExists, path,
                advice: "the file already exists\(command: "; use --force to replace a database with the backup")")
        }
        // The path may be wrong: a key, another program's database or a text must not be replaced.
        guard let header = DatabaseHeader(place), header.isOurs else {
            throw SessionStoreError(
                .databaseForeign, path,
                "this file is not a Crumb database; nothing was changed. Move it away, or name another path")
        }
        return true
    }

    /// Opens the copy, which brings it to the current schema, and reads all of it.
    private static func verified(
        _ copy: String, keys: KeySource, named backup: String, now: Timestamp
    ) throws(SessionStoreError) -> (jars: Int, sealedValues: Int) {
        do {
            let result = try inspected(copy, keys: keys, named: backup, now: now)
            try SessionStoreError.catching(backup) {
                // The connection above is closed. This one empties and removes the log.
                try Engine.foldLog(ofFile: copy)
            }
            return result
        } catch {
            // The user knows the backup, not its copy.
            guard error.subject == copy else { throw error }
            throw error.code == .databaseDamaged
                ? damaged(backup) : SessionStoreError(error.code, backup, advice: error.detail)
        }
    }

    /// The error of a damaged backup. That of a damaged database advises to restore a backup.
    private static func damaged(_ backup: String) -> SessionStoreError {
        SessionStoreError(
            .databaseDamaged, backup, "the backup is damaged; nothing was changed. Restore another backup")
    }

    private static func inspected(
        _ copy: String, keys: KeySource, named backup: String, now: Timestamp
    ) throws(SessionStoreError) -> (jars: Int, sealedValues: Int) {
        let database = try SessionDatabase(path: copy, keys: keys, durability: .full, now: now)
        let check = try database.check()
        let damage = check.findings.filter { [.structure, .orphan, .unreadable].contains($0.code) }
        if let first = damage.first {
            let more = damage.count > 1 ? " and \(damage.count - 1) more" : ""
            throw SessionStoreError(
                .databaseDamaged, backup,
                advice:
                    "the backup is damaged (\(first.location?.description ?? first.code.rawValue)\(more)); nothing was "
                    + "changed\(command: "; 'crumb check --database FILE' lists the damage")")
        }
        return (try database.jars(now: now).count, check.readableValues)
    }

    /// Locks the database that will be replaced against all other processes; `nil` if it does not exist.
    private static func lock(_ place: String, named path: String) throws(SessionStoreError) -> SystemFile? {
        if FileSystem.isAbsent(place) { return nil }
        guard let file = SystemFile(place, isWritable: true) else {
            throw SessionStoreError(.databaseUnavailable, path, "the file cannot be opened; check its permissions")
        }
        do {
            try file.lockExclusively()
            return file
        } catch let failure as StoreFailure where failure.kind == .busy {
            throw SessionStoreError(
                .databaseBusy, path,
                advice: "another process has the database open; nothing was changed. "
                    + "Stop it\(command: " ('crumb serve' too)"), then restore again")
        } catch {
            throw SessionStoreError(.databaseUnavailable, path, "the file cannot be locked; check its permissions")
        }
    }

    private static func notRestored(_ path: String, _ failure: Int32) -> SessionStoreError {
        if failure == ENOSPC {
            return SessionStoreError(
                .diskFull, path, "the disk is full; nothing was changed. Free some space and try again")
        }
        if failure == EEXIST {
            return SessionStoreError(
                .fileExists, path,
                advice: "the database already exists\(command: "; use --force to replace it with the backup")")
        }
        return SessionStoreError(
            .fileNotWritten, path, "the database cannot be written: \(SystemError(failure).message(creating: path))")
    }
}
