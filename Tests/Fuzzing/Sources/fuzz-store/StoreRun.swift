import FuzzSupport

@testable import CookieModel

/// One store that lives through a script, and what must hold of it at every step.
struct StoreRun {
    /// 2026-11-21T00:00:00Z.
    static let start = Timestamp(seconds: 1_795_219_200)

    private let policy: CookiePolicy
    private var store: CookieStore
    private var now = StoreRun.start

    init(_ script: StoreScript) {
        policy = script.policy
        store = CookieStore(policy: script.policy)
        for step in script.steps { run(step) }
    }

    private mutating func run(_ step: StoreScript.Step) {
        switch step {
        case .receive(let line, let context): receive(line, context)
        case .take(let record): take(record)
        case .send(let context): send(context)
        case .advance(let seconds): now = now.advanced(bySeconds: seconds)
        case .endSession: endSession()
        }
    }

    /// The cookies that a rule may see: expired ones count as gone, whether they were evicted or not.
    private func unexpired(in store: CookieStore) -> [Cookie] {
        store.cookies.filter { !$0.isExpired(at: now) }
    }

    private mutating func receive(_ line: Octets, _ context: RequestContext) {
        let before = unexpired(in: store)
        let decision = store.receive(line, in: context, now: now)
        switch SetCookie.parse(line, profile: policy.profile) {
        case .ignored(let reasons):
            Invariant.holds(decision == .ignored(reasons), "an ignored line is not decided on")
        case .cookie(let setCookie):
            if let cookie = decision.cookie { AdmissionCheck.check(cookie, setCookie, context, policy, now: now) }
        }
        checkStored(decision, before)
    }

    private mutating func take(_ record: CookieRecord) {
        let before = unexpired(in: store)
        let decision = store.receive(record, now: now)
        checkStored(decision, before)
    }

    /// What a decision says is what happened, and nothing else did.
    private func checkStored(_ decision: StorageDecision, _ before: [Cookie]) {
        Invariant.holds(
            decision.reasons.isEmpty == (decision.outcome != .rejected), "a refusal, and only a refusal, has reasons")
        var expected = before
        switch decision.outcome {
        case .rejected:
            Invariant.holds(decision.cookie == nil, "a refusal has no cookie")
        case .deleted:
            expected.removeAll { $0.id == decision.previous?.id }
        case .stored, .replaced:
            Invariant.holds((decision.outcome == .replaced) == (decision.previous != nil), "what is replaced was there")
            expected.removeAll { $0.id == decision.cookie?.id }
            if let cookie = decision.cookie { expected.append(cookie) }
        }
        expected.removeAll { cookie in decision.evicted.contains { $0.cookie.id == cookie.id } }
        let after = unexpired(in: store)
        if let limit = policy.limits.totalCookies {
            Invariant.holds(store.count <= limit, "there are no more cookies than the limit says")
        }
        Invariant.holds(store.count == store.cookies.count, "the store knows how many cookies it has")
        Invariant.holds(
            after.count == expected.count && Set(after) == Set(expected), "a decision changes what it says it does")
        Invariant.holds(Set(after.map(\.id)).count == after.count, "no two cookies have one ID")
        Invariant.holds(Set(after.map(\.sequence)).count == after.count, "no two cookies have one number")
    }

    private mutating func send(_ context: RequestContext) {
        let before = unexpired(in: store)
        var twin = store
        let retrieval = store.retrieve(for: context, now: now)
        Invariant.holds(
            twin.cookieString(for: context, now: now) == retrieval.cookieString, "both ways lead to one header")
        RetrievalCheck.check(retrieval, of: before, for: context, policy)
        let sent = Set(retrieval.included.map(\.id))
        let expected = before.map { cookie in
            var cookie = cookie
            if sent.contains(cookie.id) { cookie.lastAccess = now }
            return cookie
        }
        Invariant.holds(
            unexpired(in: store) == expected && unexpired(in: twin) == expected,
            "a retrieval notes the access, and no more")
    }

    private mutating func endSession() {
        let before = store.cookies
        store.endSession()
        Invariant.holds(store.cookies == before.filter(\.isPersistent), "what ends with the session is gone")
    }
}
