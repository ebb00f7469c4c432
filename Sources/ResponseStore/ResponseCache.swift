import Platform
import SQLiteEngine
public import SessionStore
package import StoreEngine
import Synchronization
package import WebPrimitives

/// The limits of a cache.
public struct CacheLimits: Sendable, Hashable {
    /// How many octets all responses have.
    public var size: Int64 = 1 << 30
    /// How many octets the responses of one jar have.
    public var jarSize: Int64 = 1 << 29
    /// How many octets the body of one response has.
    package var bodySize: Int64 = 1 << 27
    /// The longest body that is stored in the index. Longer ones have a file.
    package var inlineSize = 1 << 14
    /// How many octets everything else of one response has: URL, fields and nominated values.
    package var headSize = 1 << 17
    /// How many groups one response is in.
    package var groups = 64
    /// How many responses there are for one URL and audience.
    package var variants = 16
    /// How many seconds nothing is stored after the disk was full.
    package var fullDiskPause: Int64 = 10

    /// The defaults.
    public init() {}
}

/// The HTTP responses that the jars of one database have stored, for one user of one machine.
///
/// Losing it loses nothing. So no failure reaches a client: a response that is damaged, busy or not readable is a miss,
/// and one that cannot be written is not stored. Many processes share a cache, and each may be killed at any moment.
///
/// The calls are synchronous and short, but they read and write files. Make them on a thread that may block, such as
/// that of a `NIOThreadPool`, and not on Swift's own threads.
///
/// A jar is named by octets that no later jar gets: its ID and not its name. An audience is what else separates
/// responses, such as whether a request carries credentials, its SameSite class and its partition. A response for one
/// jar and audience is never returned for others.
public final class ResponseCache: Sendable {
    package let folder: CacheFolder
    let limits: CacheLimits
    let files: BodyFiles
    private let sealer: @Sendable () -> Sealer
    private let cachedKeys: Mutex<CacheKeys>
    private let connection = Mutex(ConnectionState())
    /// Whether the index is open. Unlike ``connection``, it is never held while the index is being opened.
    private let isOpen = Atomic(false)
    let memory = Mutex(CacheMemory())

    /// The index as far as it is open.
    private struct ConnectionState {
        var index: ResponseIndex?
        /// Until when the index is not opened again, and nothing is stored.
        var pause: ContinuousClock.Instant?
        var lastFailure: SessionStoreError?
        var failureCount = 0
        /// Until when no response is expected to be stored, because one could not be.
        var doubt: ContinuousClock.Instant?

        mutating func add(_ failure: SessionStoreError, pause: Int64) {
            lastFailure = failure
            failureCount += 1
            if failure.code != .databaseBusy { doubt = .now + .seconds(pause) }
        }
    }

    /// The cache of the jars of `database`. The folder is created on first use.
    public convenience init(_ folder: CacheFolder, of database: SessionDatabase, limits: CacheLimits = CacheLimits()) {
        self.init(folder, limits: limits) { database.sealer }
    }

    /// The cache of the jars of `database` in the platform's folder for caches.
    ///
    /// - Parameter environment: The value of a variable of the environment.
    /// - Returns: `nil` if the environment does not tell that folder, or if the database is in memory.
    package convenience init?(
        of database: SessionDatabase, limits: CacheLimits = CacheLimits(), environment: (String) -> String?
    ) {
        guard let folder = CacheFolder(database: database.path, environment: environment) else { return nil }
        self.init(folder, of: database, limits: limits)
    }

    /// - Parameter sealer: Returns the current keys of the jars' database.
    package init(_ folder: CacheFolder, limits: CacheLimits, sealer: @escaping @Sendable () -> Sealer) {
        self.folder = folder
        self.limits = limits
        self.sealer = sealer
        files = BodyFiles(in: folder.path)
        cachedKeys = Mutex(CacheKeys(sealer()))
    }

    /// The current keys. Deriving them takes longer than a lookup, so they are kept until the sealer changes.
    var keys: CacheKeys {
        let sealer = sealer()
        return cachedKeys.withLock { keys in
            if !keys.sealer.hasSameKeys(as: sealer) { keys = CacheKeys(sealer) }
            return keys
        }
    }

    /// Whether the index is open, and nothing waits to be written. Then ``candidates(for:jar:audience:now:)``, and
    /// ``body(of:range:)`` of a response without a file, wait for nothing but the pages of the index, which are mostly in
    /// memory.
    package var isReady: Bool {
        isOpen.load(ordering: .relaxed) && memory.withLock { $0.invalidations.isEmpty }
    }

    /// The last failure of any call; `nil` if there was none.
    package var lastFailure: SessionStoreError? { connection.withLock { $0.lastFailure } }

    /// How many calls have failed.
    package var failureCount: Int { connection.withLock { $0.failureCount } }

    // MARK: - The index

    /// Runs `body` with the connection for lookups; `nil` if it fails.
    func read<Result: Sendable>(
        fromMemory isFromMemory: Bool = false, _ body: @Sendable (inout IndexReader) throws -> Result
    ) -> Result? {
        withIndex { try $0.read(fromMemory: isFromMemory, body) } ?? nil
    }

    /// Runs `body` in a transaction that only reads, for listings; `nil` if it fails.
    func readAll<Result>(_ body: (SQLiteConnection) throws -> Result) -> Result? {
        withIndex { try $0.database.read(body) }
    }

    /// Runs `body` in a transaction. Removes the files of the rows that it removes afterwards.
    ///
    /// - Returns: `nil` if it fails, for example because another process is writing.
    func write<Result>(_ body: (inout IndexWriter) throws -> Result) -> Result? {
        let done = withIndex { index in
            try index.database.writeAlone { connection in
                var writer = IndexWriter(connection)
                return (try body(&writer), writer.removedFiles)
            }
        }
        done?.1.forEach(files.remove)
        return done?.0
    }

    /// Gives the room of removed rows back to the file system, unless another process uses the index.
    func compact() {
        withIndex { index in
            try index.database.compact()
            _ = try index.database.emptyLog()
        }
    }

    @discardableResult
    private func withIndex<Result>(_ body: (ResponseIndex) throws -> Result) -> Result? {
        guard let index = openIndex() else { return nil }
        do throws(SessionStoreError) {
            return try SessionStoreError.catching(folder.index) { try body(index) }
        } catch {
            note(error, index)
            return nil
        }
    }

    private func openIndex() -> ResponseIndex? {
        connection.withLock { state in
            if let index = state.index { return index }
            guard state.pause.map({ $0 <= .now }) ?? true else { return nil }
            let found = FileIdentity(folder.index)
            do throws(SessionStoreError) {
                state.index = try SessionStoreError.catching(folder.index) { try ResponseIndex(folder.index) }
                state.pause = nil
                isOpen.store(true, ordering: .relaxed)
            } catch {
                state.add(explained(error), pause: limits.fullDiskPause)
                state.pause = .now + .seconds(1)
                removeIndex(found, after: error)
            }
            return state.index
        }
    }

    /// Whether responses are stored now. They are not for some seconds after the disk was full.
    var isPaused: Bool { connection.withLock { $0.pause.map { $0 > .now } ?? false } }

    /// Whether nothing is known that would keep a response of some octets from being stored.
    func expectsToStore(_ octets: Int64) -> Bool {
        connection.withLock { $0.doubt.map { $0 <= .now } ?? true } && folder.obstacle(to: octets) == nil
    }

    /// The cause of a failure that the state of the folder shows: an error only names what could not be done.
    private func explained(_ error: SessionStoreError) -> SessionStoreError {
        switch error.code {
        case .databaseBusy, .databaseDamaged, .databaseForeign: error
        default: folder.obstacle ?? error
        }
    }

    /// Notes a failure, so that the next call does better.
    func note(_ error: SessionStoreError, _ index: ResponseIndex? = nil) {
        connection.withLock { state in
            state.add(explained(error), pause: limits.fullDiskPause)
            if error.code == .diskFull { state.pause = .now + .seconds(limits.fullDiskPause) }
            guard let index, state.index === index, error.code != .diskFull, error.code != .databaseBusy
            else { return }
            // Opened again by the next call: the folder may have been emptied.
            state.index = nil
            isOpen.store(false, ordering: .relaxed)
            removeIndex(index.identity, after: error)
        }
    }

    /// Removes the file of a damaged index, unless another process has put a new one there. Files with bodies are swept
    /// later.
    private func removeIndex(_ identity: FileIdentity?, after error: SessionStoreError) {
        guard error.code == .databaseDamaged || error.code == .databaseForeign, let identity,
            FileIdentity(folder.index) == identity
        else { return }
        DatabaseFile.remove(folder.index)
    }
}

extension CookieJar {
    /// What a cache calls the jar: no later jar gets this name.
    package var cacheName: Octets { Octets(String(id)) }
}

/// What a cache remembers between calls. Losing it loses nothing but ``invalidations``.
struct CacheMemory {
    typealias Change = @Sendable (inout IndexWriter, CacheKeys) throws -> Void

    /// The invalidations that could not be written yet. Until they are, every lookup is a miss.
    var invalidations: [(number: Int, run: Change)] = []
    /// How many there were.
    var invalidationCount = 0
    /// What was noted and is not written yet.
    var notes = CacheNotes()
    /// How many responses were stored.
    var storedCount = 0
    /// What the next maintenance looks at.
    var shard = Int.random(in: 0..<BodyFiles.shardCount)
    var resealedID: Int64 = 0
    var resealedKeyID: UInt32?
}
