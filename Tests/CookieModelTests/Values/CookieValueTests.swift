import CookieModel
import Foundation
import PublicSuffix
import Testing

@Suite("Cookies, decisions and stores as Swift values")
struct CookieValueTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    private func context(_ url: String = "https://www.shop.example/account/") throws -> RequestContext {
        RequestContext(url: try RequestURL(url))
    }

    private func store(_ lines: String...) throws -> CookieStore {
        var store = CookieStore()
        for line in lines { store.receive(line, in: try context(), now: now) }
        return store
    }

    /// All that a program or a debugger may print of a value.
    private func printed(_ value: some Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(reflecting: value), "\([value])", "\(Optional(value) as Any)", dumped]
            .joined(separator: "\n")
    }

    @Test("What holds a cookie's value does not print it")
    func hidden() throws {
        let line = "sid=opensesame; Path=/account; HttpOnly"
        var store = try store(line)
        let cookie = try #require(store.cookies.first)
        let decision = store.receive(line, in: try context(), now: now)
        let record = CookieRecord(name: "sid", value: "opensesame", domain: "shop.example", isHostOnly: false)
        let retrieval = store.retrieve(for: try context("https://www.shop.example/"), now: now)
        let response = ReceivedResponse(context: try context(), setCookie: [Octets(line)])
        let values: [Any] = [
            cookie, decision, record, store, SetCookie.parse(Octets(line)), retrieval, response,
            Eviction(cookie: cookie, reason: .domainLimit),
        ]
        for value in values {
            #expect(!printed(value).contains("opensesame"), "\(type(of: value))")
        }
        #expect("\(cookie)" == "sid (www.shop.example/account, value hidden)")
        #expect("\(record)" == "sid (.shop.example/, value hidden)")
        #expect("\(store)" == "CookieStore (1 cookies)")
        #expect("\(decision)" == "replaced sid (www.shop.example/account, value hidden)")
        #expect(cookie.valueText == "opensesame" && cookie.nameText == "sid")
    }

    @Test("Outcomes and reasons are printed as reports write them")
    func readable() throws {
        var store = CookieStore()
        let decision = store.receive("a=1; SameSite=None", in: try context(), now: now)
        #expect("\(decision.outcome)" == "rejected")
        #expect("\([decision.outcome])" == "[rejected]")
        #expect("\(decision)" == "rejected a: same-site-none-insecure")
        #expect("\(RejectionReason.sameSiteNoneInsecure)" == "same-site-none-insecure")
        #expect(Array(decision.reasons) == [.sameSiteNoneInsecure])
        for reason in decision.reasons { #expect(reason == .sameSiteNoneInsecure) }
    }

    @Test("A cookie keeps every field in JSON")
    func coding() throws {
        var cookie = Cookie(
            id: Cookie.ID(
                name: "sid", domain: try #require(WebHost("shop.example")), isHostOnly: false, path: "/a",
                partitionKey: PartitionKey(topLevelSite: "https://top.example", hasCrossSiteAncestor: true)),
            value: "v\"1", isSecure: true, isHTTPOnly: true, sameSite: .strict, expiry: .distantFuture,
            creation: Timestamp(microseconds: 1_800_000_000_123_456), lastAccess: now, sequence: 7)
        #expect(try roundTrip(cookie) == cookie)
        cookie.value = [0xFF, 0x00]
        cookie.id.name = [0xE4]
        cookie.id.isHostOnly = true
        cookie.id.partitionKey = nil
        cookie.expiry = nil
        for sameSite in SameSite.allCases {
            cookie.sameSite = sameSite
            #expect(try roundTrip(cookie) == cookie)
        }
        for host in ["[::1]", "127.0.0.1", "xn--bcher-kva.example", "localhost"] {
            cookie.id.domain = try #require(WebHost(host))
            #expect(try roundTrip(cookie) == cookie)
        }
    }

    private func roundTrip(_ cookie: Cookie) throws -> Cookie {
        try JSONDecoder().decode(Cookie.self, from: JSONEncoder().encode(cookie))
    }

    @Test("The JSON of a cookie has the members of the JSON lines")
    func stableJSON() throws {
        let cookie = Cookie(
            id: Cookie.ID(
                name: "a", domain: try #require(WebHost("shop.example")), isHostOnly: true, path: "/", partitionKey: nil
            ),
            value: [0xFF], isSecure: true, isHTTPOnly: false, sameSite: .lax, expiry: now, creation: now,
            lastAccess: now)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(cookie), as: UTF8.self)
        let moment = "2027-01-15T08:00:00Z"
        #expect(
            text
                == #"{"created":"\#(moment)","crumb":1,"domain":"shop.example","expires":"\#(moment)","hostOnly":true,"#
                + #""httpOnly":false,"lastAccess":"\#(moment)","name":"a","path":"/","sameSite":"Lax","secure":true,"#
                + #""sequence":0,"valueBase64":"/w=="}"#)
    }

    @Test("JSON that is no cookie of this version is an error, and a line of a file is a cookie")
    func decoding() throws {
        func decode(_ text: String) throws -> Cookie { try JSONDecoder().decode(Cookie.self, from: Data(text.utf8)) }
        let rest = #""name":"a","value":"1","path":"/","hostOnly":true,"secure":false,"httpOnly":false"#
        let created = #""created":"2027-01-15T08:00:00Z""#
        let cookie = try decode(#"{"crumb":1,"domain":"shop.example",\#(rest),\#(created),"later":[1]}"#)
        #expect(cookie.creation == now && cookie.lastAccess == now && cookie.expiry == nil && cookie.sequence == 0)
        for text in [
            #"{"crumb":2,"domain":"shop.example",\#(rest),\#(created)}"#,
            #"{"crumb":1,"domain":"a b",\#(rest),\#(created)}"#,
            #"{"crumb":1,"domain":"shop.example",\#(rest),"created":"soon"}"#,
            #"{"crumb":1,"domain":"shop.example",\#(rest),\#(created),"sameSite":"lax"}"#,
            #"{"crumb":1,"domain":"shop.example",\#(rest),\#(created),"sequence":-1}"#,
            #"{"crumb":1,"domain":"shop.example",\#(rest),\#(created),"sequence":9223372036854775807}"#,
            #"{"crumb":1,"domain":"shop.example",\#(created)}"#,
        ] {
            #expect(throws: DecodingError.self, "\(text)") { try decode(text) }
        }
    }

    @Test("A store of the cookies of a store is equal to it, and goes on in the same order")
    func copies() throws {
        let original = try store("a=1; Path=/", "b=2; Path=/", "c=3; Domain=shop.example; Path=/; Max-Age=60")
        let data = try JSONEncoder().encode(original.cookies)
        var copy = CookieStore(try JSONDecoder().decode([Cookie].self, from: data))
        #expect(copy == original && copy.count == 3 && !copy.isEmpty)
        copy.receive("d=4; Path=/", in: try context(), now: now)
        #expect(copy != original)
        #expect(try copy.cookieString(for: context(), now: now) == "a=1; b=2; c=3; d=4")
    }

    @Test("Of several cookies with one ID, the last one is in the store")
    func duplicates() throws {
        var first = try #require(try store("a=1").cookies.first)
        let earlier = first
        first.value = "2"
        #expect(CookieStore([earlier, first]).cookies == [first])
    }

    @Test("A store removes one cookie, some, and all")
    func removing() throws {
        var store = try store("a=1; Path=/", "b=2; Path=/", "c=3; Path=/")
        let id = try #require(store.cookies.first { $0.name == "b" }).id
        #expect(store.remove(id)?.value == "2")
        #expect(store.remove(id) == nil && store.count == 2)
        #expect(store.removeAll { $0.name == "a" }.map(\.value) == ["1"])
        #expect(store.count == 1)
        #expect(try store.cookieString(for: context(), now: now) == "c=3")
        store.removeAll()
        #expect(store.isEmpty && store.cookies.isEmpty)
        #expect(store == CookieStore())
        #expect(store != CookieStore(policy: CookiePolicy(profile: .browser)))
    }

    @Test("Contexts are equal if all their parts are")
    func contexts() throws {
        let other = try context()
        var context = try context()
        #expect(context == other)
        context.method = "POST"
        #expect(context != other)
        #expect(Set([context, other, context]).count == 2)
    }

    @Test("A URL of Foundation is a URL of a request, and the other way round")
    func foundationURLs() throws {
        let url = try #require(URL(string: "https://Shop.example:443/a?b#c"))
        let request = try RequestURL(url)
        #expect(request.description == "https://shop.example/a?b")
        #expect(URL(request)?.absoluteString == "https://shop.example/a?b")
        let mail = try #require(URL(string: "mailto:ada@shop.example"))
        #expect(throws: RequestURLError(code: .schemeUnsupported)) { try RequestURL(mail) }
    }

    @Test("The policy of a store can have rules added to the bundled list")
    func addedRules() throws {
        var policy = CookiePolicy()
        policy.publicSuffixes = try PublicSuffixList.bundled.adding(["shop.example"])
        var store = CookieStore(policy: policy)
        let decision = store.receive("a=1; Domain=shop.example", in: try context(), now: now)
        #expect(decision.reasons == [.domainPublicSuffix])
        #expect(policy != CookiePolicy() && CookiePolicy() == CookiePolicy())
    }
}
