import Testing

@testable import CookieModel

@Suite("SameSite in storing and in sending (sections 5.2, 5.7 steps 17 to 19, and 5.8.3)")
struct SameSiteTests {
    /// A request to example.com, and what may come of it.
    struct Row: Sendable, CustomStringConvertible {
        let name: String
        let request: Request
        /// Which cookies it sets: `any`, or `none` for those with SameSite=None alone.
        let sets: String
        /// Which cookies it carries: `strict` for all, `lax`, or `none`.
        let sends: String

        init(_ name: String, sets: String, sends: String, _ request: Request) {
            self.name = name
            self.request = request
            self.sets = sets
            self.sends = sends
        }

        var description: String { name }
    }

    private static let url = "https://www.example.com/"
    private static let page = "https://shop.example.com/"
    private static let foreign = "https://other.com/"

    static let rows = [
        Row("typed", sets: "any", sends: "strict", Request(url)),
        Row(
            "typed over a foreign page", sets: "any", sends: "strict",
            Request(url, on: foreign, by: "user", navigates: true)),
        Row("link on its own site", sets: "any", sends: "strict", Request(url, on: page, navigates: true)),
        Row(
            "form on its own site", sets: "any", sends: "strict",
            Request(url, method: "POST", on: page, navigates: true)),
        Row("link on a foreign page", sets: "any", sends: "lax", Request(url, on: foreign, navigates: true)),
        Row(
            "HEAD from a foreign page", sets: "any", sends: "lax",
            Request(url, method: "HEAD", on: foreign, navigates: true)),
        Row("OPTIONS", sets: "any", sends: "lax", Request(url, method: "OPTIONS", on: foreign, navigates: true)),
        Row("TRACE", sets: "any", sends: "lax", Request(url, method: "TRACE", on: foreign, navigates: true)),
        Row(
            "form on a foreign page", sets: "any", sends: "none",
            Request(url, method: "POST", on: foreign, navigates: true)),
        Row(
            "PUT from a foreign page", sets: "any", sends: "none",
            Request(url, method: "PUT", on: foreign, navigates: true)),
        Row("link in a foreign frame", sets: "any", sends: "lax", Request(url, on: page, by: foreign, navigates: true)),
        Row(
            "link in a sandboxed frame", sets: "any", sends: "lax",
            Request(url, on: page, by: "opaque", navigates: true)),
        Row("new window of a foreign page", sets: "any", sends: "lax", Request(url, by: foreign)),
        Row("image on its own site", sets: "any", sends: "strict", Request(url, on: page)),
        Row("POST on its own site", sets: "any", sends: "strict", Request(url, method: "POST", on: page)),
        Row("frame on its own site", sets: "any", sends: "strict", Request(url, on: page, by: page)),
        Row("image on a foreign page", sets: "none", sends: "none", Request(url, on: foreign)),
        Row(
            "image in a foreign frame on its own page", sets: "none", sends: "none", Request(url, on: page, by: foreign)
        ),
        Row(
            "image in its own frame on a foreign page", sets: "none", sends: "none", Request(url, on: foreign, by: url)),
        Row("image in a sandboxed frame", sets: "none", sends: "none", Request(url, on: page, by: "opaque")),
        Row("image on its own site by http", sets: "none", sends: "none", Request(url, on: "http://shop.example.com/")),
        Row(
            "link on its own site by http", sets: "any", sends: "lax",
            Request(url, on: "http://www.example.com/", navigates: true)),
        Row("WebSocket on its own site", sets: "any", sends: "strict", Request("wss://www.example.com/", on: page)),
        Row("WebSocket on a foreign page", sets: "none", sends: "none", Request("wss://www.example.com/", on: foreign)),
        Row("script on its own site", sets: "any", sends: "strict", Request(url, via: .script, on: page)),
        Row("script alone", sets: "any", sends: "strict", Request(url, via: .script)),
        Row("script in a foreign page", sets: "none", sends: "none", Request(url, via: .script, on: foreign)),
        Row(
            "script, said to navigate", sets: "none", sends: "none",
            Request(url, via: .script, on: foreign, navigates: true)),
    ]

    @Test("Each kind of request sets and carries the cookies that their SameSite allows", arguments: rows)
    func matrix(row: Row) throws {
        for (attribute, level) in [("None", "none"), ("Lax", "lax"), ("", "lax"), ("x", "lax"), ("Strict", "strict")] {
            let line = Octets("a=1; Secure; SameSite=\(attribute); Domain=example.com")
            var session = Session()
            let mayBeSet = level == "none" || row.sets == "any"
            #expect(try session.set(line, in: row.request) == (mayBeSet ? "stored" : "rejected: same-site-cross-site"))

            session = Session()
            try session.set(line)
            let goes = level == "none" || row.sends == "strict" || row.sends == level
            #expect(try session.sent(in: row.request) == (goes ? "a=1" : ""), "SameSite=\(attribute)")
            let reason = ["Strict": "strict", "Lax": "lax"][attribute] ?? "default"
            #expect(try session.kept(in: row.request) == (goes ? [] : ["a: same-site-\(reason)"]))
        }
    }

    @Test("SameSite=None needs Secure, in any request")
    func noneNeedsSecure() throws {
        for row in SameSiteTests.rows {
            var session = Session()
            #expect(try session.set("a=1; SameSite=None", in: row.request) == "rejected: same-site-none-insecure")
            #expect(try session.set("a=1; SameSite=None; Secure", in: row.request) == "stored")
        }
    }

    @Test("The last SameSite counts in storing")
    func lastOne() throws {
        var session = Session()
        #expect(try session.set("a=1; SameSite=None; SameSite=Lax") == "stored")
        #expect(try session.set("b=1; SameSite=None; SameSite=x") == "stored")
        #expect(try session.set("c=1; SameSite=Lax; SameSite=None") == "rejected: same-site-none-insecure")
        #expect(session.store.cookies.map(\.sameSite) == [.lax, .default])
    }

    @Test("A cookie without SameSite goes with unsafe navigations while it is young, if the policy allows it")
    func laxAllowingUnsafe() throws {
        let form = Request(SameSiteTests.url, method: "POST", on: SameSiteTests.foreign, navigates: true)
        for (age, seconds, goes) in [
            (0, 0, false), (120, 0, true), (120, 120, true), (120, 121, false), (300, 121, true),
        ]
            as [(Int64, Int64, Bool)]
        {
            var policy = CookiePolicy()
            policy.laxAllowingUnsafeAge = age
            var session = Session(policy)
            for line in ["a=1", "b=2; SameSite=x", "c=3; SameSite=Lax", "d=4; SameSite=Strict"] as [Octets] {
                try session.set(line, at: SameSiteTests.url)
            }
            session.advance(bySeconds: seconds)
            #expect(try session.sent(in: form) == (goes ? "a=1; b=2" : ""))
            var image = form
            image.navigates = false
            #expect(try session.sent(in: image) == "")
            var script = form
            script.interface = .script
            #expect(try session.sent(in: script) == "")
            // A replaced cookie keeps its age.
            try session.set("a=5", at: SameSiteTests.url)
            #expect(try session.sent(in: form) == (goes ? "a=5; b=2" : ""))
        }
    }

    @Test("A redirect through another site makes a request cross-site where the policy looks at the chain")
    func redirects() throws {
        let (url, foreign) = (SameSiteTests.url, SameSiteTests.foreign)
        for (chain, considers, goes) in [
            ([], true, true), ([url], true, true), (["https://a.example.com/"], true, true), ([foreign], false, true),
            ([foreign], true, false), ([url, foreign, url], true, false), (["http://www.example.com/"], true, false),
        ] as [([String], Bool, Bool)] {
            var policy = CookiePolicy()
            policy.considersRedirectChain = considers
            var session = Session(policy)
            try session.set("a=1; SameSite=Strict", at: url)
            for topLevel in [nil, SameSiteTests.page] {
                #expect(try session.sent(in: Request(url, on: topLevel, redirects: chain)) == (goes ? "a=1" : ""))
            }
        }
    }
}
