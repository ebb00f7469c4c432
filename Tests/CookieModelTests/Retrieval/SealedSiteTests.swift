import TestSupport
import Testing

@testable import CookieModel

@Suite("Retrieval from a site whose values are sealed")
struct SealedSiteTests {
    private static let lines: [Octets] = [
        "a=1", "b=2; Path=/x", "c=3; Path=/x/y; Secure", "=nameless", "d=4; Path=/elsewhere", "e=5; HttpOnly",
        "f=6; Secure; SameSite=None; Partitioned",
    ]

    /// A site of a store that seals each value by a prefix; what begins with `broken` it cannot open.
    private func site(_ cookies: [Cookie], broken: Set<Octets> = []) -> SiteCookies {
        var site = SiteCookies.scratch
        for cookie in cookies {
            let mark = broken.contains(cookie.name) ? "broken" : "sealed"
            let sealed = Octets(mark + String(decoding: cookie.value, as: UTF8.self))
            let partition = Octets(cookie.id.partitionKey?.serialized ?? "")
            cookie.domain.octets.withOctets { domain in
                cookie.path.withOctets { path in
                    cookie.name.withOctets { name in
                        partition.withOctets { partition in
                            sealed.withOctets { sealed in
                                site.append(
                                    domain: domain, path: path, name: name, partitionKey: partition,
                                    sealedValue: sealed, isHostOnly: cookie.isHostOnly, attributes: cookie.attributes,
                                    sameSite: cookie.sameSite, expiry: cookie.expiry,
                                    creation: cookie.creation, lastAccess: cookie.lastAccess,
                                    sequence: cookie.sequence)
                            }
                        }
                    }
                }
            }
        }
        return site.takeAll()
    }

    private func open(_ cookie: borrowing PackedCookie) -> Octets? {
        let sealed = String(decoding: cookie.valueOctets, as: UTF8.self)
        return sealed.hasPrefix("sealed") ? Octets(String(sealed.dropFirst(6))) : nil
    }

    @Test("Sealed and opened sites answer as the store in memory, in any order of rows")
    func equivalence() throws {
        var random = SeededGenerator(seed: 7)
        var session = Session()
        for line in Self.lines { try session.set(line, at: "https://example.com/x/y/z") }
        for url in ["https://example.com/", "http://example.com/x/y/", "https://www.example.com/x"] {
            let context = try Request(url).context
            let rules = RetrievalRules(context, session.store.policy, now: session.now)
            var store = session.store
            let expected = store.retrieve(for: context, now: session.now)
            var sealed = site(session.store.cookies.shuffled(using: &random))
            var accesses = AccessNotes(before: .distantPast)
            for isOpened in [false, true] {
                if isOpened { sealed.openValues(open) }
                #expect(sealed.hasSealedValues == !isOpened)
                let retrieval = sealed.retrieve(rules, &accesses, opening: open)
                #expect(retrieval.included == expected.included)
                #expect(retrieval.excluded.map(\.reasons) == expected.excluded.map(\.reasons))
                #expect(retrieval.excluded.map(\.cookie.id) == expected.excluded.map(\.cookie.id))
                #expect(sealed.cookieString(rules, &accesses, opening: open) == expected.cookieString)
            }
            #expect(accesses.cookies.isEmpty)
        }
    }

    @Test("A value that cannot be opened stays unreadable, and takes no room", arguments: [false, true])
    func unreadable(isOpened: Bool) throws {
        var policy = CookiePolicy()
        policy.limits.requestCookies = 1
        var session = Session(policy)
        for line in ["a=1", "b=2", "c=3"] as [Octets] { try session.set(line) }
        let rules = RetrievalRules(
            try Request("https://example.com/").context, session.store.policy, now: session.now)
        var sealed = site(session.store.cookies, broken: ["a"])
        if isOpened { sealed.openValues(open) }
        var accesses = AccessNotes(before: .distantFuture)
        let retrieval = sealed.retrieve(rules, &accesses, opening: open)
        #expect(retrieval.cookieString == "b=2")
        #expect(retrieval.excluded.map(\.reasons.description) == ["unreadable", "request-limit"])
        #expect(retrieval.excluded.first?.cookie.value.isEmpty == true)
        #expect(accesses.cookies.map(\.name) == ["b"])
        #expect(sealed.cookieString(rules, &accesses, opening: open) == "b=2")
        #expect(accesses.cookies.map(\.name) == ["b", "b"])
    }
}
