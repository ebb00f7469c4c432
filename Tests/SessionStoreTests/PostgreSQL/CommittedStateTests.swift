import CookieModel
import Dispatch
import OAuth2
import Platform
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "What a server has committed when a request arrives",
    .onlyOnServer)
struct CommittedStateTests {
    private let server: TestServer
    private let name: String

    init() throws {
        server = try #require(TestServer.shared)
        name = try server.newDatabase()
    }

    private func database(isFenced: Bool = false) throws -> SessionDatabase {
        try server.open(server.target(name), isFenced: isFenced)
    }

    /// The Cookie field of a request that arrives now, as a service answers it.
    private func header(_ database: SessionDatabase, jar name: String = "default") async throws -> String? {
        let state: CommittedState = try #require(try await database.committedState(ofJar: name))
        return try database.existingJar(named: name, policy: CookiePolicy(), in: state)?.header()
    }

    private func endConnections() throws {
        let session = try PostgreSQLSession(try server.target("postgres"))
        try session.enqueue("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        try session.synchronize()
    }

    @Test("Transactions that wait for locks keep no read waiting")
    func reads() async throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        let mayEnd = DispatchSemaphore(value: 0)
        // More than there are threads for transactions.
        for _ in 0..<20 { database.writers.add { mayEnd.wait() } }
        defer { for _ in 0..<20 { mayEnd.signal() } }
        #expect(try await database.reading { try jar.cookies().readable.count } == 1)
        #expect(try await jar.retrieve(for: Given.context(), at: Given.now).included.count == 1)
    }

    @Test("Few statements answer many requests for the committed state")
    func sharing() async throws {
        let database = try database()
        try database.jar(now: Given.now).receive("a=1; Path=/")
        // The first two read the site.
        for _ in 0..<2 { #expect(try await header(database) == "a=1") }
        let queue = try #require(database.committedStates)
        let before = queue.statementCount
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<1000 { group.addTask { try await header(database) } }
            for try await found in group { #expect(found == "a=1") }
        }
        #expect(queue.statementCount - before < 500)
    }

    @Test("The committed state needs no other round trip while nothing changes")
    func roundTrips() async throws {
        let database = try database()
        try database.jar(now: Given.now).receive("a=1; Path=/")
        var generator = SystemRandomNumberGenerator()
        let token = try database.serviceTokens.create(
            named: "app", grant: .everything, now: Given.now, using: &generator)
        for _ in 0..<2 { #expect(try await header(database) == "a=1") }
        let state = try #require(try await database.committedState(ofJar: "default"))
        #expect(try database.serviceTokens.token(token, in: state, now: Given.now)?.name == "app")
        // Whoever reads now finds no table.
        let session = try PostgreSQLSession(try server.target(name))
        for change in ["cookie", "jar", "login_rule", "service_token", "cookie_change"] {
            try session.enqueue("ALTER TABLE \(change) RENAME TO former_\(change)")
            try session.synchronize()
        }
        let jar = try #require(try database.existingJar(named: "default", policy: CookiePolicy(), in: state))
        #expect(try jar.header() == "a=1")
        #expect(try jar.loginRuleDefinitions().isEmpty)
        #expect(try jar.cachedHeaderFields().isEmpty)
        #expect(try database.serviceTokens.token(token, in: state, now: Given.now)?.name == "app")
        #expect(throws: SessionStoreError.self) { try jar.afterWrite.header() }
    }

    @Test("The committed state has everything that another service has acknowledged before")
    func freshness() async throws {
        let (one, other) = (try database(), try database())
        let jar = try one.jar(now: Given.now)
        var generator = SystemRandomNumberGenerator()
        for round in 0..<20 {
            try jar.receive("a=\(round); Path=/")
            #expect(try await header(other) == "a=\(round)")
        }
        let token = try one.serviceTokens.create(named: "app", grant: .everything, now: Given.now, using: &generator)
        func found() async throws -> ServiceToken? {
            let state: CommittedState = try #require(try await other.committedState(ofJar: nil))
            return try other.serviceTokens.token(token, in: state, now: Given.now)
        }
        #expect(try await found() != nil)
        #expect(try one.serviceTokens.revoke(named: "app", now: Given.now))
        #expect(try await found() == nil)
        try jar.setLoginRuleDefinition("{}", named: "rule")
        let state = try await other.committedState(ofJar: "default")
        let opened = try #require(try other.existingJar(named: "default", policy: CookiePolicy(), in: state))
        #expect(try opened.loginRuleDefinitions().map(\.name) == ["rule"])
        _ = try one.renameJar(named: "default", to: "new")
        #expect(try await header(other) == nil)
        #expect(try await header(other, jar: "new") == "a=19")
    }

    @Test("The committed state has everything acknowledged before, even while many others ask and write")
    func freshnessUnderLoad() async throws {
        let (one, other) = (try database(), try database())
        for jar in 0..<4 { _ = try one.createJar(named: "jar \(jar)", now: Given.now) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for jar in 0..<4 {
                group.addTask {
                    for round in 0..<25 {
                        try one.jar(named: "jar \(jar)", now: Given.now).receive("a=\(round); Path=/")
                        async let again = header(other, jar: "jar \(jar)")
                        #expect(try await header(other, jar: "jar \(jar)") == "a=\(round)")
                        #expect(try await again == "a=\(round)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("An older committed state is answered from memory, without reading a site again")
    func olderState() async throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        for _ in 0..<2 { #expect(try await header(database) == "a=1") }
        let older = try #require(try await database.committedState(ofJar: "default"))
        try jar.receive("a=2; Path=/")
        #expect(try await header(database) == "a=2")
        let session = try PostgreSQLSession(try server.target(name))
        try session.enqueue("ALTER TABLE cookie RENAME TO former_cookie")
        try session.synchronize()
        let opened = try #require(try database.existingJar(named: "default", policy: CookiePolicy(), in: older))
        #expect(try opened.header() == "a=2")
    }

    @Test(
        "The committed state is available for names that no jar has",
        arguments: ["none", "", "a\u{0}b", "a\u{1}default", "..", "{,}\"\\"])
    func otherNames(name: String) async throws {
        let database = try database()
        _ = try database.jar(now: Given.now)
        let state = try #require(try await database.committedState(ofJar: name))
        #expect(state.jar == nil)
        #expect(state.tokenGeneration == 0)
        #expect(try await database.committedState(ofJar: "default")?.jar != nil)
    }

    @Test("The committed state works with the first request after the server has ended its connections")
    func lostConnections() async throws {
        let database = try database()
        try database.jar(now: Given.now).receive("a=1; Path=/")
        for _ in 0..<2 { #expect(try await header(database) == "a=1") }
        try endConnections()
        #expect(try await header(database) == "a=1")
    }

    @Test("The first request after the server has ended its connections can read", arguments: [false, true])
    func firstRequest(isFenced: Bool) async throws {
        _ = try database().jar(now: Given.now)
        for ask in [
            { try $0.serviceTokens.all().count }, { try $0.existingJar(named: "default") == nil ? 0 : 1 },
            { try $0.jars(now: Given.now).count }, { try $0.jar(named: "other", now: Given.now).name.count },
        ] as [@Sendable (SessionDatabase) throws -> Int] {
            let database = try database(isFenced: isFenced)
            try database.commitHeartbeat()
            try endConnections()
            #expect(throws: Never.self) { try ask(database) }
        }
    }

    @Test("A closed fence permits no committed state")
    func fence() async throws {
        let database = try database(isFenced: true)
        try database.commitHeartbeat()
        _ = try database.jar(now: Given.now)
        #expect(try await database.committedState(ofJar: "default")?.jar != nil)
        let session = try PostgreSQLSession(try server.target(name))
        try session.enqueue("UPDATE heartbeat SET at = clock_timestamp() - interval '1 hour'")
        try session.synchronize()
        await #expect { try await database.committedState(ofJar: "default") } throws: {
            ($0 as? SessionStoreError)?.code == .databaseFenced
        }
        try database.commitHeartbeat()
        #expect(try await database.committedState(ofJar: "default")?.jar != nil)
    }
}
