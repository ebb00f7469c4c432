import CookieModel
import TestSupport
import Testing

@testable import SessionStore

@Suite("A jar in SQLite and a store in memory")
struct EquivalenceTests {
    /// The scenarios of a test: a few on a server, where each takes a database of its own.
    private static func seeds(_ all: Range<Int>) -> Range<Int> {
        TestServer.shared == nil ? all : all.prefix(5)
    }

    /// What a decision says, without what a sealed store does not open or numbers otherwise.
    private struct Verdict: Equatable, CustomStringConvertible {
        let outcome: StorageDecision.Outcome
        let name: Octets?
        let cookie: Cookie?
        let previous: Cookie.ID?
        let previousCreation: Timestamp?
        let reasons: [String]
        let evicted: [String]

        init(_ decision: StorageDecision) {
            outcome = decision.outcome
            name = decision.name
            var cookie = decision.cookie
            cookie?.sequence = 0
            self.cookie = cookie
            previous = decision.previous?.id
            previousCreation = decision.previous?.creation
            reasons = decision.reasons.identifiers
            evicted = decision.evicted.map { "\($0.cookie.id) \($0.reason)" }
        }

        var description: String {
            "\(outcome) \(name.map(\.description) ?? "-") \(cookie?.id.domain.description ?? "") \(reasons) \(evicted)"
        }
    }

    /// A jar that is used through a connection of its own now and then.
    private struct Jars {
        let connections: [CookieJar]
        private var turn = 0

        init(_ connections: [CookieJar]) {
            self.connections = connections
        }

        mutating func next() -> CookieJar {
            turn += 1
            return connections[turn % connections.count]
        }
    }

    /// A store in memory that knows the jar's rule for expired cookies: no rule sees them, yet they come back where the
    /// clock goes back, unless something was set or deleted in their place meanwhile.
    ///
    /// It knows no confirmed clock: a scenario must end before a day has passed.
    private struct Oracle {
        var store: CookieStore
        private var expired: [Cookie.ID: Cookie] = [:]

        init(policy: CookiePolicy) {
            store = CookieStore(policy: policy)
        }

        /// Begins a step at a time that may lie before the last one's.
        mutating func see(_ now: Timestamp) {
            let list = store.policy.publicSuffixes
            for cookie in store.cookies where cookie.isExpired(at: now) { expired[cookie.id] = cookie }
            let back = expired.values.filter { !$0.isExpired(at: now) }
            for cookie in back { expired[cookie.id] = nil }
            for site in Set(store.cookies.map { $0.domain.registrableDomain(list) }) {
                var cookies = store[site] ?? SiteCookies()
                if !cookies.removeExpired(at: now).isEmpty { store[site] = cookies }
            }
            for (site, cookies) in Dictionary(grouping: back, by: { $0.domain.registrableDomain(list) }) {
                store[site] = SiteCookies((store[site]?.cookies ?? []) + cookies)
            }
        }

        /// Takes note of what was decided on.
        mutating func note(_ decisions: [StorageDecision]) {
            for decision in decisions {
                if let id = decision.cookie?.id { expired[id] = nil }
            }
        }
    }

    /// By how many seconds the clock jumps; ten years among them.
    private static let jumps: [Int64] = [-315_360_000, -6000, -3601, -100, -51, -49, -1, 49, 100, 315_360_000]

    /// How many seconds a scenario with jumps lasts at most: nothing is confirmed before a day has passed.
    private static let dayOfScenario: Int64 = 20 * 3600

    /// Runs the same steps on both and compares every answer.
    ///
    /// - Parameter jumps: whether the clock jumps ahead and back.
    private func compare(
        seed: Int, steps: Int, policy: CookiePolicy, jumps: Bool = false, _ jars: inout Jars
    ) throws {
        var scenario = RandomScenario(seed: seed)
        var generator = SeededGenerator(seed: UInt64(seed))
        var oracle = Oracle(policy: policy)
        var now = Given.now
        var elapsed: Int64 = 0
        for step in 0..<steps {
            let comment: Comment = "seed \(seed), step \(step)"
            if jumps, Int.random(in: 0..<5, using: &generator) == 0 {
                let jump = EquivalenceTests.jumps.randomElement(using: &generator) ?? 0
                // A long step counts for eight hours.
                let counted = min(max(jump, 0), 8 * 3600)
                if elapsed + counted < EquivalenceTests.dayOfScenario {
                    now = now.advanced(bySeconds: jump)
                    elapsed += counted
                }
            }
            oracle.see(now)
            switch try scenario.next() {
            case .advance(let seconds):
                guard !jumps || elapsed + seconds < EquivalenceTests.dayOfScenario else { continue }
                now = now.advanced(bySeconds: seconds)
                elapsed += seconds
            case .record(let record):
                let expectedDecision = oracle.store.receive(record, now: now)
                oracle.note([expectedDecision])
                let expected = Verdict(expectedDecision)
                let decision = try jars.next().withBatch(now: now) { batch throws(SessionStoreError) in
                    try batch.receive(record)
                }.result
                #expect(Verdict(decision) == expected, comment)
            case .receive(let responses):
                var expectedDecisions: [StorageDecision] = []
                for response in responses { expectedDecisions += oracle.store.receive(response, now: now) }
                oracle.note(expectedDecisions)
                let expected = expectedDecisions.map(Verdict.init)
                let time = now
                let decisions = try jars.next().withBatch(now: now) { batch throws(SessionStoreError) in
                    var decisions: [StorageDecision] = []
                    for response in responses { decisions += try batch.receive(response, at: time) }
                    return decisions
                }.result
                #expect(decisions.map(Verdict.init) == expected, comment)
            case .send(let context):
                let expected = oracle.store.retrieve(for: context, now: now)
                let retrieval = try jars.next().retrieve(for: context, now: now)
                #expect(retrieval.cookieString == expected.cookieString, comment)
                #expect(retrieval.included.map(\.id) == expected.included.map(\.id), comment)
                #expect(excluded(retrieval) == excluded(expected), comment)
            }
        }
        let kept = try jars.next().cookies()
        #expect(kept.unreadable.isEmpty)
        oracle.see(now)
        #expect(alive(kept.readable, now) == alive(oracle.store.cookies, now), "seed \(seed)")
    }

    /// What stays behind, without what has run out: when that goes is each store's own affair.
    private func excluded(_ retrieval: Retrieval) -> [String] {
        retrieval.excluded.filter { !$0.reasons.contains(.expired) }.map { "\($0.cookie.id) \($0.reasons)" }
    }

    private func alive(_ cookies: [Cookie], _ now: Timestamp) -> Set<Cookie> {
        Set(
            cookies.filter { !$0.isExpired(at: now) }.map { cookie in
                var cookie = cookie
                cookie.sequence = 0
                cookie.lastAccess = now
                return cookie
            })
    }

    @Test(
        "A jar and a store in memory decide and send the same, with any input",
        arguments: EquivalenceTests.seeds(0..<200))
    func inMemory(seed: Int) throws {
        let policy = CookiePolicy(profile: seed % 2 == 0 ? .rfc6265bis : .browser)
        let jar = try Given.database().jar(policy: policy, now: Given.now)
        var jars = Jars([jar])
        try compare(seed: seed, steps: 60, policy: policy, &jars)
    }

    @Test("A jar and a store in memory evict the same cookies", arguments: EquivalenceTests.seeds(300..<400))
    func limits(seed: Int) throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 2 + seed % 3
        policy.limits.partitionCookies = 1 + seed % 2
        policy.limits.partitionOctets = 4 + seed % 5
        policy.limits.requestCookies = seed % 4 == 0 ? 1 : nil
        policy.limits.requestOctets = seed % 5 == 0 ? 6 : nil
        let database = try Given.database(lastAccessGranularity: 0)
        let jar = try database.jar(policy: policy, now: Given.now)
        var jars = Jars([jar])
        try compare(seed: seed, steps: 60, policy: policy, &jars)
    }

    @Test(
        "A jar decides and sends the same through three connections to one file",
        arguments: EquivalenceTests.seeds(200..<230))
    func onDisk(seed: Int) throws {
        let folder = TemporaryFolder()
        var jars = Jars(try (0..<3).map { _ in try Given.jar(folder.file("crumb.sqlite")) })
        try compare(seed: seed, steps: 60, policy: CookiePolicy(), &jars)
    }

    @Test(
        "A jar and a store in memory decide and send the same while the clock jumps ahead and back",
        arguments: EquivalenceTests.seeds(400..<600))
    func jumpingClock(seed: Int) throws {
        let folder = TemporaryFolder()
        var jars = Jars(
            try seed % 2 == 0
                ? [Given.database().jar(policy: CookiePolicy(), now: Given.now)]
                : (0..<2).map { _ in try Given.jar(folder.file("crumb.sqlite")) })
        try compare(seed: seed, steps: 80, policy: CookiePolicy(), jumps: true, &jars)
    }

    @Test("The scenarios of the comparison cover every outcome and most reasons")
    func coverage() throws {
        var outcomes: Set<String> = []
        for seed in 0..<200 {
            var scenario = RandomScenario(seed: seed)
            var store = CookieStore()
            var now = Given.now
            for _ in 0..<60 {
                switch try scenario.next() {
                case .advance(let seconds): now = now.advanced(bySeconds: seconds)
                case .record(let record): outcomes.formUnion(store.receive(record, now: now).reasons.identifiers)
                case .receive(let responses):
                    for decision in responses.flatMap({ store.receive($0, now: now) }) {
                        outcomes.insert(decision.outcome.rawValue)
                        outcomes.formUnion(decision.reasons.identifiers)
                    }
                case .send(let context):
                    let retrieval = store.retrieve(for: context, now: now)
                    outcomes.formUnion(retrieval.excluded.flatMap(\.reasons.identifiers))
                }
            }
        }
        let rare: Set<String> = [
            "name-value-too-long", "domain-not-ascii", "unreadable", "prefix-http", "path-not-ascii", "request-limit",
            "suffix-list-changed", "partition-unknown", "time-unknown", "browser-omits", "identity-too-long",
            "gateway-witness",
        ]
        let known = Set(RejectionReason.allCases.map(\.identifier) + ExclusionReason.allCases.map(\.identifier))
        #expect(known.subtracting(outcomes).isSubset(of: rare), "\(known.subtracting(outcomes).sorted())")
        #expect(outcomes.isSuperset(of: ["stored", "replaced", "deleted", "rejected"]))
    }
}
