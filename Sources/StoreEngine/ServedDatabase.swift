package import WebPrimitives

/// An engine that is reached over the network. The store uses it through existentials: compared with a round trip, an
/// indirect call costs nothing.
///
/// Every call is synchronous, from any number of threads. Throws ``StoreFailure``.
package protocol ServedDatabase: AnyObject, Sendable {
    /// The name and version of the server's program, as text for users.
    var engineVersion: String { get }
    /// The newest migration that the schema has seen.
    var schemaVersion: String { get }
    /// The state of the server at this moment.
    func status() throws -> ServerStatus
    /// How much this program has used the server.
    var load: ServerLoad { get }

    /// Runs statements that only read. All of them see the same commit.
    func read<Result>(_ body: (any ServedConnection) throws -> Result) throws -> Result

    /// Runs one transaction: all of it is stored, or nothing.
    ///
    /// `body` runs after the lock was taken, so it sees everything that was committed before.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction can change at the same time.
    ///   - isPatient: whether to wait for another transaction that has the lock.
    ///   - isRepeatable: whether to retry the transaction, a few times at most, if the server rolled it back because of
    ///     a conflict. `body` must then change nothing but the database. If `false`, `body` runs at most once.
    ///   - queries: the queries that `body` runs first. They run in the round trip that takes the lock, after it.
    /// - Throws: a failure of the kind ``StoreFailure/Kind/unknownCommit`` if it is unknown whether the transaction was
    ///   committed.
    func write<Result>(
        _ lock: WriteLock, isPatient: Bool, isRepeatable: Bool, prefetching queries: [ForeseenQuery],
        _ body: (any ServedConnection) throws -> Result
    ) throws -> Result

    /// Runs one transaction in one round trip, if the caller's assumptions are true when the lock is taken.
    ///
    /// `body` runs before the lock is taken, and its statements wait for it. A statement whose rows it reads ends the
    /// first round trip.
    ///
    /// - Parameters:
    ///   - lock: what no other transaction can change at the same time.
    ///   - isPatient: whether to wait for another transaction that has the lock, or a part of it.
    ///   - assumptions: at least one.
    /// - Returns: the result of `body`; `nil` if nothing was stored, because an assumption was wrong, the lock was not
    ///   free, or another failure occurred that the same transaction meets again without assumptions.
    /// - Throws: a failure of the kind ``StoreFailure/Kind/unknownCommit`` if it is unknown whether the transaction was
    ///   committed; other failures if trying again would take long.
    func writeOptimistically<Result>(
        _ lock: WriteLock, isPatient: Bool, assuming assumptions: [Assumption],
        _ body: (any ServedConnection) throws -> Result
    ) throws -> Result?

    /// A connection for statements outside transactions.
    func makeReader() throws -> any ServedReader

    /// Whether statements need a heartbeat. They do in a service, whose timer calls ``commitHeartbeat()``.
    var isFenced: Bool { get }

    /// Commits a heartbeat, which only the primary can. It also shows whether transactions can be committed.
    func commitHeartbeat() throws
}

/// Whether a server may answer, as the function `fence` of its schema decides.
package enum FenceState: Int64, Sendable {
    case open = 0
    /// No heartbeat was committed recently: the server may have been replaced.
    case noHeartbeat = 1
    /// The server has just become the primary, and its predecessor may still answer reads.
    case newPrimary = 2

    /// Throws if the fence is closed.
    package func check(forWriting: Bool) throws(StoreFailure) {
        switch self {
        case .open: break
        case .newPrimary where !forWriting: break
        case .noHeartbeat, .newPrimary: throw StoreFailure(.fenced, code: reason)
        }
    }

    /// As part of a sentence.
    package var reason: String {
        switch self {
        case .open: "it is the primary"
        case .noHeartbeat: "no heartbeat was committed in the last 5 seconds"
        case .newPrimary: "it became the primary less than 5 seconds ago"
        }
    }
}

/// How a database is named: the path of a file, or the URL of a database on a server.
package enum DatabasePlace {
    /// Whether the name is a URL.
    package static func isServer(_ name: String) -> Bool {
        ["postgresql://", "postgres://"].contains { name.hasPrefix($0) }
    }
}

/// How much a program has used a database server, and how much it uses it now.
package struct ServerLoad: Sendable {
    /// How many transactions wait for a connection.
    package let waiting: Int
    /// How many connections run transactions.
    package let connections: Int
    /// How many write transactions were committed.
    package let commits: Int
    /// How often this program waited for an answer of the server, on any connection.
    package let roundTrips: Int
    /// How often a primary was found after the connection to the previous one was lost.
    package let failovers: Int

    package init(waiting: Int, connections: Int, commits: Int, roundTrips: Int, failovers: Int) {
        self.waiting = waiting
        self.connections = connections
        self.commits = commits
        self.roundTrips = roundTrips
        self.failovers = failovers
    }
}

/// The state of a database server at one moment.
package struct ServerStatus: Sendable {
    /// The name and version of the server's program.
    package let version: String
    /// The newest migration that the schema has seen.
    package let schema: String
    /// How many bytes the database takes.
    package let sizeInBytes: Int64
    /// The server's clock, in microseconds since 1970.
    package let time: Int64
    /// How many standbys have received every acknowledged commit.
    package let synchronousStandbys: Int
    /// Whether commits wait for a standby.
    package let waitsForStandby: Bool
    /// Whether the server may answer a service.
    package let fence: FenceState

    package init(
        version: String, schema: String, sizeInBytes: Int64, time: Int64, synchronousStandbys: Int,
        waitsForStandby: Bool, fence: FenceState = .open
    ) {
        self.version = version
        self.schema = schema
        self.sizeInBytes = sizeInBytes
        self.time = time
        self.synchronousStandbys = synchronousStandbys
        self.waitsForStandby = waitsForStandby
        self.fence = fence
    }

    /// How far the clocks of a service and its server may be apart, in microseconds.
    private static let clockTolerance: Int64 = 2_000_000

    /// The reasons not to send requests to a service now, each as part of a sentence.
    package func problems(at now: Timestamp) -> [String] {
        var problems: [String] = []
        if waitsForStandby, synchronousStandbys == 0 {
            problems.append("the database has no synchronous standby; commits wait until there is one")
        }
        if abs(time - now.microseconds) > ServerStatus.clockTolerance {
            problems.append("the database's clock is \(clockOffset(at: now)) this machine's; synchronize both")
        }
        return problems
    }

    /// How far the server's clock is ahead of this machine's, in milliseconds.
    package func clockLead(at now: Timestamp) -> Int64 { (time - now.microseconds) / 1000 }

    /// The same as text, such as `5 ms behind`.
    package func clockOffset(at now: Timestamp) -> String {
        let lead = clockLead(at: now)
        return "\(lead.magnitude) ms \(lead < 0 ? "behind" : "ahead of")"
    }
}

/// The lock that a transaction takes before its first statement. SQLite always locks the whole database.
package enum WriteLock: Sendable, Equatable {
    /// Everything: no other transaction writes. It waits for every transaction that writes, and those that begin later
    /// wait for this one. Only for rare operations.
    case database
    /// The tokens of all profiles, including profiles that are created meanwhile.
    case profiles
    /// All access tokens of the service.
    case accessTokens
    /// The rows that the transaction changes, each when a statement changes it.
    case changedRows
    /// One jar.
    case jar(Int64)
    /// Several jars.
    case jars([Int64])
    /// The tokens of one profile that exists.
    case profile(String)
}

/// A query with its parameters that runs before a caller needs its rows.
///
/// The next caller that runs the same query gets its rows without a round trip. If other statements came in between, or
/// the query differs, it runs as usual.
package struct ForeseenQuery {
    package let statement: String
    package let bind: (any ServedStatement) -> Void

    package init(_ statement: String, bind: @escaping (any ServedStatement) -> Void = { _ in }) {
        self.statement = statement
        self.bind = bind
    }
}

/// An assumption of a transaction: a condition in SQL with its parameters. A condition that is not known to be true
/// counts as wrong.
package struct Assumption {
    package let condition: String
    package let bind: (any ServedStatement) -> Void

    package init(_ condition: String, bind: @escaping (any ServedStatement) -> Void) {
        self.condition = condition
        self.bind = bind
    }
}

/// A connection of a ``ServedDatabase`` that one thread uses.
package protocol ServedConnection: AnyObject {
    /// The statement for `sql`, prepared once for each connection, reset and ready to be bound.
    func statement(_ sql: String) throws -> any ServedStatement

    /// Takes a further lock, until the transaction ends. The next statement sees what was committed before.
    func lock(_ lock: WriteLock) throws
}

/// A prepared statement of a ``ServedConnection`` or a ``ServedReader``.
package protocol ServedStatement: AnyObject, StoreStatement {}

extension ServedStatement {
    /// Binds numbers as the text of an array, which the statement casts: `?1::text::bigint[]`.
    package func bind(_ index: Int32, list numbers: [Int64]) {
        bind(index, text: "{\(numbers.map(String.init).joined(separator: ","))}")
    }
}

/// A connection that only reads, outside transactions. One thread at a time uses it.
package protocol ServedReader: AnyObject {
    /// A statement that lives as long as this connection.
    func prepare(_ sql: String) throws -> any ServedStatement
}
