import CookieModel
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "Jars on a PostgreSQL server that receive in one transaction",
    .onlyOnServer)
struct SharedBatchTests {
    private let shared: SharedDatabase

    init() throws {
        shared = try SharedDatabase()
    }

    /// Jars that a service knows well enough, with a cookie each.
    private func jars(_ count: Int, of database: SessionDatabase) throws -> [CookieJar] {
        try (0..<count).map { number in
            let jar = try database.jar(named: "jar \(number)", now: Given.now)
            try jar.receive("a=0; Path=/")
            return jar
        }
    }

    private func response(_ line: String) throws -> ReceivedResponse {
        ReceivedResponse(context: RequestContext(url: try RequestURL(Given.site)), setCookie: [Octets(line)])
    }

    /// Has jars receive a line each.
    private func receive(_ lines: [(jar: CookieJar, line: String)]) throws -> Bool {
        let database = try #require(lines.first?.jar.database)
        return try database.receiveTogether(
            lines.map { jar, line in
                let response = try response(line)
                return SharedBatch(jar, now: Given.now) { batch throws(SessionStoreError) in
                    try batch.receive(response, at: Given.now)
                }
            })
    }

    @Test("A shared batch takes one round trip, and each jar gets its own cookies and journal")
    func together() throws {
        let (one, other) = (try shared.open(), try shared.open())
        let jars = try jars(5, of: one)
        for round in 1...3 {
            let before = try #require(one.serverLoad)
            let next = try response("a=1")
            #expect(jars.allSatisfy { $0.canShare(next) })
            #expect(try receive(jars.map { ($0, "a=\($0.name)\(round); Path=/") }))
            let after = try #require(one.serverLoad)
            #expect(after.commits - before.commits == 1)
            // Statements are prepared in the first rounds.
            #expect(round < 3 || after.roundTrips - before.roundTrips == 1)
        }
        for jar in jars {
            let seen = try other.jar(named: jar.name, now: Given.now)
            #expect(try seen.header() == "a=\(jar.name)3")
            #expect(try seen.changes(after: 0).changes.map(\.position) == [1, 2, 3, 4])
        }
    }

    @Test("A shared batch sends all at once, so a service that stops locks jars for at most five seconds")
    func size() throws {
        let database = try shared.open()
        let jars = try jars(40, of: database)
        func receive(_ round: Int) throws -> Bool {
            let response = ReceivedResponse(
                context: RequestContext(url: try RequestURL(Given.site)),
                setCookie: (0..<4).map { Octets("n\(round)x\($0)=1; Path=/") })
            return try database.receiveTogether(
                jars.map { jar in
                    SharedBatch(jar, now: Given.now) { batch throws(SessionStoreError) in
                        try batch.receive(response, at: Given.now)
                    }
                })
        }
        #expect(try receive(0))
        let before = try #require(database.serverLoad).roundTrips
        #expect(try receive(1))
        #expect(try #require(database.serverLoad).roundTrips - before == 1)
        #expect(try jars[39].cookies().readable.count == 9)

        let timeout = try database.writeOptimistically(.jars(jars.map(\.id)), isPatient: false, assuming: []) {
            connection in
            let statement = try connection.statement(
                "SELECT current_setting('idle_in_transaction_session_timeout')")
            return try statement.step() ? statement.text(0) : ""
        }
        #expect(timeout == "5s")
    }

    @Test("A shared batch stores nothing and does not wait if another service changes or has removed one of its jars")
    func obstacles() throws {
        let (one, other) = (try shared.open(), try shared.open())
        let jars = try jars(3, of: one)
        let lines = jars.map { ($0, "a=1; Path=/") }
        try other.write(.jar(jars[1].id)) { _ in
            let isThere = try receive(lines)
            let changes = try jars.map { try $0.latestChange() }
            #expect(!isThere && changes == [1, 1, 1])
        }
        // What is known is not forgotten for that.
        let next = try response("a=1")
        #expect(jars.allSatisfy { $0.canShare(next) })

        try other.jar(named: jars[2].name, now: Given.now).receive("b=1; Path=/")
        #expect(try !receive(lines))
        #expect(try jars[0].latestChange() == 1 && jars[1].latestChange() == 1)
        // Alone, each is stored.
        for (jar, line) in lines { try jar.receive(line) }
        #expect(try jars.map { try $0.header() } == ["a=1", "a=1", "a=1; b=1"])

        _ = try other.removeJar(named: jars[0].name)
        #expect(try !receive(lines))
        #expect(try receive([(jars[1], "a=2; Path=/"), (jars[2], "a=2; Path=/")]))
        #expect(try jars[2].header() == "a=2; b=1")
        try other.write { try SealingKeyRows(database: $0).append(try Given.key(9), now: Given.now) }
        #expect(try !receive([(jars[1], "a=3; Path=/"), (jars[2], "a=3; Path=/")]))
    }

    @Test("A shared batch takes only jars with known sites and without a total limit")
    func known() throws {
        let database = try shared.open()
        let jar = try database.jar(named: "known", now: Given.now)
        #expect(try !jar.canShare(response("a=1")))
        try jar.receive("a=0; Path=/")
        #expect(try jar.canShare(response("a=1")))
        let elsewhere = RequestContext(url: try RequestURL("https://elsewhere.test/"))
        let foreign = ReceivedResponse(context: elsewhere, setCookie: ["a=1"])
        #expect(!jar.canShare(foreign))
        var settings = JarSettings()
        settings.limits.totalCookies = 10
        let limited = try database.createJar(named: "limited", settings: settings, now: Given.now)
        try limited.receive("a=0; Path=/")
        #expect(try !limited.canShare(response("a=1")))
    }

    @Test(
        "A shared batch stores nothing if a jar would have to evict a cookie, because another service may know better which"
    )
    func eviction() throws {
        let database = try shared.open()
        var jars = try jars(2, of: database)
        var policy = CookiePolicy()
        policy.limits.domainCookies = 1
        jars[0] = CookieJar(
            database: database, id: jars[0].id, name: jars[0].name, policy: policy, hasHeaderFields: false)
        #expect(try !receive(jars.map { ($0, "b=1; Path=/") }))
        #expect(try jars.map { try $0.latestChange() } == [1, 1])
        #expect(try receive(jars.map { ($0, "a=1; Path=/") }))
    }

    @Test("If several services write to the same jars at once, everything acknowledged is stored, and nothing else")
    func competition() throws {
        let databases = try (0..<3).map { _ in try shared.open() }
        _ = try jars(6, of: databases[0])
        let stored = Mutex<[String: Set<String>]>([:])
        let counts = Mutex((shared: 0, alone: 0))
        _ = try onThreads(6) { thread in
            let database = databases[thread % 3]
            var generator = SeededGenerator(seed: UInt64(thread))
            for round in 0..<40 {
                // In any order.
                let names = (0..<6).map { "jar \($0)" }.shuffled(using: &generator).prefix(1 + round % 4)
                let lines = try names.map { name in
                    (jar: try database.jar(named: name, now: Given.now), line: "t\(thread)r\(round)=1; Path=/")
                }
                if try receive(lines) {
                    counts.withLock { $0.shared += 1 }
                } else {
                    for (jar, line) in lines { try jar.receive(line) }
                    counts.withLock { $0.alone += 1 }
                }
                stored.withLock { stored in
                    for name in names { stored[name, default: []].insert("t\(thread)r\(round)") }
                }
            }
        }
        #expect(counts.withLock { $0.shared > 0 && $0.alone > 0 })
        for (name, expected) in stored.withLock({ $0 }) {
            let jar = try shared.open().jar(named: name, now: Given.now)
            let names = Set(try jar.cookies().readable.map { String(decoding: $0.name.bytes, as: UTF8.self) })
            #expect(names == expected.union(["a"]))
            #expect(try jar.changes(after: 0).changes.map(\.position) == Array(1...Int64(names.count)))
        }
    }
}
