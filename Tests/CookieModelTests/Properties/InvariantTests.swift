import TestSupport
import Testing

@testable import CookieModel

@Suite("Invariants")
struct InvariantTests {
    /// Runs `check` on every retrieval of many random scenarios.
    private func retrievals(seed: UInt64, _ check: (Retrieval, RequestContext, CookiePolicy) -> Void) {
        for number in 0..<1500 {
            var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
            let scenario = TwinScenario(&random)
            var store = CookieStore(policy: scenario.policy)
            var now = Session.start
            for step in scenario.steps {
                switch step {
                case .receive(let line, let context): store.receive(line, in: context, now: now)
                case .send(let context): check(store.retrieve(for: context, now: now), context, scenario.policy)
                case .advance(let seconds): now = now.advanced(bySeconds: seconds)
                case .endSession: store.endSession()
                }
            }
        }
    }

    @Test(
        "No cookie goes to a foreign host, no Secure one in the clear, no HttpOnly one to a script"
    )
    func leaks() {
        var sent = 0
        retrievals(seed: 1) { retrieval, context, policy in
            for cookie in retrieval.included {
                sent += 1
                let host = context.url.host.description
                let domain = cookie.domain.description
                #expect(
                    host == domain
                        || (!cookie.isHostOnly && !context.url.host.isIPAddress && host.hasSuffix("." + domain)))
                #expect(!cookie.isSecure || policy.isSecure(context.url))
                #expect(!cookie.isHTTPOnly || context.interface == .http)
                #expect(cookie.isHostOnly || !cookie.domain.isPublicSuffix(policy.publicSuffixes))
            }
        }
        #expect(sent > 500)
    }

    @Test("Every cookie of the site is either sent or told why not, and never both")
    func complete() {
        retrievals(seed: 2) { retrieval, _, _ in
            let identities = retrieval.included.map(\.id) + retrieval.excluded.map(\.cookie.id)
            #expect(Set(identities).count == identities.count)
            #expect(!retrieval.excluded.contains { $0.reasons.isEmpty })
            for (first, second) in zip(retrieval.included, retrieval.included.dropFirst()) {
                #expect(first.precedes(second) && !second.precedes(first))
            }
        }
    }

    @Test("The header has the bytes that were stored, and a server takes it apart again")
    func headers() {
        retrievals(seed: 3) { retrieval, _, _ in
            let header = retrieval.cookieString.bytes
            let pairs = retrieval.included.map { ($0.name.isEmpty ? [] : $0.name.bytes + [0x3D]) + $0.value.bytes }
            #expect(Array(pairs.joined(separator: [0x3B, 0x20])) == header)
            #expect(header.split(separator: 0x3B).count == pairs.count)
            #expect(!header.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
        }
    }

    @Test("Any octets that a value may have come back as they came")
    func values() throws {
        var random = SeededGenerator(seed: 4)
        let context = try Request("https://example.com/").context
        let allowed = (UInt8.min...UInt8.max).filter { $0 > 0x20 && $0 != 0x7F && $0 != 0x3B }
        for _ in 0..<2000 {
            let value = (0...random.below(12)).map { _ in random.pick(allowed) }
            var store = CookieStore()
            store.receive(Octets([0x61, 0x3D] + value), in: context, now: Session.start)
            #expect(store.retrieve(for: context, now: Session.start).cookieString.bytes == [0x61, 0x3D] + value)
        }
    }
}
