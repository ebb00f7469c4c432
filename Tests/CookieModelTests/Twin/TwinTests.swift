import Foundation
import TestSupport
import Testing

@testable import CookieModel

@Suite("A literal transcription of the draft decides as the engine does")
struct TwinTests {
    /// As many scenarios as the environment says, or few enough to be quick.
    static let count =
        ProcessInfo.processInfo.environment["CRUMB_TWIN_SCENARIOS"].flatMap { Int($0) } ?? 20_000

    @Test("Random scenarios give the same decisions, headers and stored cookies", arguments: [0, 1])
    func scenarios(half: Int) throws {
        for number in stride(from: half, to: TwinTests.count, by: 2) {
            var random = SeededGenerator(seed: UInt64(number))
            let difference = TwinRun(TwinScenario(&random)).firstDifference()
            try #require(difference == nil, "scenario \(number): \(difference ?? "")")
        }
    }
}

/// One scenario on both.
struct TwinRun {
    let scenario: TwinScenario
    private var store: CookieStore
    private var twin: TwinStore
    private var now = Session.start

    init(_ scenario: TwinScenario) {
        self.scenario = scenario
        store = CookieStore(policy: scenario.policy)
        twin = TwinStore(
            profile: scenario.policy.profile, limits: scenario.policy.limits,
            laxAllowingUnsafeAge: Int(scenario.policy.laxAllowingUnsafeAge))
    }

    /// What the two do not agree on first.
    func firstDifference() -> String? {
        var run = self
        for (number, step) in scenario.steps.enumerated() {
            if let difference = run.difference(in: step) { return "step \(number): \(difference)" }
        }
        return run.storedDifference()
    }

    private mutating func difference(in step: TwinScenario.Step) -> String? {
        switch step {
        case .receive(let line, let context):
            let before = storedCount
            let decision = store.receive(line, in: context, now: now)
            let outcome = twin.receive(line.bytes, request(context), now: clock)
            guard agree(decision, outcome) else {
                return "\(line) at \(context.url): \(decision.outcome) \(decision.reasons), twin \(outcome)"
            }
            guard storedCount == before + countDifference(decision) else {
                return "\(line) at \(context.url): \(storedCount) cookies after \(before), told \(decision)"
            }
            return decision.outcome == .rejected ? nil : storedDifference()
        case .send(let context):
            return retrievalDifference(context)
        case .advance(let seconds):
            now = now.advanced(bySeconds: seconds)
        case .endSession:
            store.endSession()
            twin.endSession()
        }
        return nil
    }

    /// How many unexpired cookies are stored.
    private var storedCount: Int { store.cookies.count { !$0.isExpired(at: now) } }

    /// How many more there are after a decision, by what it tells.
    private func countDifference(_ decision: StorageDecision) -> Int {
        let difference =
            switch decision.outcome {
            case .stored: 1
            case .deleted: decision.previous == nil ? 0 : -1
            case .replaced, .rejected: 0
            }
        return difference - decision.evicted.count
    }

    private var clock: Int { Int(now.microseconds) }

    private func request(_ context: RequestContext) -> TwinRequest {
        TwinRequest(
            context, trustsLoopback: scenario.policy.secureConnections == .cryptographicOrLoopback,
            considersRedirects: scenario.policy.considersRedirectChain)
    }

    /// The engine gives every reason; the draft's first must be among them.
    private func agree(_ decision: StorageDecision, _ outcome: TwinStore.Outcome) -> Bool {
        switch outcome {
        case .stored: decision.outcome == .stored
        case .replaced: decision.outcome == .replaced
        case .deleted: decision.outcome == .deleted
        case .rejected(let reason): decision.outcome == .rejected && decision.reasons.contains(reason)
        }
    }

    private mutating func retrievalDifference(_ context: RequestContext) -> String? {
        let request = request(context)
        var copy = store
        let retrieval = store.retrieve(for: context, now: now)
        let cookieString = twin.retrieve(request, now: clock)
        // The way without reasons gives the same octets and notes the same accesses.
        guard copy.cookieString(for: context, now: now) == retrieval.cookieString,
            Set(copy.cookies.filter { !$0.isExpired(at: now) }) == Set(store.cookies.filter { !$0.isExpired(at: now) })
        else { return "\(context.url): cookieString(for:now:) differs from retrieve(for:now:)" }
        guard retrieval.cookieString.bytes == cookieString else {
            return "\(context.url): \(retrieval.cookieString), twin \(Octets(cookieString))"
        }
        for exclusion in retrieval.excluded where !exclusion.reasons.contains(.expired) {
            let unmet = twin.unmetRequirements(TwinStore.TwinCookie(exclusion.cookie), request, now: clock)
            guard Set(exclusion.reasons.reasons) == unmet else {
                return "\(context.url) without \(exclusion.cookie.name): \(exclusion.reasons), twin \(unmet)"
            }
        }
        return nil
    }

    private func storedDifference() -> String? {
        let stored = store.cookies.filter { !$0.isExpired(at: now) }.map(TwinStore.TwinCookie.init)
        var fresh = twin
        fresh.evictExpired(now: clock)
        let isSame = stored.count == fresh.cookies.count && stored.allSatisfy(fresh.cookies.contains)
        return isSame ? nil : "stored \(stored), twin \(fresh.cookies)"
    }
}

extension TwinStore.TwinCookie {
    /// A cookie of the engine, in the twin's terms.
    init(_ cookie: Cookie) {
        self.init(
            name: cookie.name.bytes, value: cookie.value.bytes, expiry: cookie.expiry.map { Int($0.microseconds) },
            domain: cookie.domain.octets.bytes, domainIsIPAddress: cookie.domain.isIPAddress, path: cookie.path.bytes,
            creation: Int(cookie.creation.microseconds), lastAccess: Int(cookie.lastAccess.microseconds),
            isHostOnly: cookie.isHostOnly, isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly,
            sameSite: cookie.sameSite, partitionKey: cookie.id.partitionKey?.serialized)
    }
}
