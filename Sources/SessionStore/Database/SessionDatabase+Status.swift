internal import Dispatch
import Platform

extension SessionDatabase {
    /// The version of SQLite that the program runs on.
    public static var sqliteVersion: String { Engine.sqliteVersion }

    /// The newest migration that the schema has seen: this version's own, since older ones are brought up to date.
    public var schemaVersion: String { engine.schemaVersion }

    /// The state of the server that the database is on; `nil` for a file.
    package func serverStatus() throws(SessionStoreError) -> ServerStatus? {
        guard case .served(let database) = engine else { return nil }
        return try SessionStoreError.catching(path) { try database.status() }
    }

    /// Commits a heartbeat at once and then with each interval, until the task is cancelled: a service that has a fenced
    /// server reads and writes nothing without one. Does nothing for a file.
    ///
    /// - Parameters:
    ///   - clock: what the interval is measured with.
    ///   - note: is called with each outcome, on a thread that may block.
    package func keepBeating(
        every interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock(),
        _ note: @escaping @Sendable (SessionStoreError?) -> Void
    ) async throws {
        guard case .served = engine else { return }
        let thread = DispatchQueue(label: "crumb.heartbeat")
        while true {
            await withCheckedContinuation { continuation in
                thread.async { [self] in
                    do throws(SessionStoreError) {
                        try beat()
                        note(nil)
                    } catch {
                        note(error)
                    }
                    continuation.resume()
                }
            }
            try await clock.sleep(for: interval)
        }
    }

    /// Whether the database is on a server, which services of other machines may use too.
    package var isOnServer: Bool {
        guard case .served = engine else { return false }
        return true
    }

    /// Commits one heartbeat on a server.
    package func beat() throws(SessionStoreError) {
        guard case .served(let database) = engine else { return }
        try SessionStoreError.catching(path) { try database.beat() }
    }

    /// How many bytes the file takes on disk, its write-ahead log included; 0 in memory.
    public var sizeInBytes: Int64 {
        [path, path + "-wal"].reduce(0) { $0 + (FileSystem.size($1) ?? 0) }
    }

    /// Whether there is a file at `path`, of whatever kind; true also where that cannot be found out, so that opening
    /// it tells why.
    public static func exists(at path: String) -> Bool {
        !FileSystem.isAbsent(path)
    }

    /// Whether there is a Crumb database at `path`.
    package static func isDatabase(at path: String) -> Bool {
        FileSystem.isRegular(path) && (try? Engine.isOurs(file: path)) == true
    }

    /// Whether both paths lead to the same file.
    public static func isSameFile(_ left: String, _ right: String) -> Bool {
        FileSystem.isSame(left, right)
    }
}

extension SessionDatabase {
    /// The results of writes since the database was opened here.
    package struct WriteLoad: Sendable {
        /// How many writers wait at present.
        package let waiting: Int
        /// How many transactions were committed.
        package let commits: Int
        /// How many writes that was: several that wait share a commit.
        package let writers: Int
    }

    /// How much this object has to write.
    package var writeLoad: WriteLoad {
        let (waiting, commits, writers) = engine.load
        return WriteLoad(waiting: waiting, commits: commits, writers: writers)
    }

    /// How much this object has used a server; `nil` for a file.
    package var serverLoad: ServerLoad? {
        guard case .served(let database) = engine else { return nil }
        return database.load
    }

    /// How many requests have asked a server what is committed, and with how many statements: those that wait share one.
    /// `nil` for a file.
    package var committedStateLoad: (requests: Int, statements: Int)? {
        committedStates.map { ($0.requestCount, $0.statementCount) }
    }
}

extension SessionDatabase {
    /// How much room a transaction of a few cookies may take in the write-ahead log, and some more.
    private static let neededRoom: Int64 = 64 << 10

    /// Checks that the disk has room for a small transaction. Looks at the file system, and writes nothing.
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

    /// Checks that a transaction can be committed, by one that writes a page and changes nothing.
    package func checkWriting() throws(SessionStoreError) {
        try SessionStoreError.catching(path) { try engine.checkWriting(memory) }
    }
}
