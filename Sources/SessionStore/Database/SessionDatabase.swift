public import CookieModel
internal import GRDB

/// One SQLite file with jars and tokens in it, shared safely by any number of threads and processes.
///
/// Values are sealed (``KeySource``); the file, its folder and its key are readable by their owner alone. Every call is
/// synchronous and short: a read looks at the rows of one site, a write is one transaction.
public final class SessionDatabase: Sendable {
    /// Marks the file as ours: "Crmb" in the header's application id.
    static let applicationID: UInt32 = 0x4372_6D62

    /// Where the file lies; `:memory:` for a database in memory.
    public let path: String
    let queue: DatabaseQueue
    let commits = CommitGroup()
    let cache = SiteCache()
    let jarCache = JarCache()
    let serviceTokenCache = ServiceTokenCache()
    let isOnDisk: Bool
    let keyRing: KeyRing
    let file: OpenFile
    let busyTimeout: Double
    let lastAccessGranularity: Int64

    /// Opens a database, making it where there is none.
    ///
    /// - Parameters:
    ///   - path: the file. Its folder is made where it is missing.
    ///   - keys: where the sealing key comes from.
    ///   - durability: what an acknowledged write survives.
    ///   - busyTimeout: how many seconds to wait for another process before giving up.
    ///   - lastAccessGranularity: how many seconds a cookie's last-access-time in the file may be behind, so that
    ///     reading seldom means writing. Only the order of eviction depends on it.
    ///   - now: the time, written into what is made.
    /// - Throws: an error that names the file. A file that is no database, one of another program and one of a newer
    ///   version are refused untouched.
    public convenience init(
        path: String, keys: KeySource, durability: Durability = .normal, busyTimeout: Double = 10,
        lastAccessGranularity: Int64 = 3600, now: Timestamp
    ) throws(SessionStoreError) {
        try self.init(
            path: path, keys: keys, durability: durability, busyTimeout: busyTimeout,
            lastAccessGranularity: lastAccessGranularity, fileClock: FilePlaces.Clock(), now: now)
    }

    /// The same, with the clock by which the file is looked after.
    init(
        path: String, keys: KeySource, durability: Durability, busyTimeout: Double, lastAccessGranularity: Int64,
        fileClock: FilePlaces.Clock, now: Timestamp
    ) throws(SessionStoreError) {
        let isMemory = durability == .memory
        isOnDisk = !isMemory
        self.path = isMemory ? ":memory:" : path
        self.busyTimeout = busyTimeout
        self.lastAccessGranularity = lastAccessGranularity
        let isOurs = isMemory ? true : try SessionDatabase.prepareFile(path)
        let configuration = SessionDatabase.configuration(durability, busyTimeout, isOurs: isOurs)
        let name = self.path
        let location = SessionDatabase.location(path)
        queue = try SessionStoreError.catching(name) {
            let queue =
                try isMemory
                ? DatabaseQueue(configuration: configuration)
                : DatabaseQueue(path: location, configuration: configuration)
            try SchemaMigrations.run(on: queue, path: name)
            return queue
        }
        let queue = queue
        file = try SessionStoreError.catching(name) {
            try queue.inDatabase { try OpenFile($0, path: name, clock: fileClock) }
        }
        keyRing = try SessionStoreError.catching(name) {
            try KeyRing(queue, source: keys, path: name, now: now)
        }
    }

    deinit {
        cache.close()
        jarCache.close()
        serviceTokenCache.close()
        commits.memory.statements.removeAll()
    }

    /// Seals values under the newest key that this object knows of, and opens those of older ones too.
    var sealer: Sealer { keyRing.sealer }

    /// The path as SQLite takes it: a relative `:memory:` or `file:…` would be something else than a file's name.
    static func location(_ path: String) -> String {
        path.hasPrefix("/") ? path : "./\(path)"
    }

    /// Checks that the file is ours or new, without SQLite, which would touch it.
    ///
    /// - Returns: whether it bears our mark and has its journal written ahead.
    private static func prepareFile(_ path: String) throws(SessionStoreError) -> Bool {
        if PrivateFile.isFolder(path) {
            throw SessionStoreError(.databaseUnavailable, path, "this is a folder; name a file")
        }
        if PrivateFile.isSpecial(path) {
            throw SessionStoreError(.databaseUnavailable, path, "this is no regular file; name one")
        }
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.create(path)
        guard failure == 0 else { throw SessionStoreError(opening: path, errno: failure) }
        let unreadable = PrivateFile.readingFailure(path)
        guard unreadable == 0 else { throw SessionStoreError(opening: path, errno: unreadable) }
        guard let header = DatabaseHeader(path) else {
            throw SessionStoreError(.databaseUnavailable, path, "the file cannot be read; check the disk")
        }
        guard !header.isEmpty else {
            // Somebody else's empty file becomes a database: it must be as private as one made here.
            let failure = (PrivateFile.permissions(path) ?? 0) & 0o077 == 0 ? 0 : PrivateFile.restrict(path)
            guard failure == 0 else { throw SessionStoreError(opening: path, errno: failure) }
            return false
        }
        guard header.isDatabase else {
            throw SessionStoreError(.databaseForeign, path, "this file is not a database; nothing was changed")
        }
        guard header.applicationID == applicationID else {
            throw SessionStoreError(
                .databaseForeign, path, "this is the database of another program; nothing was changed")
        }
        return header.hasWriteAheadLog
    }

    /// How many pages of log a transaction may leave: of so many, the log's index is one block, and no search in it
    /// takes longer; the more there are, the more often a page of the file is written once for many transactions.
    private static let checkpointPages = 4000

    private static func configuration(
        _ durability: Durability, _ busyTimeout: Double, isOurs: Bool
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "crumb"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            if !isOurs { try database.becomeOurs(applicationID: applicationID, busyTimeout: busyTimeout) }
            try database.execute(
                sql: """
                    PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL");
                    PRAGMA secure_delete = ON;
                    PRAGMA cache_size = -16000;
                    PRAGMA wal_autocheckpoint = \(checkpointPages);
                    """)
        }
        return configuration
    }
}

extension SessionStoreError {
    /// The file at `path` cannot be opened for the reason that `errno` gives.
    fileprivate init(opening path: String, errno failure: Int32) {
        if failure == PrivateFile.noSpace {
            self.init(.diskFull, path, "the disk is full; make room and try again")
        } else {
            self.init(.databaseUnavailable, path, "the file cannot be opened: \(PrivateFile.message(failure))")
        }
    }
}
