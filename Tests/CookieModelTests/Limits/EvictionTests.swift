import CookieModel
import Testing

@Suite("Excess cookies go out in the draft's order (section 5.7)")
struct EvictionTests {
    private func session(_ change: (inout CookieLimits) -> Void) -> Session {
        var policy = CookiePolicy()
        change(&policy.limits)
        return Session(policy)
    }

    private func names(_ session: Session) -> String {
        session.store.cookies.sorted { $0.sequence < $1.sequence }.map(\.name.description).joined(separator: " ")
    }

    private func evicted(_ decision: StorageDecision) -> [String] {
        decision.evicted.map { "\($0.cookie.name) \($0.reason.identifier)" }
    }

    @Test("The limits of the two profiles")
    func defaults() {
        let standard = CookiePolicy().limits
        #expect((standard.domainCookies, standard.totalCookies) == (180, nil))
        #expect((standard.partitionCookies, standard.partitionOctets) == (180, 10_240))
        #expect((standard.requestCookies, standard.requestOctets) == (nil, nil))
        let browser = CookiePolicy(profile: .browser).limits
        #expect((browser.domainCookies, browser.totalCookies) == (180, 3300))
        #expect((browser.partitionCookies, browser.partitionOctets) == (180, 10_240))
    }

    @Test("The 181st cookie of a registrable domain, on any of its hosts, evicts the first one")
    func domain() throws {
        var session = Session()
        for number in 0..<180 {
            try session.set(Octets("c\(number)=1"), at: "https://h\(number % 7).example.com/")
            #expect(session.store.count == number + 1)
        }
        let context = try Request("https://x.example.com/").context
        let decision = session.store.receive("new=1", in: context, now: session.now)
        #expect(decision.outcome == .stored && evicted(decision) == ["c0 domain-limit"])
        #expect(session.store.count == 180)
        try session.set("other=1", at: "https://example.org/")
        #expect(session.store.count == 181)
    }

    @Test(
        "Without Secure before Secure, least recently used before others, older before newer",
        arguments: [
            // Lines in the order of arrival, a second apart; the names used afterwards; what stays of three.
            (["a", "b", "c", "d"], "", "b c d"),
            (["a; Secure", "b", "c", "d"], "", "a c d"),
            (["a; Secure", "b; Secure", "c", "d; Secure"], "", "a b d"),
            (["a; Secure", "b; Secure", "c; Secure", "d"], "", "a b c"),
            (["a; Secure", "b; Secure", "c; Secure", "d; Secure"], "", "b c d"),
            (["a", "b", "c", "d"], "a", "a c d"),
            (["a", "b", "c", "d"], "a b", "a b d"),
            (["a; Secure", "b", "c; Secure", "d"], "b", "a c d"),
            (["a; Max-Age=2", "b", "c", "d"], "", "b c d"),
            (["a", "b; Max-Age=1", "c", "d"], "", "a c d"),
        ])
    func order(lines: [String], used: String, kept: String) throws {
        var session = session { $0.domainCookies = 3 }
        for (number, line) in lines.enumerated() {
            if number == 3 {
                for name in used.split(separator: " ") {
                    _ = try session.sent(to: "https://example.com/\(name)")
                    session.advance(bySeconds: 1)
                }
            }
            let parts = line.split(separator: ";", maxSplits: 1)
            let attributes = parts.count > 1 ? ";\(parts[1])" : ""
            try session.set(Octets("\(parts[0])=1; Path=/\(parts[0])\(attributes)"))
            session.advance(bySeconds: 1)
        }
        #expect(names(session) == kept)
    }

    @Test("A replacement, a deletion and a rejection send nothing out")
    func noInsertion() throws {
        var session = session { $0.domainCookies = 2 }
        for line in ["a=1", "b=1", "a=2", "b=; Max-Age=0", "c=1", "__Host-x=1", "c=2"] as [Octets] {
            let context = try Request("https://example.com/").context
            #expect(session.store.receive(line, in: context, now: session.now).evicted.isEmpty)
        }
        #expect(names(session) == "a c")
    }

    @Test("No limit keeps everything; a limit of 0 keeps nothing and reports it")
    func extremes() throws {
        var unlimited = session { $0 = .unlimited }
        for number in 0..<500 { try unlimited.set(Octets("c\(number)=1")) }
        #expect(unlimited.store.count == 500)
        var nothing = session { $0.domainCookies = 0 }
        let decision = nothing.store.receive(
            "a=1", in: try Request("https://example.com/").context, now: nothing.now)
        #expect(decision.outcome == .stored && evicted(decision) == ["a domain-limit"] && nothing.store.count == 0)
    }

    @Test("Over the total, expired cookies go first, then the least recently used of all, Secure or not")
    func total() throws {
        var session = session { $0.totalCookies = 3 }
        try session.set("a=1; Secure", at: "https://a.example/")
        session.advance(bySeconds: 1)
        try session.set("b=1; Max-Age=5", at: "https://b.example/")
        session.advance(bySeconds: 1)
        try session.set("c=1", at: "https://c.example/")
        session.advance(bySeconds: 10)
        try session.set("d=1", at: "https://d.example/")
        #expect(names(session) == "a c d")
        _ = try session.sent(to: "https://c.example/")
        let decision = session.store.receive("e=1", in: try Request("https://e.example/").context, now: session.now)
        #expect(evicted(decision) == ["a total-limit"] && names(session) == "c d e")
        #expect(session.store.count == 3)
    }

    @Test("Each partition has room of its own, in cookies and in octets of names and values")
    func partitions() throws {
        var session = session { limits in
            limits.domainCookies = 1
            limits.partitionCookies = 3
            limits.partitionOctets = 20
        }
        func receive(_ line: Octets, on page: String) throws -> [String] {
            defer { session.advance(bySeconds: 1) }
            return evicted(
                session.store.receive(
                    line, in: try Request("https://widget.example/", on: page).context, now: session.now))
        }
        let attributes = "; Secure; SameSite=None; Partitioned"
        try session.set("plain=1; Secure; SameSite=None", at: "https://widget.example/")
        for page in ["https://one.example/", "https://two.example/"] {
            #expect(try receive(Octets("a=1" + attributes), on: page) == [])
            #expect(try receive(Octets("b=1" + attributes), on: page) == [])
            #expect(try receive(Octets("c=1" + attributes), on: page) == [])
            #expect(try receive(Octets("d=1" + attributes), on: page) == ["a partition-limit"])
        }
        // 2 + 2 + 17 octets are one too many; a value that grows counts as well.
        #expect(
            try receive(Octets("e=0123456789abcdef" + attributes), on: "https://one.example/")
                == ["b partition-limit", "c partition-octet-limit"])
        #expect(
            try receive(Octets("d=0123456789abcdef" + attributes), on: "https://one.example/")
                == ["e partition-octet-limit"])
        #expect(names(session) == "plain d b c d")
    }
}
