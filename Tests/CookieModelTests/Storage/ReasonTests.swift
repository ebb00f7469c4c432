import Testing

@testable import CookieModel

@Suite("Reasons for a rejection")
struct ReasonTests {
    @Test("A line that breaks several rules is reported with all of them, in the documented order")
    func allAtOnce() throws {
        var session = Session()
        try session.set("a=1; HttpOnly; Path=/")
        let crossSite = Request("http://example.com/", via: .script, on: "https://other.com/")
        #expect(
            try session.set("a=2; HttpOnly; Secure; Path=/; Domain=é.com", in: crossSite)
                == "rejected: domain-not-ascii, domain-mismatch, secure-from-insecure, http-only-from-script, same-site-cross-site"
        )
        #expect(
            try session.set("a=2; HttpOnly; Path=/", in: crossSite)
                == "rejected: http-only-from-script, same-site-cross-site, overwrite-http-only")
        #expect(
            try session.set("__Host-a=2; SameSite=None; Partitioned; Domain=com", in: crossSite)
                == "rejected: domain-public-suffix, same-site-none-insecure, prefix-host, partitioned-insecure")
    }

    @Test(
        "A line that breaks one rule is reported with that rule",
        arguments: [
            ("a=\u{7F}", "control-character"), ("=", "empty-name-value"),
            ("a=1; Domain=é", "domain-not-ascii, domain-public-suffix, domain-mismatch"),
            ("a=1; Domain=com", "domain-public-suffix"), ("a=1; Domain=b.com", "domain-mismatch"),
            ("a=1; SameSite=None", "same-site-none-insecure"), ("__Secure-a=1", "prefix-secure"),
            ("__Host-a=1", "prefix-host"),
            ("__Host-a", "prefix-nameless"), ("a=1; Partitioned", "partitioned-insecure"),
            ("crumb-witness-0a=1; Path=/; HttpOnly", "gateway-witness"),
            ("__Host-crumb-witness-0a=1; Path=/; Secure", "gateway-witness"),
            ("__Secure-crumb-witness-=1; Secure", "gateway-witness"),
        ] as [(Octets, String)])
    func one(line: Octets, reasons: String) throws {
        var session = Session()
        #expect(try session.set(line) == "rejected: \(reasons)")
        #expect(session.store.count == 0)
    }

    @Test(
        "A name that is not quite that of a gateway's witness is a name like any other",
        arguments: [
            "crumb-witness=1", "crumb=1", "xcrumb-witness-1=1", "Crumb-Witness-1=1", "x=crumb-witness-1", "c=1",
            "crumb-witness-1", "__crumb-witness-1=1", "_=1",
        ] as [Octets])
    func noWitness(line: Octets) throws {
        var session = Session()
        #expect(try session.set(line) == "stored")
    }

    @Test("Every reason has an identifier of its own and a sentence")
    func documented() {
        func check(_ identifiers: [String], _ explanations: [String]) {
            #expect(Set(identifiers).count == identifiers.count)
            #expect(Set(explanations).count == explanations.count)
            #expect(identifiers.allSatisfy { $0.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D } })
            #expect(explanations.allSatisfy { !$0.isEmpty && !$0.hasSuffix(".") })
        }
        check(RejectionReason.allCases.map(\.identifier), RejectionReason.allCases.map(\.explanation))
        check(ExclusionReason.allCases.map(\.identifier), ExclusionReason.allCases.map(\.explanation))
    }

    @Test("A set of reasons holds each once, in the documented order")
    func reasonSet() {
        for first in RejectionReason.allCases {
            for second in RejectionReason.allCases {
                let set: ReasonSet<RejectionReason> = [second, first, second]
                #expect(set.reasons == RejectionReason.allCases.filter { $0 == first || $0 == second })
                #expect(set.contains(first) && set.contains(second) && !set.isEmpty)
                var union: ReasonSet<RejectionReason> = [first]
                union.formUnion([second])
                #expect(union == set)
            }
        }
        #expect(ReasonSet<ExclusionReason>().isEmpty)
    }

    @Test(
        "Informational responses set no cookies, the end of a handshake does",
        arguments: [
            (100, false), (101, true), (102, false), (103, false), (199, false), (200, true), (204, true), (302, true),
            (304, true),
            (404, true), (500, true), (599, true),
        ])
    func status(status: Int, sets: Bool) throws {
        var session = Session()
        let response = ReceivedResponse(
            context: try Request("https://example.com/").context, status: status, setCookie: ["a=1", "b=2"])
        let decisions = session.store.receive(response, now: session.now)
        #expect(decisions.map(\.outcome) == Array(repeating: sets ? .stored : .rejected, count: 2))
        #expect(
            decisions.map(\.reasons.identifiers) == Array(repeating: sets ? [] : ["informational-response"], count: 2))
        #expect(try session.sent() == (sets ? "a=1; b=2" : ""))
    }
}
