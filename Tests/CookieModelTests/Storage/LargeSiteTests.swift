import PublicSuffix
import TestSupport
import Testing

@testable import CookieModel
@testable import CookieScenarios

@Suite("Sites of very many cookies")
struct LargeSiteTests {
    private static let unlimited: CookiePolicy = {
        var policy = CookiePolicy()
        policy.limits = .unlimited
        return policy
    }()

    @Test("A cookie is compared with those of its ID, however many cookies the site has")
    func work() throws {
        for count in [1000, 2000, 4000] {
            var session = Session(Self.unlimited)
            for number in 0..<count { try session.set(Octets("n\(number)=1; Path=/")) }
            var site = try #require(session.store["example.com"])
            let comparisons = site.cookies.map { cookie in
                site.indices(ofCandidatesFor: CookieEntry(cookie, CookieRecordHeader(cookie)))?.count ?? count
            }
            #expect(comparisons.count == count)
            #expect(comparisons.reduce(0, +) < count + 10, "\(count)")
        }
    }

    @Test("Cookies of a large site are ordered, replaced and deleted as those of a small site")
    func order() throws {
        var session = Session(Self.unlimited)
        var generator = SeededGenerator(seed: 19)
        var expected: [String: (path: Int, time: Timestamp, place: Int, value: Int)] = [:]
        for step in 0..<3000 {
            let name = "n\(Int.random(in: 0..<1200, using: &generator))"
            let depth = Int.random(in: 1...6, using: &generator)
            let path = String(repeating: "/a", count: depth)
            let key = "\(name) \(path)"
            // Captures do not come in the order of their times.
            session.now = Session.start.advanced(bySeconds: Int64.random(in: -1000...0, using: &generator))
            if step % 7 == 6, expected[key] != nil {
                try session.set(Octets("\(name)=; Path=\(path); Max-Age=0"), at: "https://example.com/a/a/a/a/a/a/")
                expected[key] = nil
            } else {
                try session.set(Octets("\(name)=\(step); Path=\(path)"), at: "https://example.com/a/a/a/a/a/a/")
                let old = expected[key]
                expected[key] = (depth, old?.time ?? session.now, old?.place ?? step, step)
            }
            guard step % 500 == 499 else { continue }
            session.now = Session.start
            let order = expected.sorted { left, right in
                if left.value.path != right.value.path { return left.value.path > right.value.path }
                return (left.value.time, left.value.place) < (right.value.time, right.value.place)
            }
            let pairs = order.map { "\($0.key.prefix { $0 != " " })=\($0.value.value)" }
            #expect(try session.sent(to: "https://example.com/a/a/a/a/a/a/") == pairs.joined(separator: "; "))
            #expect(session.store.cookies.map { "\($0.name)=\($0.value)" } == pairs)
            #expect(session.store.count == expected.count)
        }
        #expect(expected.count > SiteCookies.indexedCount)
    }

    @Test("The requests of a scenario ask about no more cookies than they may")
    func verdicts() throws {
        let context = RequestContext(url: try RequestURL("https://example.com/"))
        let lines = (0..<10).map { Octets("n\($0)=1") }
        let steps: [Scenario.Step] = [.receive(ReceivedResponse(context: context, setCookie: lines))]
        let scenario = Scenario(steps: steps + Array(repeating: .send(context), count: 5))
        func run(_ limit: Int) -> Int? {
            scenario.run(realTime: Session.start, publicSuffixes: .bundled, verdictLimit: limit)?.count
        }
        #expect(run(50) == 6 && run(49) == nil)
    }
}
