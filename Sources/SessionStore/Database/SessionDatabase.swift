public import CookieModel
internal import SQLiteEngine
@_exported public import StoreEngine

/// One SQLite file with jars and tokens in it, shared safely by any number of threads and processes.
///
/// Values are sealed (``KeySource``); the file, its folder and its key are readable by their owner alone. Every call is
/// synchronous and short: a read looks at the rows of one site, a write is one transaction.
public final class SessionDatabase: Sendable {
    /// Where the file lies; `:memory:` for a database in memory.
    public let path: String
    let engine: Engine
    let keyRing: KeyRing
    let memory: WriterMemory
    let writer: any JarWriter
    let cache = SiteCache()
    let jarCache = JarCache()
    let rejections = RejectionMemory()
    let serviceTokenCache = ServiceTokenCache()
    /// The queue of questions to a server; `nil` for a file, whose version is in memory.
    let committedStates: CommittedStateQueue?
    let lastAccessGranularity: Int64
    /// How many entries of a jar's journal stay when cookies are stored, and when old ones are pruned. A tenth more are
    /// there at most.
    public let journalLimit: Int

    /// Opens a database, creating it if necessary.
    ///
    /// - Parameters:
    ///   - path: the file. Its folder is made where it is missing.
    ///   - keys: where the sealing key comes from.
    ///   - durability: what an acknowledged write survives.
    ///   - busyTimeout: how many seconds to wait for another process before giving up.
    ///   - lastAccessGranularity: how many seconds a cookie's last-access-time in the file may be behind, so that
    ///     reading seldom means writing. Only the order of eviction depends on it.
    ///   - journalLimit: how many entries of a jar's journal are kept.
    ///   - now: the time, written into what is made.
    /// - Throws: an error that names the file. A file that is no database, one of another program and one of a newer
    ///   version are refused untouched.
    public convenience init(
        path: String, keys: KeySource, durability: Durability = .normal, busyTimeout: Double = 10,
        lastAccessGranularity: Int64 = 3600, journalLimit: Int = defaultJournalLimit, now: Timestamp
    ) throws(SessionStoreError) {
        try self.init(
            path: path, keys: keys, durability: durability, busyTimeout: busyTimeout,
            lastAccessGranularity: lastAccessGranularity, journalLimit: journalLimit, fileClock: FilePlaces.Clock(),
            now: now)
    }

    /// The same, with the clock by which the file is looked after.
    init(
        path: String, keys: KeySource, durability: Durability, busyTimeout: Double, lastAccessGranularity: Int64,
        journalLimit: Int = defaultJournalLimit, fileClock: FilePlaces.Clock, now: Timestamp
    ) throws(SessionStoreError) {
        self.path = durability == .memory ? ":memory:" : path
        self.lastAccessGranularity = lastAccessGranularity
        self.journalLimit = max(1, journalLimit)
        let name = self.path
        let engine = try SessionStoreError.catching(name) {
            try Engine(
                path: durability == .memory ? nil : path, waitsForDisk: durability == .full, busyTimeout: busyTimeout,
                clock: fileClock)
        }
        self.engine = engine
        keyRing = try SessionStoreError.catching(name) {
            try KeyRing(engine, source: keys, path: name, now: now)
        }
        memory = WriterMemory(keyRing)
        writer = FileWriter(memory: memory)
        committedStates = nil
    }

    /// Opens a database on a server, which has a schema already.
    ///
    /// - Parameters:
    ///   - server: the server's engine.
    ///   - name: what errors call the database.
    ///   - keys: where the sealing key comes from; none is made.
    ///   - journalLimit: how many entries of a jar's journal are kept.
    package init(
        _ server: any ServedDatabase, name: String, keys: KeySource, lastAccessGranularity: Int64 = 3600,
        journalLimit: Int = defaultJournalLimit, now: Timestamp
    ) throws(SessionStoreError) {
        path = name
        self.lastAccessGranularity = lastAccessGranularity
        self.journalLimit = max(1, journalLimit)
        let engine = Engine.served(server)
        self.engine = engine
        keyRing = try SessionStoreError.catching(name) {
            try KeyRing(engine, source: keys, path: name, now: now)
        }
        memory = WriterMemory(keyRing)
        writer = ServedWriter()
        committedStates = CommittedStateQueue(engine, path: name)
    }

    deinit {
        cache.close()
        jarCache.close()
        serviceTokenCache.close()
    }

    /// Seals values under the newest key that this object knows of, and opens those of older ones too.
    var sealer: Sealer { keyRing.sealer }
}

extension SessionDatabase {
    /// Runs statements that change nothing, in one transaction; a second time where the key was rotated meanwhile, so
    /// that what `body` returns can be opened.
    func read<Result>(_ body: (Connection) throws -> Result) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(path) {
            while true {
                let (result, isRenewed) = try engine.read { connection in
                    let result = Swift.Result { try body(connection) }
                    return (result, try keyRing.renew(connection))
                }
                if !isRenewed { return try result.get() }
            }
        }
    }

    /// Runs one transaction that holds the write lock from its first statement on, or a part of one that other threads
    /// write at the same time: all of it is there, or nothing. Seals under the newest key.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction changes meanwhile.
    ///   - isRepeatable: whether `body` may run again, since it changes nothing but the database: after a deadlock on a
    ///     server. If `false`, it runs once at most, and such a transaction fails as busy.
    ///   - queries: what `body` asks first, which a server answers beforehand.
    func write<Result>(
        _ lock: WriteLock = .database, isRepeatable: Bool = true, foreseeing queries: [ForeseenQuery] = [],
        _ body: (Connection) throws -> Result
    ) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(path) {
            var result: Result?
            try engine.write(lock, isRepeatable: isRepeatable, memory, foreseeing: queries) {
                result = try body($0)
            }
            guard let result else { throw SessionStoreError(.databaseFailed, path, "the transaction did not run") }
            return result
        }
    }

    /// Runs one transaction of a server in one round trip, if what its caller takes for granted is so.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction changes meanwhile.
    ///   - isPatient: whether to wait for other transactions that have a lock.
    ///   - assumptions: what `body` relies on, the key that seals included.
    /// - Returns: the result of `body`; `nil` if nothing is there, so that ``write(_:isRepeatable:foreseeing:_:)`` may try
    ///   without assumptions.
    func writeAtOnce<Result>(
        _ lock: WriteLock, isPatient: Bool, assuming assumptions: [Assumption],
        _ body: (Connection) throws -> Result
    ) throws(SessionStoreError) -> Result? {
        try SessionStoreError.catching(path) {
            try engine.writeAtOnce(lock, isPatient: isPatient, assuming: assumptions, body)
        }
    }

    /// Runs one transaction if the write lock is free; does not wait for it.
    func writeUnlessBusy(
        _ lock: WriteLock, _ body: (Connection) throws -> Void
    ) throws(SessionStoreError) {
        try SessionStoreError.catching(path) { try engine.writeAlone(lock, isPatient: false, body) }
    }
}

/// The failures that a database survives.
public enum Durability: String, Sendable, CaseIterable {
    /// An acknowledged write survives power loss: every commit waits for the disk.
    case full
    /// An acknowledged write survives a crash of the process; after power loss the database is whole, but the last
    /// commits may be missing. The default.
    case normal
    /// Nothing survives: the database lives in memory. The path is not used.
    case memory
}
