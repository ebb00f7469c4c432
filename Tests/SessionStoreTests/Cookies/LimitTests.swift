import CookieModel
import Testing

@testable import SessionStore

@Suite("Limits of a jar")
struct LimitTests {
    private func jar(_ change: (inout CookieLimits) -> Void) throws -> CookieJar {
        var policy = CookiePolicy()
        change(&policy.limits)
        return try Given.database(lastAccessGranularity: 0).jar(policy: policy, now: Given.now)
    }

    private func evicted(_ decisions: [StorageDecision]) -> [String] {
        decisions.flatMap(\.evicted).map { "\($0.cookie.name) \($0.reason.identifier)" }
    }

    @Test("A registrable domain has at most 180 cookies, and the rows of evicted ones are removed")
    func domain() throws {
        let jar = try jar { _ in }
        for number in 0..<181 { try jar.receive("c\(number)=1; Path=/") }
        #expect(try jar.database.number("SELECT count(*) FROM cookie") == 180)
        #expect(try jar.header().hasPrefix("c1=1; c2=1"))
        let decisions = try jar.receive("x=1; Path=/", "y=1; Path=/", from: "https://other.example.com/")
        #expect(evicted(decisions) == ["c1 domain-limit", "c2 domain-limit"])
    }

    @Test(
        "A jar over its total limit evicts expired cookies first, then the least recently used, at the end of a batch")
    func total() throws {
        let jar = try jar { $0.totalCookies = 3 }
        let later = { Given.now.advanced(bySeconds: $0) }
        try jar.receive("a=1; Path=/", from: "https://a.example/", now: Given.now)
        try jar.receive("b=1; Max-Age=5; Path=/", from: "https://b.example/", now: later(1))
        try jar.receive("c=1; Path=/", from: "https://c.example/", now: later(2))
        #expect(try jar.header("https://a.example/", now: later(3)) == "a=1")
        // b has expired.
        #expect(evicted(try jar.receive("d=1; Path=/", from: "https://d.example/", now: later(10))) == [])
        let response = ReceivedResponse(
            context: try Given.context("https://e.example/"), setCookie: ["e=1; Path=/", "f=1; Path=/"])
        let (decisions, evictions) = try jar.withBatch(now: later(11)) { batch throws(SessionStoreError) in
            try batch.receive(response, at: later(11))
        }
        #expect(decisions.map(\.outcome) == [.stored, .stored])
        #expect(evictions.map { "\($0.cookie.name) \($0.reason)" } == ["c total-limit", "a total-limit"])
        #expect(evictions.allSatisfy { $0.cookie.value.isEmpty })
        // The row of b waits for the clock to be confirmed.
        #expect(try jar.cookies().readable.map(\.name.description).sorted() == ["b", "d", "e", "f"])
        // A single response tells it with its last line.
        #expect(
            evicted(try jar.receive("g=1; Path=/", from: "https://g.example/", now: later(12))) == ["d total-limit"])
    }

    @Test("A partition's octets count across transactions, values included")
    func partitionOctets() throws {
        let jar = try jar { $0.partitionOctets = 100 }
        var context = try Given.context("https://widget.example/")
        context.topLevel = try RequestURL("https://page.example/")
        context.isTopLevelNavigation = false
        for name in ["a", "b", "c"] {
            let line = Octets("\(name)=\(String(repeating: "v", count: 40)); Secure; SameSite=None; Partitioned")
            let decisions = try jar.receive(ReceivedResponse(context: context, setCookie: [line]), now: Given.now)
            #expect(evicted(decisions) == (name == "c" ? ["a partition-octet-limit"] : []))
            #expect(decisions.flatMap(\.evicted).allSatisfy { $0.cookie.value.isEmpty })
        }
        #expect(try jar.cookies().readable.count == 2)
    }

    @Test("The limits of jars are counted separately")
    func apart() throws {
        let database = try Given.database()
        var policy = CookiePolicy()
        policy.limits.domainCookies = 2
        policy.limits.totalCookies = 2
        let first = try database.jar(named: "first", policy: policy, now: Given.now)
        let second = try database.jar(named: "second", policy: policy, now: Given.now)
        for jar in [first, second] {
            #expect(evicted(try jar.receive("a=1; Path=/", "b=1; Path=/")) == [])
        }
    }
}
