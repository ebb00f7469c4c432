import CookieModel
import Testing

@testable import SessionStore

@Suite("Merging jars")
struct JarMergeTests {
    private static func at(_ seconds: Int64) -> Timestamp { Given.now.advanced(bySeconds: seconds) }

    /// What two jars have of a cookie: when it was created and when its response came, `nil` where that is not known.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: (created: Int64, received: Int64?)?
        let target: (created: Int64, received: Int64?)?
        let winner: String?
        let merge: JarMerge
    }

    private static func merge(
        added: Int = 0, replaced: Int = 0, kept: Int = 0, expired: Int = 0
    ) -> JarMerge {
        var merge = JarMerge()
        (merge.added, merge.replaced, merge.kept, merge.expired) = (added, replaced, kept, expired)
        return merge
    }

    static let cases: [Case] = [
        Case(
            testDescription: "only the first has it", source: (0, nil), target: nil, winner: "source",
            merge: merge(added: 1)),
        Case(
            testDescription: "only the second has it", source: nil, target: (0, nil), winner: "target", merge: merge()),
        Case(
            testDescription: "created later in the first", source: (5, nil), target: (0, nil), winner: "source",
            merge: merge(replaced: 1)),
        Case(
            testDescription: "created later in the second", source: (0, nil), target: (5, nil), winner: "target",
            merge: merge(kept: 1)),
        Case(
            testDescription: "created at the same moment", source: (5, nil), target: (5, nil), winner: "target",
            merge: merge(kept: 1)),
        Case(
            testDescription: "received later in the first, although created earlier", source: (0, 9), target: (5, 8),
            winner: "source", merge: merge(replaced: 1)),
        Case(
            testDescription: "received later in the second, although created earlier", source: (5, 8), target: (0, 9),
            winner: "target", merge: merge(kept: 1)),
        Case(
            testDescription: "received at the same moment", source: (5, 9), target: (0, 9), winner: "target",
            merge: merge(kept: 1)),
        Case(
            testDescription: "received in the first after it was created in the second", source: (0, 6),
            target: (5, nil), winner: "source", merge: merge(replaced: 1)),
        Case(
            testDescription: "received in the second after it was created in the first", source: (5, nil),
            target: (0, 6), winner: "target", merge: merge(kept: 1)),
    ]

    @Test("In a merge, the last updated of two cookies with the same identity counts", arguments: cases)
    func precedence(row: Case) throws {
        let database = try Given.database()
        for (name, times) in [("source", row.source), ("target", row.target)] {
            let jar = try database.jar(named: name, now: Given.now)
            guard let times else { continue }
            try jar.receive("c=\(name); Path=/", now: JarMergeTests.at(times.created))
            let received = times.received.map { "\(JarMergeTests.at($0).microseconds)" } ?? "NULL"
            try database.execute("UPDATE cookie SET received_at = \(received) WHERE jar_id = \(jar.id)")
        }
        let source = try database.present("source").contents()
        let now = JarMergeTests.at(20)
        #expect(try database.mergeJar(named: "source", into: "target", now: now) == row.merge)
        let target = try database.present("target")
        #expect(try target.pairs() == row.winner.map { ["c=\($0)"] })
        #expect(try database.present("source").contents() == source)
        // A second time nothing is newer.
        let again = try database.mergeJar(named: "source", into: "target", now: now)
        #expect(again == JarMergeTests.merge(kept: row.source == nil ? 0 : 1))
    }

    @Test("In a merge, cookies that differ in name, domain, host-only-flag, path or partition are different cookies")
    func identities() throws {
        let database = try Given.database()
        let target = try database.jar(named: "target", now: Given.now)
        try target.receive("c=target; Path=/; Secure")
        let source = try database.jar(named: "source", now: Given.now)
        try source.receive(
            "d=1; Path=/", "c=2; Path=/; Domain=www.example.com", "c=3; Path=/; Domain=example.com", "c=4; Path=/a",
            "c=5; Path=/; Secure; Partitioned", now: JarMergeTests.at(1))
        #expect(
            try database.mergeJar(named: "source", into: "target", now: JarMergeTests.at(2))
                == JarMergeTests.merge(added: 5))
        #expect(try target.contents().count == 6)
    }

    @Test("A merged cookie that replaces another takes its position; the others follow in their own order")
    func order() throws {
        let database = try Given.database()
        let target = try database.jar(named: "target", now: Given.now)
        try target.receive("a=1; Path=/", "b=1; Path=/")
        let source = try database.jar(named: "source", now: Given.now)
        try source.receive("x=2; Path=/", "y=2; Path=/", now: Given.now)
        try source.receive("b=2; Path=/; HttpOnly; Max-Age=50", "a=2; Path=/", now: JarMergeTests.at(1))
        let merge = try database.mergeJar(named: "source", into: "target", now: JarMergeTests.at(2))
        #expect(merge == JarMergeTests.merge(added: 2, replaced: 2))
        #expect(try target.pairs() == ["a=2", "b=2", "x=2", "y=2"])
        #expect(try target.header() == "a=2; b=2; x=2; y=2")
        let replaced = try #require(try target.contents().first { $0.name == "b" })
        #expect(replaced.isHTTPOnly && replaced.expiry == JarMergeTests.at(51) && replaced.creation == Given.now)
        #expect(try database.number("SELECT count(DISTINCT sequence) FROM cookie WHERE jar_id = \(target.id)") == 4)
        try target.receive("last=1; Path=/")
        #expect(try target.pairs().last == "last=1")
    }

    @Test("In a merge, expired cookies count as absent, on either side")
    func expired() throws {
        let database = try Given.database()
        let target = try database.jar(named: "target", now: Given.now)
        try target.receive("a=old; Path=/; Max-Age=5", now: JarMergeTests.at(10))
        let source = try database.jar(named: "source", now: Given.now)
        try source.receive("a=new; Path=/", "b=new; Path=/; Max-Age=3", now: Given.now)
        let merge = try database.mergeJar(named: "source", into: "target", now: JarMergeTests.at(20))
        #expect(merge == JarMergeTests.merge(added: 1, expired: 1))
        #expect(try target.pairs() == ["a=new"] && target.contents().first?.creation == Given.now)
    }

    @Test("A merge applies the target's limits, and reports every evicted cookie without its value")
    func limits() throws {
        let database = try Given.database(lastAccessGranularity: 0)
        var policy = CookiePolicy()
        policy.limits.domainCookies = 3
        policy.limits.totalCookies = 4
        policy.limits.partitionCookies = 1
        let target = try database.jar(named: "target", policy: policy, now: Given.now)
        try target.receive("old=1; Path=/", "safe=1; Path=/; Secure")
        let source = try database.jar(named: "source", now: Given.now)
        try source.receive(
            "s1=1; Path=/", "s2=1; Path=/; Secure", "p1=1; Path=/; Secure; Partitioned",
            "p2=1; Path=/; Secure; Partitioned", now: JarMergeTests.at(1))
        try source.receive("o=1; Path=/", from: "https://other.example/", now: JarMergeTests.at(2))
        let merge = try database.mergeJar(named: "source", into: "target", now: JarMergeTests.at(3))
        #expect(merge.added == 5)
        #expect(
            merge.evicted.map { "\($0.cookie.name) \($0.reason.identifier)" } == [
                "old domain-limit", "p1 partition-limit", "safe total-limit",
            ])
        #expect(merge.evicted.allSatisfy { $0.cookie.value.isEmpty })
        #expect(try target.pairs() == ["s1=1", "s2=1", "p2=1", "o=1"])
        #expect(try source.contents().count == 5)
    }

    @Test("A merge counts the octets of a partition by value")
    func octets() throws {
        let database = try Given.database()
        var policy = CookiePolicy()
        policy.limits.partitionOctets = 12
        let target = try database.jar(named: "target", policy: policy, now: Given.now)
        try target.receive("a=12345; Path=/; Secure; Partitioned")
        let source = try database.jar(named: "source", now: Given.now)
        try source.receive("b=12345; Path=/; Secure; Partitioned", now: JarMergeTests.at(1))
        #expect(try database.mergeJar(named: "source", into: "target", now: JarMergeTests.at(2)).evicted.isEmpty)
        try source.receive("c=1; Path=/; Secure; Partitioned", now: JarMergeTests.at(3))
        let merge = try database.mergeJar(named: "source", into: "target", now: JarMergeTests.at(4))
        #expect(merge.evicted.map(\.reason) == [.partitionOctetLimit] && merge.evicted.first?.cookie.name == "a")
    }

    @Test("A merge leaves out tampered cookies; an unknown jar, and a failure in the middle, change nothing")
    func failures() throws {
        let database = try Given.database()
        let source = try database.jar(named: "source", now: Given.now)
        try source.receive("a=1; Path=/", "bad=2; Path=/", "z=3; Path=/", now: JarMergeTests.at(1))
        try database.jar(named: "target", now: Given.now).receive("a=0; Path=/")
        let before = try database.everything()
        #expect(errorCode { try database.mergeJar(named: "source", into: "new", now: Given.now) } == .jarNotFound)
        #expect(errorCode { try database.mergeJar(named: "new", into: "target", now: Given.now) } == .jarNotFound)
        try database.failing("INSERT", of: "z") {
            #expect(
                errorCode { try database.mergeJar(named: "source", into: "target", now: Given.now) } == .databaseFailed)
        }
        #expect(try database.everything() == before)
        try database.execute("UPDATE cookie SET path = \(Given.octets("/x")) WHERE name = \(Given.octets("bad"))")
        let merge = try database.mergeJar(named: "source", into: "target", now: JarMergeTests.at(2))
        #expect(merge.unreadable.map(\.name) == ["bad"] && merge.unreadable.allSatisfy { $0.value.isEmpty })
        #expect(try database.present("target").pairs() == ["a=1", "z=3"])
    }

    @Test("A jar cannot be merged into itself, and merging into an empty jar gives a copy", arguments: 0..<20)
    func properties(seed: Int) throws {
        let database = try Given.database()
        let (source, now) = try database.jar(named: "source", afterScenario: seed, steps: 60)
        let alive = try source.contents(at: now)
        let before = try source.contents()
        try database.createJar(named: "empty", now: now)
        #expect(try database.mergeJar(named: "source", into: "empty", now: now).added == alive.count)
        #expect(Set(try database.present("empty").pairs()) == Set(alive.map(\.pair.description)))
        #expect(errorCode { try database.mergeJar(named: "source", into: "source", now: now) } == .nameInvalid)
        #expect(try source.contents() == before)
    }
}
