import CookieModel
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "Round trips to a PostgreSQL server",
    .onlyOnServer)
struct RoundTripTests {
    private let shared: SharedDatabase

    init() throws {
        shared = try SharedDatabase()
    }

    /// How many round trips a database needs for `body`.
    private func roundTrips(of database: SessionDatabase, _ body: () throws -> Void) throws -> Int {
        let before = try #require(database.serverLoad).roundTrips
        try body()
        return try #require(database.serverLoad).roundTrips - before
    }

    @Test("A response to a known jar is stored in one round trip; after another service has stored, in three")
    func response() throws {
        let (one, other) = (try shared.open(lastAccessGranularity: 0), try shared.open(lastAccessGranularity: 0))
        let (jar, otherJar) = (try one.jar(now: Given.now), try other.jar(now: Given.now))
        // Every statement is prepared, on both ways.
        for number in 0..<3 {
            try jar.receive("a=\(number); Path=/")
            try otherJar.receive("a=\(number); Path=/")
        }
        try jar.receive("a=3; Path=/")
        #expect(try roundTrips(of: one) { try jar.receive("a=4; Path=/") } == 1)
        try otherJar.receive("a=5; Path=/")
        // One finds out and one rolls back, then one reads and one commits.
        #expect(try roundTrips(of: one) { try jar.receive("a=6; Path=/") } == 4)
        #expect(try roundTrips(of: one) { try jar.receive("a=7; Path=/") } == 1)
        #expect(try otherJar.header() == "a=7")
        #expect(try jar.changes(after: 0).changes.map(\.position) == Array(1...11))
    }

    @Test("The committed state shows that another service has stored, so no attempt is made in vain")
    func knownChange() async throws {
        let (one, other) = (try shared.open(lastAccessGranularity: 0), try shared.open(lastAccessGranularity: 0))
        let otherJar = try other.jar(now: Given.now)
        func jar() async throws -> CookieJar {
            let state = try await one.committedState(ofJar: otherJar.name)
            return try #require(try one.existingJar(named: otherJar.name, policy: CookiePolicy(), in: state))
        }
        for number in 0..<3 {
            try await jar().receive("a=\(number); Path=/")
            try otherJar.receive("a=\(number); Path=/")
        }
        let jar = try await jar()
        #expect(try roundTrips(of: one) { try jar.receive("a=3; Path=/") } == 2)
        try jar.receive("a=4; Path=/")
        #expect(try roundTrips(of: one) { try jar.receive("a=5; Path=/") } == 1)
    }

    @Test("A jar on a server evicts the cookie that was accessed least recently by any service")
    func eviction() throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 3
        let (one, other) = (try shared.open(lastAccessGranularity: 0), try shared.open(lastAccessGranularity: 0))
        let made = try one.jar(now: Given.now)
        let jar = CookieJar(
            database: one, id: made.id, name: made.name, policy: policy, hasHeaderFields: false)
        for name in ["a", "b", "c"] { try jar.receive("\(name)=1; Path=/\(name)") }
        let later = Given.now.advanced(bySeconds: 10)
        #expect(try other.jar(now: later).header(Given.site + "a", now: later) == "a=1")
        let decisions = try jar.receive("d=1; Path=/d", now: later.advanced(bySeconds: 1))
        #expect(decisions[0].evicted.map(\.cookie.name) == ["b"])
        #expect(try jar.cookies().readable.map(\.name) == ["a", "c", "d"])
    }

    @Test("The remembered state of a jar is not used if the connection is lost and it cannot be checked")
    func lostConnection() throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 2
        let (one, other) = (try shared.open(), try shared.open())
        let made = try one.jar(now: Given.now)
        let jar = CookieJar(
            database: one, id: made.id, name: made.name, policy: policy, hasHeaderFields: false)
        for name in ["a", "b"] { try jar.receive("\(name)=1; Path=/\(name)") }
        try other.jar(now: Given.now).receive("b=; Path=/b; Max-Age=0")
        try endConnections()
        #expect(try jar.receive("b=2; Path=/b")[0].outcome == .stored)
        try endConnections()
        #expect(try jar.receive("c=1; Path=/c")[0].evicted.map(\.cookie.name) == ["a"])
        #expect(try jar.cookies().readable.map(\.name) == ["b", "c"])
    }

    /// Ends all connections to the database but that of a service that does only this.
    private func endConnections() throws {
        let database = try shared.open()
        let others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        try database.read { connection in
            _ = try connection.statement("SELECT count(pg_terminate_backend(pid)) \(others)").step()
        }
        for _ in 0..<100_000 {
            guard try database.number("SELECT count(*) \(others)") > 0 else { return }
        }
        Issue.record("The connections do not end.")
    }

    @Test("No value is stored under a key that another service has replaced, or in a jar that it has removed")
    func gone() throws {
        let (one, other) = (try shared.open(lastAccessGranularity: 0), try shared.open(lastAccessGranularity: 0))
        let jar = try one.jar(now: Given.now)
        for number in 0..<2 { try jar.receive("a=\(number); Path=/") }
        _ = try other.removeJar(named: jar.name)
        #expect(errorCode { try jar.receive("a=2; Path=/") } == .jarNotFound)
        #expect(try one.number("SELECT count(*) FROM cookie") == 0)
        #expect(try one.number("SELECT count(*) FROM cookie_change") == 0)

        let next = try one.createJar(named: "next", now: Given.now)
        for number in 0..<2 { try next.receive("a=\(number); Path=/") }
        try other.write { try SealingKeyRows(database: $0).append(try Given.key(9), now: Given.now) }
        #expect(errorCode { try next.receive("a=2; Path=/") } == .keyChanged)
    }
}
