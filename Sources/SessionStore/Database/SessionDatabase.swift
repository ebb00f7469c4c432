public import CookieModel
internal import Platform
internal import SQLiteEngine
@_exported public import StoreEngine

/// One SQLite file with jars and tokens. Any number of threads and processes can share it safely.
///
/// ```swift
/// let database = try await SessionDatabase.open(path: "app.sqlite", keys: .file("app.key"))
/// let jar = try await database.jar()
/// ```
///
/// Values are sealed (``KeySource``); only their owner can read the file, its folder and its key. A read uses the rows of
/// one site, a write is one transaction. A call that depends on the time takes it from ``clock``, unless its caller passes
/// another.
///
/// A synchronous call may wait for other processes, up to the `busyTimeout`. In a program with tasks, use the `async`
/// calls, such as ``CookieJar/receive(_:at:)``, and for all others ``reading(_:)`` and ``writing(_:)``: they wait on
/// threads of the store.
public final class SessionDatabase: Sendable {
    /// The path of the file; `:memory:` for a database in memory.
    public let path: String
    /// The clock of calls without a time.
    public let clock: StoreClock
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
    /// The threads for calls that read, for reading the cookies of one site, and for calls that may wait for a lock.
    let readers: any BlockingExecutor
    let siteReaders: any BlockingExecutor
    let writers: any BlockingExecutor
    /// The writes to a file that may share a transaction; `nil` for a server, which runs transactions side by side.
    let sharedWrites: SharedWrites?
    /// How many entries of a jar's journal are kept when cookies are stored and when old entries are pruned. At most a
    /// tenth more exist.
    package let journalLimit: Int

    /// Opens a database, creating it if necessary.
    ///
    /// - Parameters:
    ///   - path: the file. Its folder is created if it is missing. For a database in memory, see ``inMemory(clock:)``.
    ///   - keys: the source of the sealing key.
    ///   - durability: what an acknowledged write survives.
    ///   - busyTimeout: how many seconds to wait for another process before giving up.
    ///   - lastAccessGranularity: how many seconds a cookie's last-access-time in the file may be outdated, so that
    ///     reads rarely write. Only the order of eviction depends on it.
    ///   - journalLimit: how many entries of a jar's journal are kept.
    ///   - clock: the clock of calls without a time.
    ///   - now: the current time, which is stored with created objects; `nil` for that of the clock.
    /// - Throws: an error that names the file. A file that is not a database, or belongs to another program or a newer
    ///   version, is rejected and not changed.
    public convenience init(
        path: String, keys: KeySource, durability: Durability = .normal, busyTimeout: Double = 10,
        lastAccessGranularity: Int64 = 3600, journalLimit: Int = defaultJournalLimit, clock: StoreClock = .system,
        now: Timestamp? = nil
    ) throws(SessionStoreError) {
        try self.init(
            path: path, keys: keys, durability: durability, busyTimeout: busyTimeout,
            lastAccessGranularity: lastAccessGranularity, journalLimit: journalLimit, clock: clock,
            fileClock: FilePlaces.Clock(), now: now ?? clock.now)
    }

    /// The same, with the clock for checks that the file is still at its path.
    init(
        path: String, keys: KeySource, durability: Durability, busyTimeout: Double, lastAccessGranularity: Int64,
        journalLimit: Int = defaultJournalLimit, clock: StoreClock = .system, fileClock: FilePlaces.Clock,
        now: Timestamp
    ) throws(SessionStoreError) {
        if durability != .memory { try SessionDatabase.checkIsFile(path) }
        self.path = durability == .memory ? ":memory:" : path
        self.clock = clock
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
        // The writers of a file exclude each other anyway.
        readers = WorkerLane(on: .shared)
        siteReaders = WorkerThreads.shared
        let lane = WorkerLane(on: .patient)
        writers = lane
        sharedWrites = SharedWrites(engine, memory, path: self.path, on: lane)
        committedStates = nil
    }

    /// Opens a database on a server, which must have a schema.
    ///
    /// - Parameters:
    ///   - server: the server's engine.
    ///   - name: the name of the database in errors.
    ///   - keys: the source of the sealing key. No key is created.
    ///   - journalLimit: how many entries of a jar's journal are kept.
    ///   - clock: the clock of calls without a time.
    package init(
        _ server: any ServedDatabase, name: String, keys: KeySource, lastAccessGranularity: Int64 = 3600,
        journalLimit: Int = defaultJournalLimit, clock: StoreClock = .system, now: Timestamp
    ) throws(SessionStoreError) {
        path = name
        self.clock = clock
        self.lastAccessGranularity = lastAccessGranularity
        self.journalLimit = max(1, journalLimit)
        let engine = Engine.served(server)
        self.engine = engine
        keyRing = try SessionStoreError.catching(name) {
            try KeyRing(engine, source: keys, path: name, now: now)
        }
        memory = WriterMemory(keyRing)
        writer = ServedWriter()
        readers = WorkerThreads.servedReaders
        siteReaders = WorkerThreads.servedReaders
        writers = WorkerThreads.servedWriters
        sharedWrites = nil
        committedStates = CommittedStateQueue(engine, path: name)
    }

    deinit {
        cache.close()
        jarCache.close()
        serviceTokenCache.close()
    }

    /// Seals values under the newest key that this object has loaded, and opens those of older keys, too.
    package var sealer: Sealer { keyRing.sealer }
}

extension SessionDatabase {
    /// Opens a database in memory: without a file and without a key. It ends with this object.
    ///
    /// - Parameter clock: the clock of calls without a time.
    public static func inMemory(clock: StoreClock = .system) throws(SessionStoreError) -> SessionDatabase {
        try SessionDatabase(path: ":memory:", keys: .key(SealingKey()), durability: .memory, clock: clock)
    }

    /// Whether a path is one of SQLite's names for a database in memory. Here, it would be the name of a file.
    package static func isNameOfMemory(_ path: String) -> Bool {
        path == ":memory:" || path.hasPrefix("file::memory:")
    }

    private static func checkIsFile(_ path: String) throws(SessionStoreError) {
        guard isNameOfMemory(path) else { return }
        throw SessionStoreError(
            .databaseUnavailable, "path '\(path)'",
            "would be a file in the current folder, although SQLite uses this name for a database in memory; open one "
                + "with SessionDatabase.inMemory(), or name the file './\(path)'")
    }

    /// Runs statements that only read, in one transaction. Runs `body` a second time if the key was rotated meanwhile,
    /// so that the values that it returns can be opened.
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
    /// share. All of it is stored, or nothing. Seals under the newest key.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction can change at the same time.
    ///   - isRepeatable: whether `body` may run again after a deadlock on a server, because it changes nothing but the
    ///     database. If `false`, it runs at most once, and such a transaction fails as busy.
    ///   - queries: the queries that `body` runs first. A server answers them beforehand.
    func write<Result>(
        _ lock: WriteLock = .database, isRepeatable: Bool = true, prefetching queries: [ForeseenQuery] = [],
        _ body: (Connection) throws -> Result
    ) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(path) {
            var result: Result?
            try engine.write(lock, isRepeatable: isRepeatable, memory, prefetching: queries) {
                result = try body($0)
            }
            guard let result else { throw SessionStoreError(.databaseFailed, path, "the transaction did not run") }
            return result
        }
    }

    /// Runs one transaction of a server in one round trip, if the caller's assumptions are true.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction can change at the same time.
    ///   - isPatient: whether to wait for other transactions that hold a lock.
    ///   - assumptions: what `body` relies on, including the sealing key.
    /// - Returns: the result of `body`; `nil` if nothing was stored; then try ``write(_:isRepeatable:prefetching:_:)``,
    ///   without assumptions.
    func writeOptimistically<Result>(
        _ lock: WriteLock, isPatient: Bool, assuming assumptions: [Assumption],
        _ body: (Connection) throws -> Result
    ) throws(SessionStoreError) -> Result? {
        try SessionStoreError.catching(path) {
            try engine.writeOptimistically(lock, isPatient: isPatient, assuming: assumptions, body)
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
    /// An acknowledged write survives a crash of the process; after power loss the database is intact, but the last
    /// commits may be missing. The default.
    case normal
    /// Nothing survives: the database lives in memory. The path is not used.
    case memory
}
