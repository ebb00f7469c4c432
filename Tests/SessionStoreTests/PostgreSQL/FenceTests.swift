import CookieModel
import Synchronization
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite("The fence of a server", .onlyOnServer)
struct FenceTests {
    private let server: TestServer
    private let name: String
    /// Another connection, which changes the row of the heartbeat.
    private let other: PostgreSQLSession

    init() throws {
        server = try #require(TestServer.shared)
        name = try server.newDatabase()
        other = try PostgreSQLSession(try server.target(name))
    }

    private func database() throws -> SessionDatabase {
        try server.open(server.target(name), isFenced: true)
    }

    private func setHeartbeat(_ change: String) throws {
        try other.enqueue("UPDATE heartbeat SET \(change)")
        try other.synchronize()
    }

    private func expectFenced(_ body: () throws -> Void) {
        #expect { try body() } throws: { ($0 as? SessionStoreError)?.code == .databaseFenced }
    }

    @Test(
        "The fence prevents reads and writes without a heartbeat in the last five seconds", arguments: ["-5.1", "+1.5"])
    func noHeartbeat(age: String) throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        for _ in 0..<2 { #expect(try jar.header() == "a=1") }
        try setHeartbeat("at = clock_timestamp() + interval '\(age) s'")
        expectFenced { _ = try jar.cookies() }
        expectFenced { _ = try jar.header() }
        expectFenced { _ = try database.existingJar(named: jar.name) }
        expectFenced { _ = try database.existingJar(named: "none") }
        expectFenced { try jar.receive("a=2; Path=/") }
        try database.commitHeartbeat()
        #expect(try jar.header() == "a=1")
        try jar.receive("a=2; Path=/")
        #expect(try jar.header() == "a=2")
    }

    @Test("The fence accepts the heartbeat of any service")
    func anyHeartbeat() throws {
        let (one, other) = (try database(), try database())
        try setHeartbeat("at = clock_timestamp() - interval '1 hour'")
        expectFenced { _ = try one.jar(now: Given.now) }
        try other.commitHeartbeat()
        _ = try one.jar(now: Given.now)
    }

    @Test("The fence prevents writes for five seconds after a promotion")
    func newPrimary() throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        // What the heartbeat of the former primary looks like.
        try setHeartbeat("at = clock_timestamp(), timeline = '00000000', timeline_since = '-infinity'")
        #expect(try jar.header() == "a=1")
        expectFenced { try jar.receive("a=2; Path=/") }
        #expect(try database.serverStatus()?.fence == .newPrimary)
        try database.commitHeartbeat()
        #expect(try jar.header() == "a=1")
        expectFenced { try jar.receive("a=2; Path=/") }
        try setHeartbeat("timeline_since = timeline_since - interval '4 s'")
        expectFenced { try jar.receive("a=2; Path=/") }
        try setHeartbeat("timeline_since = timeline_since - interval '1.1 s'")
        try jar.receive("a=2; Path=/")
        #expect(try jar.header() == "a=2")
    }

    @Test("The fence waits no longer if the clock was set back after a promotion")
    func clockSetBack() throws {
        let database = try database()
        try setHeartbeat("timeline_since = clock_timestamp() + interval '1 hour'")
        expectFenced { _ = try database.jar(now: Given.now) }
        try database.commitHeartbeat()
        try setHeartbeat("timeline_since = timeline_since - interval '5.1 s'")
        _ = try database.jar(now: Given.now)
    }

    @Test("A service commits a heartbeat with each tick of the clock, and continues after a failure")
    func timer() async throws {
        let database = try database()
        let clock = TickingClock()
        let outcomes = AsyncStream<SessionStoreError?>.makeStream()
        let heart = Task { try await database.keepBeating(clock: clock) { outcomes.continuation.yield($0) } }
        var outcome = outcomes.stream.makeAsyncIterator()
        #expect(await outcome.next() == .some(nil))
        try setHeartbeat("at = clock_timestamp() - interval '1 hour'")
        expectFenced { _ = try database.jar(now: Given.now) }
        clock.tick()
        #expect(await outcome.next() == .some(nil))
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        try other.enqueue("ALTER TABLE heartbeat RENAME TO former")
        try other.synchronize()
        clock.tick()
        #expect(await outcome.next() != .some(nil))
        try other.enqueue("ALTER TABLE former RENAME TO heartbeat")
        try other.synchronize()
        clock.tick()
        #expect(await outcome.next() == .some(nil))
        heart.cancel()
        clock.tick()
        _ = await heart.result
    }

    @Test("The fence is open for a program that is not a service")
    func unfenced() throws {
        try setHeartbeat("at = clock_timestamp() - interval '1 hour'")
        let database = try server.open(server.target(name))
        try database.jar(now: Given.now).receive("a=1; Path=/")
    }
}

/// A clock whose sleepers wake up one tick later, whatever they wait for.
private struct TickingClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let ticks = AsyncStream<Void>.makeStream()

    var now: Instant { .now }
    var minimumResolution: Duration { .zero }

    func tick() { ticks.continuation.yield() }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        for await _ in ticks.stream { break }
        try Task.checkCancellation()
    }
}
