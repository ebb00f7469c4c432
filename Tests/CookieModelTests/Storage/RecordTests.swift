import Testing

@testable import CookieModel

@Suite("Records out of other programs' stores")
struct RecordTests {
    private func fate(_ change: (inout CookieRecord) -> Void) -> String {
        var session = Session()
        var record = CookieRecord(name: "a", value: "1", domain: "www.example.com", isHostOnly: true)
        change(&record)
        let decision = session.store.receive(record, now: session.now)
        return decision.outcome == .rejected ? "rejected: \(decision.reasons)" : decision.outcome.rawValue
    }

    @Test("A record keeps its properties")
    func kept() throws {
        var session = Session()
        var record = CookieRecord(
            name: "a", value: "1", domain: "EXAMPLE.com", isHostOnly: false, path: "/b", isSecure: true)
        record.isHTTPOnly = true
        record.sameSite = .strict
        record.creation = Timestamp(seconds: 1)
        record.expiry = session.now.advanced(bySeconds: 60)
        #expect(session.store.receive(record, now: session.now).outcome == .stored)
        let cookie = try #require(session.store.cookies.first)
        #expect(
            (cookie.name, cookie.value, cookie.domain.description, cookie.isHostOnly) == (
                "a", "1", "example.com", false
            ))
        #expect((cookie.path, cookie.isSecure, cookie.isHTTPOnly, cookie.sameSite) == ("/b", true, true, .strict))
        #expect(
            (cookie.creation, cookie.lastAccess, cookie.expiry) == (Timestamp(seconds: 1), session.now, record.expiry))
        #expect(try session.sent(to: "https://www.example.com/b") == "a=1")
    }

    @Test("A record keeps its partition and the time of its last use, which is never in the future")
    func partitionAndLastAccess() throws {
        let partition = PartitionKey(topLevelSite: "https://top.example", hasCrossSiteAncestor: true)
        for (lastAccess, kept) in [(5, 5), (Int64.max / 2_000_000, nil)] as [(Int64, Int64?)] {
            var session = Session()
            var record = CookieRecord(name: "a", value: "1", domain: "example.com", isHostOnly: true, isSecure: true)
            record.partitionKey = partition
            record.lastAccess = Timestamp(seconds: lastAccess)
            #expect(session.store.receive(record, now: session.now).outcome == .stored)
            let cookie = try #require(session.store.cookies.first)
            #expect(cookie.id.partitionKey == partition)
            #expect(cookie.lastAccess == kept.map { Timestamp(seconds: $0) } ?? session.now)
            #expect(try session.sent(to: "https://example.com/") == "")
        }
    }

    @Test("A record meets the rules that need no request")
    func rules() {
        #expect(fate { _ in } == "stored")
        #expect(fate { $0.name = "a\u{1}" } == "rejected: control-character")
        #expect(fate { $0.value = "\n" } == "rejected: control-character")
        #expect(fate { $0.path = "/\u{7F}" } == "rejected: control-character")
        #expect(fate { $0.value = .filler(4096) } == "rejected: name-value-too-long")
        #expect(fate { $0.value = .filler(4095) } == "stored")
        #expect(fate { ($0.name, $0.value) = ("", "") } == "rejected: empty-name-value")
        #expect(fate { $0.path = "" } == "rejected: path-invalid")
        #expect(fate { $0.path = "b" } == "rejected: path-invalid")
        #expect(fate { $0.sameSite = .none } == "rejected: same-site-none-insecure")
        #expect(fate { ($0.sameSite, $0.isSecure) = (.none, true) } == "stored")
        let partition = PartitionKey(topLevelSite: "https://top.example", hasCrossSiteAncestor: false)
        #expect(fate { $0.partitionKey = partition } == "rejected: partitioned-insecure")
        #expect(fate { ($0.partitionKey, $0.isSecure) = (partition, true) } == "stored")
        #expect(fate { $0.name = "__Secure-a" } == "rejected: prefix-secure")
        #expect(fate { $0.name = "crumb-witness-01" } == "rejected: gateway-witness")
        #expect(fate { $0.name = "__host-a" } == "rejected: prefix-host")
        #expect(fate { ($0.name, $0.isSecure) = ("__Host-a", true) } == "stored")
        #expect(fate { ($0.name, $0.isSecure, $0.path) = ("__Host-a", true, "/b") } == "rejected: prefix-host")
        #expect(fate { ($0.name, $0.value) = ("", "__Host-a") } == "rejected: prefix-nameless")
    }

    @Test("A record that would go back as another cookie, or as two, is refused")
    func pairs() {
        #expect(fate { $0.value = "1; admin=1" } == "rejected: pair-invalid")
        #expect(fate { $0.name = "a;b" } == "rejected: pair-invalid")
        #expect(fate { $0.name = "b=c" } == "rejected: pair-invalid")
        #expect(fate { ($0.name, $0.value) = ("", "; b") } == "rejected: pair-invalid")
        for (name, value) in [(" a", "1"), ("a ", "1"), ("a\t", "1"), ("a", " 1"), ("a", "1\t"), ("", " ")] {
            #expect(fate { ($0.name, $0.value) = (Octets(name), Octets(value)) } == "rejected: pair-invalid")
        }
        #expect(fate { $0.value = "1=2, \"3 4\"" } == "stored")
        #expect(fate { ($0.name, $0.value) = ("", "b=c") } == "stored")
        #expect(fate { ($0.name, $0.value) = ("a b", "1\t2") } == "stored")
    }

    @Test("A domain must be a host, and a public suffix matches only itself")
    func domains() {
        for domain in ["", "a b", "1.2.3.4.5", "[::1", "a/b", "xn--a.ü"] {
            #expect(fate { $0.domain = domain } == "rejected: host-invalid", "\(domain)")
        }
        for domain in ["com", "github.io", "localhost", "b.kawasaki.jp"] {
            #expect(fate { $0.domain = domain } == "stored", "\(domain)")
            #expect(
                fate { ($0.domain, $0.isHostOnly) = (domain, false) }
                    == (domain == "localhost" ? "stored" : "rejected: domain-public-suffix"), "\(domain)")
        }
        for domain in ["127.0.0.1", "127.1", "[::1]", "BÜCHER.de", "user.github.io"] {
            #expect(fate { $0.domain = domain } == "stored", "\(domain)")
        }
    }

    @Test("A cookie for localhost and its subdomains is host-only, as after a response (section 5.7, step 9)")
    func localhost() {
        var session = Session()
        let record = CookieRecord(name: "a", value: "1", domain: "localhost", isHostOnly: false)
        let decision = session.store.receive(record, now: session.now)
        #expect(decision.cookie?.isHostOnly == true)
    }

    @Test("A lifetime counts from now, and is over where it is")
    func lifetime() {
        #expect(fate { $0.expiry = .distantPast } == "deleted")
        #expect(fate { $0.expiry = Session.start } == "stored")
        #expect(fate { $0.expiry = Session.start.advanced(bySeconds: -1) } == "deleted")
        var session = Session()
        var record = CookieRecord(name: "a", value: "1", domain: "example.com", isHostOnly: true)
        record.expiry = .distantFuture
        _ = session.store.receive(record, now: session.now)
        #expect(session.store.cookies.map(\.expiry) == [session.now.advanced(bySeconds: 34_560_000)])
    }

    @Test("A record replaces a cookie of its ID and keeps that one's creation")
    func replaces() {
        var session = Session()
        let record = CookieRecord(name: "a", value: "1", domain: "example.com", isHostOnly: true)
        #expect(session.store.receive(record, now: session.now).outcome == .stored)
        session.advance(bySeconds: 5)
        #expect(session.store.receive(record, now: session.now).outcome == .replaced)
        #expect(session.store.cookies.map(\.creation) == [Session.start])
    }
}
