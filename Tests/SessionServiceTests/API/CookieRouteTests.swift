import CookieModel
import HTTPTypes
import SessionStore
import Testing

@testable import SessionService

@Suite("Cookies by hand")
struct CookieRouteTests {
    private static let route = "/v1/jars/default/cookies"

    @Test(
        "Conditions select the listed cookies",
        arguments: [
            ("", ["sid", "lax", "deep"]), ("?name=sid", ["sid"]), ("?domain=example.com", ["sid", "lax", "deep"]),
            ("?domain=example.org", []), ("?domain=.example.com", ["sid", "lax", "deep"]), ("?path=/deep", ["deep"]),
            ("?url=https://www.example.com/", ["sid", "lax"]),
            ("?url=http://www.example.com/deep", ["lax", "deep"]), ("?httpOnly=true", ["sid"]),
            ("?httpOnly=false", ["lax", "deep"]), ("?session=true", ["sid", "deep"]), ("?session=false", ["lax"]),
            ("?session=false&name=sid", []),
        ])
    func conditions(query: String, names: [String]) async throws {
        let answer = try await ServiceFixture().run { try await $0.send(.get, Self.route + query) }
        let cookies = answer.object["cookies"] as? [[String: Any]]
        #expect(cookies?.map { $0["name"] as? String ?? "" } == names, "\(answer.text)")
        #expect(cookies?.allSatisfy { $0["value"] == nil } == true)
    }

    @Test("Cookie values require access to secrets")
    func values() async throws {
        let fixture = try ServiceFixture()
        for uri in ["\(Self.route)?values=true", "\(Self.route)/sid?values=true"] {
            let refused = try await fixture.run(AccessGrant(verbs: [.read])) { try await $0.send(.get, uri) }
            #expect(refused.status == 403 && refused.code == "forbidden")
            let shown = try await fixture.run(AccessGrant(verbs: [.read, .secrets])) { try await $0.send(.get, uri) }
            #expect(shown.status == 200 && shown.text.contains(#""value":"cookie-secret""#))
        }
    }

    @Test("Pages of cookies have every cookie once, even if some are added and removed between them")
    func pages() async throws {
        let fixture = try ServiceFixture()
        let names = try await fixture.run { client in
            var names: [String] = []
            var cursor = ""
            repeat {
                let answer = try await client.send(.get, "\(Self.route)?limit=1\(cursor)")
                let cookies = answer.object["cookies"] as? [[String: Any]] ?? []
                #expect(cookies.count == 1)
                names += cookies.compactMap { $0["name"] as? String }
                cursor = (answer.object["next"] as? String).map { "&cursor=\($0)" } ?? ""
                if names == ["sid"] {
                    _ = try await client.send(.delete, "\(Self.route)?name=sid")
                    _ = try await client.send(
                        .post, Self.route, #"{"url":"https://www.example.com/","setCookie":["late=1"]}"#)
                }
            } while !cursor.isEmpty && names.count < 10
            return names
        }
        #expect(names == ["sid", "lax", "deep", "late"])
    }

    @Test("The pages of a large jar together have each cookie once", arguments: [1, 7, 1000])
    func largeJar(limit: Int) async throws {
        let fixture = try ServiceFixture()
        let jar = try fixture.database.createJar(named: "large", now: ServiceFixture.now)
        for site in 0..<30 {
            let context = RequestContext(url: try RequestURL("https://www.site\(site * 7 % 30).test/"))
            let lines = (0..<80).map { Octets("n\($0)=\(site); Path=/; Secure\($0 % 3 == 0 ? "; HttpOnly" : "")") }
            try jar.receive(ReceivedResponse(context: context, setCookie: lines), now: ServiceFixture.now)
        }
        let whole = try jar.cookies().readable
        for (query, expected) in [
            ("", whole), ("&httpOnly=true", whole.filter(\.isHTTPOnly)),
            ("&domain=www.site3.test", whole.filter { $0.domain.description == "www.site3.test" }),
            ("&name=n5", whole.filter { $0.id.name == "n5" }), ("&domain=absent.test", []),
        ] where limit > 1 || !query.isEmpty && query != "&httpOnly=true" {
            let found = try await fixture.run { client in
                var found: [String] = []
                var cursor = ""
                repeat {
                    let answer = try await client.send(
                        .get, "/v1/jars/large/cookies?limit=\(limit)\(query)\(cursor)")
                    let cookies = answer.object["cookies"] as? [[String: Any]] ?? []
                    #expect(cookies.count <= limit)
                    found += cookies.map { "\($0["domain"] ?? "") \($0["name"] ?? "")" }
                    cursor = (answer.object["next"] as? String).map { "&cursor=\($0)" } ?? ""
                } while !cursor.isEmpty && found.count <= whole.count
                return found
            }
            #expect(found == expected.map { "\($0.domain) \($0.id.name)" }, "\(query)")
        }
    }

    @Test("A list of cookies that the caller already has is not sent again until it changes")
    func entityTags() async throws {
        try await ServiceFixture().run { client in
            let first = try await client.send(.get, Self.route)
            let tag = try #require(first.fields[.eTag])
            for list in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let again = try await client.send(.get, Self.route, fields: [.ifNoneMatch: list])
                #expect(again.status == 304 && again.text.isEmpty && again.fields[.eTag] == tag)
            }
            let filtered = try await client.send(.get, "\(Self.route)?name=sid", fields: [.ifNoneMatch: tag])
            #expect(filtered.status == 200)
            _ = try await client.send(.delete, "\(Self.route)?name=lax")
            let changed = try await client.send(.get, Self.route, fields: [.ifNoneMatch: tag])
            #expect(changed.status == 200 && changed.fields[.eTag] != tag)
        }
    }

    @Test("A cookie name that several cookies have needs more conditions")
    func ambiguous() async throws {
        try await ServiceFixture().run { client in
            _ = try await client.send(
                .post, Self.route, #"{"url":"https://other.example.com/","setCookie":["sid=2; Path=/x"]}"#)
            let ambiguous = try await client.send(.get, "\(Self.route)/sid")
            #expect(ambiguous.status == 409 && ambiguous.code == "cookie-ambiguous")
            let found = try await client.send(.get, "\(Self.route)/sid?path=/x")
            #expect(found.object["domain"] as? String == "other.example.com")
            let sent = try await client.send(.get, "\(Self.route)/sid?url=https://www.example.com/")
            #expect(sent.object["domain"] as? String == "www.example.com")
        }
    }

    @Test("Posted Set-Cookie lines are decided on in order, and a rejection has its reason")
    func set() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(
                .post, Self.route,
                #"{"url":"https://www.example.com/","setCookie":["n=1","sid=2; Secure; HttpOnly; Path=/","x=1; Domain=other.test"],"setCookieBase64":["Yj3/"]}"#
            )
        }
        let decisions = answer.object["decisions"] as? [[String: Any]]
        #expect(decisions?.map { $0["outcome"] as? String } == ["stored", "replaced", "rejected", "stored"])
        let reasons = decisions?[2]["reasons"] as? [[String: Any]]
        #expect(reasons?.first?["id"] as? String == "domain-mismatch")
    }

    @Test("The response to a removal lists the removed cookies")
    func remove() async throws {
        try await ServiceFixture().run { client in
            let answer = try await client.send(.delete, "\(Self.route)?url=https://www.example.com/&name=sid")
            let removed = answer.object["removed"] as? [[String: Any]]
            #expect(removed?.map { $0["name"] as? String } == ["sid"])
            #expect(try await client.send(.get, "\(Self.route)/sid").status == 404)
            #expect(try await client.send(.get, "\(Self.route)/lax").status == 200)
        }
    }
}
