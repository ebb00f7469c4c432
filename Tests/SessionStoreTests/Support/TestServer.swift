import CookieModel
import Foundation
import Synchronization
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

/// The PostgreSQL server that `CRUMB_TEST_POSTGRESQL` names, such as `postgresql://postgres@127.0.0.1:5432`: the suites
/// of the store run there in the place of SQLite, each database of a test a database of the server.
final class TestServer: Sendable {
    /// The server; `nil` if the tests are to run on SQLite.
    static let shared = ProcessInfo.processInfo.environment["CRUMB_TEST_POSTGRESQL"].map(TestServer.init)

    /// The URL of a pooler in transaction mode before that server.
    static let pooler = ProcessInfo.processInfo.environment["CRUMB_TEST_POOLER"]

    private struct Entry {
        let name: String
        weak var database: SessionDatabase?
    }

    private struct State {
        var count = 0
        /// The databases without a path, which are opened only once.
        var entries: [Entry] = []
    }

    private let url: String
    private let state = Mutex(State())
    /// The databases with a path, which may be opened again: by others only once they are made.
    private let names = Mutex<[String: String]>([:])

    private init(_ url: String) {
        self.url = url
    }

    /// Where a database of the server is.
    func target(_ name: String) throws -> PostgreSQLTarget {
        try PostgreSQLTarget("\(url)/\(name)", timeout: 20)
    }

    /// The same behind another server that comes first, and that accepts connections at a port of this machine.
    func target(_ name: String, behind port: UInt16) throws -> PostgreSQLTarget {
        let places = "@127.0.0.1:\(port),"
        return try PostgreSQLTarget(url.replacing("@", with: places, maxReplacements: 1) + "/\(name)", timeout: 4)
    }

    /// The database that a test means by a path, or a new one.
    func database(
        _ path: String?, keys: KeySource, lastAccessGranularity: Int64, journalLimit: Int, now: Timestamp
    ) throws -> SessionDatabase {
        let name = try path.map(name) ?? newDatabase()
        let database = try open(
            target(name), keys: keys, lastAccessGranularity: lastAccessGranularity, journalLimit: journalLimit, now: now
        )
        if path == nil { state.withLock { $0.entries.append(Entry(name: name, database: database)) } }
        return database
    }

    /// A database that has a schema, opened as each service does.
    ///
    /// - Parameter keys: where the sealing key comes from; `nil` for the one of most tests.
    func open(
        _ target: PostgreSQLTarget, isFenced: Bool = false, keys: KeySource? = nil, lastAccessGranularity: Int64 = 3600,
        journalLimit: Int = SessionDatabase.defaultJournalLimit, now: Timestamp = Given.now
    ) throws -> SessionDatabase {
        try SessionDatabase(
            PostgreSQLDatabase(target, isFenced: isFenced), name: target.name, keys: keys ?? .key(try Given.key()),
            lastAccessGranularity: lastAccessGranularity, journalLimit: journalLimit, now: now)
    }

    private func name(_ path: String) throws -> String {
        try names.withLock { names in
            let name = try names[path] ?? newDatabase()
            names[path] = name
            return name
        }
    }

    /// Makes a database with a schema.
    func newDatabase() throws -> String {
        let (name, gone) = state.withLock { state in
            state.count += 1
            let gone = state.entries.filter { $0.database == nil }.map(\.name)
            state.entries.removeAll { $0.database == nil }
            let name = "crumb_\(ProcessInfo.processInfo.processIdentifier)_\(state.count)"
            return (name, gone)
        }
        let session = try PostgreSQLSession(try target("postgres"))
        for old in gone {
            try session.enqueue("DROP DATABASE \(old) WITH (FORCE)")
            try session.synchronize()
        }
        try session.enqueue("CREATE DATABASE \(name)")
        try session.synchronize()
        try PostgreSQLSchema(try target(name)).upgrade()
        return name
    }
}

/// A new database of the server, which services share.
struct SharedDatabase {
    private let server: TestServer
    private let name: String

    init() throws {
        server = try #require(TestServer.shared)
        name = try server.newDatabase()
    }

    /// The database as one more service opens it.
    func open(lastAccessGranularity: Int64 = 3600) throws -> SessionDatabase {
        try server.open(server.target(name), lastAccessGranularity: lastAccessGranularity)
    }
}

extension Trait where Self == ConditionTrait {
    /// For what only a server has.
    static var onlyOnServer: Self {
        .enabled(if: TestServer.shared != nil, "CRUMB_TEST_POSTGRESQL names no server")
    }

    /// For what a server does not have.
    static func onlyOnSQLite(_ reason: Comment) -> Self {
        .enabled(if: TestServer.shared == nil, reason)
    }
}
