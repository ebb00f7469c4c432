import CookieModel
import Foundation
import HTTPCaching
import HTTPTypes
import ResponseStore
import SessionStore
import Testing

@testable import SessionService

@Suite("The cache of responses, as the service lists and purges it")
struct CacheRouteTests {
    private static let route = "/v1/jars/default/cache"

    private let home: CacheHome
    private let fixture: ServiceFixture

    init() throws {
        home = try CacheHome()
        fixture = ServiceFixture(over: home.database, clock: ImmediateClock(), environment: home.environment) {
            ServiceFixture.now
        }
    }

    private var hasFolder: Bool { FileManager.default.fileExists(atPath: home.folder.file("caches")) }

    @Test("Stored responses are listed by page and site, without queries and secrets")
    func listed() async throws {
        try home.store("https://www.example.com/a?token=query-secret&page=2")
        try home.store("https://www.example.com/b;jsessionid=path-secret", age: 700)
        try home.store("https://cdn.test/c.js", ["Cache-Control": "no-cache", "X-Mark": "field-secret"])
        try home.store("https://www.example.com/other", jar: "other")
        try await fixture.run(AccessGrant(verbs: [.read], jars: .named(["default"]))) { client in
            let list = try await client.send(.get, Self.route)
            let responses = try #require(list.object["responses"] as? [[String: Any]])
            #expect(
                responses.compactMap { $0["url"] as? String } == [
                    "https://www.example.com/a", "https://www.example.com/b;jsessionid=redacted",
                    "https://cdn.test/c.js",
                ])
            #expect(responses.map { $0["hasQuery"] as? Bool } == [true, nil, nil])
            #expect(responses.compactMap { $0["state"] as? String } == ["fresh", "stale", "stale"])
            #expect(responses.compactMap { $0["timeToLive"] as? Int } == [600, -100, 0])
            #expect(list.object["next"] == nil)
            let queries = try await client.send(.get, "\(Self.route)?queries=true")
            #expect(queries.text.contains("?token=redacted&page=2") && !queries.text.contains("hasQuery"))
            for answer in [list, queries] { #expect(!answer.text.contains("secret"), "\(answer.text)") }
            let site = try await client.send(.get, "\(Self.route)?site=example.com")
            #expect((site.object["responses"] as? [Any])?.count == 2)
            var (paths, cursor): ([String], String?) = ([], "0")
            while let start = cursor {
                let page = try await client.send(.get, "\(Self.route)?limit=2&cursor=\(start)")
                paths += (page.object["responses"] as? [[String: Any]] ?? []).compactMap { $0["url"] as? String }
                cursor = page.object["next"] as? String
            }
            #expect(paths == responses.compactMap { $0["url"] as? String })
            for query in ["cursor=x", "limit=0", "site=not%20a%20host", "url=https://www.example.com/"] {
                #expect(try await client.send(.get, "\(Self.route)?\(query)").code == "parameter-invalid", "\(query)")
            }
        }
    }

    @Test("The responses to a URL are shown for all audiences, with the rule that decides and the reasons")
    func shown() async throws {
        let fields: MessageFields = [
            "Cache-Control": "max-age=60", "ETag": "\"tag-secret\"", "Vary": "Cookie",
            "Content-Type": "application/json",
        ]
        try home.store(
            "https://www.example.com/a?x=1", audience: "one", fields, requestFields: ["Cookie": "sid=cookie-secret"])
        try home.store("https://www.example.com/a?x=1", audience: "two", fields, age: 100)
        try home.store("https://www.example.com/page", ["Cache-Control": "max-age=60", "Content-Type": "text/html"])
        try await fixture.run { client in
            let answer = try await client.send(
                .get, "\(Self.route)/responses?url=https://www.example.com/a%3Fx%3D1")
            let responses = try #require(answer.object["responses"] as? [[String: Any]])
            #expect(responses.compactMap { $0["audience"] as? Int } == [1, 2])
            #expect(responses.compactMap { $0["outcome"] as? String } == ["hit", "validate"])
            #expect(responses.compactMap { $0["rule"] as? String } == ["protocol", "protocol"])
            #expect(responses.compactMap { $0["lifetimeSource"] as? String } == ["max-age", "max-age"])
            let reasons = responses.last?["reasons"] as? [[String: Any]]
            #expect(reasons?.compactMap { $0["id"] as? String } == ["stale"])
            #expect(responses.first?["vary"] as? [String] == ["cookie"])
            let shown = responses.first?["fields"] as? [[String: Any]]
            #expect(shown?.compactMap { $0["name"] as? String }.contains("ETag") == true)
            #expect(shown?.first { $0["name"] as? String == "Cache-Control" }?["value"] as? String == "max-age=60")
            #expect(!answer.text.contains("secret"), "\(answer.text)")
            let page = try await client.send(.get, "\(Self.route)/responses?url=https://www.example.com/page")
            #expect(page.text.contains(#""rule":"document""#) && page.text.contains(#""id":"rule""#), "\(page.text)")
            let other = try await client.send(.get, "\(Self.route)/responses?url=https://www.example.com/a?x=2")
            #expect(other.status == 404 && other.code == "response-not-stored")
            #expect(try await client.send(.get, "\(Self.route)/responses").code == "parameter-missing")
        }
    }

    /// Asks how the cache answers a request: the rule, the treatment, the outcome and the reasons.
    private static func explanation(_ client: ServiceClient, _ body: String) async throws -> [String] {
        let answer = try await client.send(.post, "\(route)/explain", body)
        #expect(answer.status == 200 && !answer.text.contains("secret"), "\(answer.text)")
        let reasons = answer.object["reasons"] as? [[String: Any]] ?? []
        return ["rule", "treatment", "outcome"].compactMap { answer.object[$0] as? String }
            + reasons.compactMap { $0["id"] as? String }
    }

    @Test("The decision on a request is explained by the rule, by what is stored and by the jar's cookies")
    func explained() async throws {
        let url = "https://www.example.com/app.js"
        try home.store(url, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], age: 100)
        try home.store(
            "https://www.example.com/data?token=query-secret",
            ["Cache-Control": "max-age=60", "Vary": "Cookie, Accept"],
            requestFields: ["Cookie": "sid=former-secret", "Accept": "text/plain"])
        try await fixture.run(AccessGrant(verbs: [.read], jars: .named(["default"]))) { client in
            func explain(_ members: String) async throws -> [String] {
                try await Self.explanation(client, #"{"url":"\#(url)"\#(members)}"#)
            }
            #expect(try await explain("") == ["static", "stale-then-ask", "hit-then-validate", "stale"])
            #expect(try await explain(#","method":"POST""#) == ["protocol", "protocol", "forward", "method"])
            #expect(
                try await explain(#","headers":[{"name":"Accept-Language","value":"de"}]"#)
                    == ["protocol", "protocol", "forward", "vary-mismatch"])
            #expect(
                try await explain(#","headers":[{"name":"Cache-Control","value":"no-cache"}]"#)
                    == ["static", "stale-then-ask", "forward", "request-no-cache", "stale"])
            #expect(
                try await explain(#","rules":["","never-store https://www.example.com/"]"#)
                    == ["rule-line-2", "never-store", "forward", "rule"])
            #expect(
                try await explain(#","headers":[{"name":"Crumb-Cache-Policy","value":"returnCacheDataDontLoad"}]"#)
                    == ["returnCacheDataDontLoad", "stored-only", "hit"])
            #expect(try await explain(#","offline":true"#) == ["offline", "stored-only", "hit"])
            // The jar sends other cookies than the request that the response has answered.
            let data = #"{"url":"https://www.example.com/data?token=query-secret"}"#
            #expect(
                try await Self.explanation(client, data) == ["protocol", "protocol", "forward", "vary-mismatch"])
            let none = #"{"url":"https://www.example.com/none","offline":true}"#
            #expect(
                try await Self.explanation(client, none) == ["offline", "stored-only", "unavailable", "not-stored"])
            let whole = try await client.send(.post, "\(Self.route)/explain", #"{"url":"\#(url)"}"#)
            #expect(whole.object["response"] as? Int == 1 && (whole.object["responses"] as? [Any])?.count == 1)
            for (members, detail) in [
                (#","rules":["keep"]"#, "rules: line 1: a rule is"),
                (#","headers":[{"name":"Cookie","value":"a=1"}]"#, "headers.[0]: leave Cookie out"),
                (#","headers":[{"name":"Crumb-Cache-Policy","value":"x"}]"#, "headers.[0]: use one of useProtocol"),
                (#","headers":[{"name":"a b","value":"x"}]"#, "headers.[0]: this is no field name"),
            ] {
                let answer = try await client.send(.post, "\(Self.route)/explain", #"{"url":"\#(url)"\#(members)}"#)
                #expect(answer.code == "body-invalid", "\(answer.text)")
                #expect((answer.object["detail"] as? String)?.hasPrefix(detail) == true, "\(answer.text)")
            }
        }
        let missing = try await fixture.run { client in
            try await client.send(.post, "/v1/jars/none/cache/explain", #"{"url":"\#(url)"}"#)
        }
        #expect(missing.code == "jar-not-found")
    }

    @Test("Responses are removed by URL, site and time, and of all jars; the answer counts them")
    func purged() async throws {
        for (number, url) in ["https://www.example.com/a", "https://cdn.test/b", "https://cdn.test/c"].enumerated() {
            try home.store(url, age: Int64(number) * 3600)
        }
        try home.store("https://www.example.com/a", jar: "other")
        try await fixture.run { client in
            let all = try await client.send(.get, "\(Self.route)/statistics")
            #expect(all.object["jar"] as? String == "default" && all.object["responses"] as? Int == 3)
            let whole = try #require(all.object["whole"] as? [String: Any])
            #expect(whole["responses"] as? Int == 4 && (whole["hits"] as? [String: Any])?.isEmpty == true)
            #expect((whole["folder"] as? String)?.hasPrefix(home.folder.file("caches/crumb/responses-")) == true)
            func removed(_ query: String) async throws -> Int? {
                let answer = try await client.send(.delete, "\(Self.route)?\(query)")
                #expect((answer.object["octets"] as? Int ?? 0) > 0 || answer.object["removed"] as? Int == 0)
                return answer.object["removed"] as? Int
            }
            #expect(try await removed("url=https://cdn.test/none") == 0)
            #expect(
                try await removed("since=\(ServiceFixture.now.advanced(bySeconds: -10).rfc3339)&site=cdn.test") == 0)
            #expect(
                try await removed("site=www.cdn.test&since=\(ServiceFixture.now.advanced(bySeconds: -4000).rfc3339)")
                    == 1)
            #expect(try await removed("url=https://www.example.com/a&url=https://cdn.test/c") == 2)
            #expect(try await client.send(.delete, "\(Self.route)?site=a.test&url=https://a.test/").status == 400)
            #expect(try await client.send(.delete, "\(Self.route)?since=yesterday").code == "parameter-invalid")
            let rest = try await client.send(.delete, "/v1/cache")
            #expect(rest.object["removed"] as? Int == 1)
            #expect(try await client.send(.get, "\(Self.route)/statistics").text.contains(#""responses":0"#))
        }
    }

    @Test("A jar is removed with its stored responses", arguments: ["", "?final=true"])
    func removedJar(query: String) async throws {
        try home.store("https://www.example.com/a")
        try home.store("https://www.example.com/a", jar: "other")
        try await fixture.run { client in
            #expect(try await client.send(.delete, "/v1/jars/other\(query)").status == 200)
            let statistics = try await client.send(.get, "\(Self.route)/statistics")
            #expect(statistics.object["responses"] as? Int == 1)
            #expect((statistics.object["whole"] as? [String: Any])?["responses"] as? Int == 1)
        }
    }

    @Test("The data of sites is listed by type and removed by site, type and time")
    func siteData() async throws {
        try home.store("https://www.example.com/a", age: 7200)
        try home.store("https://static.example.com/b")
        try home.store("https://cdn.test/c")
        try await fixture.run(AccessGrant(verbs: [.read, .write], jars: .named(["default"]))) { client in
            let route = "/v1/jars/default/site-data"
            func list(_ query: String = "") async throws -> [String] {
                let answer = try await client.send(.get, "\(route)?\(query)")
                #expect(!answer.text.contains("secret"), "\(answer.text)")
                return (answer.object["siteData"] as? [[String: Any]] ?? []).map { entry in
                    "\(entry["site"] ?? "") \(entry["type"] ?? "") \(entry["count"] ?? "")"
                }
            }
            let all = try await list()
            #expect(
                all == ["cdn.test cache 1", "example.com cookies 3", "example.com cache 2", "example.com storage 1"])
            let recent = "since=\(ServiceFixture.now.advanced(bySeconds: -3600).rfc3339)"
            #expect(try await list("\(recent)&types=cache") == ["cdn.test cache 1", "example.com cache 1"])
            for query in ["types=all", "types=", "site=not%20a%20host", "since=yesterday", "\(recent)&types=storage"] {
                #expect(try await client.send(.delete, "\(route)?\(query)").code == "parameter-invalid", "\(query)")
            }
            // Without a condition, only all=true removes everything.
            #expect(try await client.send(.delete, route).code == "parameter-missing")
            #expect(try await client.send(.delete, "\(route)?all=false").code == "parameter-missing")
            #expect(try await client.send(.delete, "\(route)?all=true&site=cdn.test").code == "parameter-invalid")
            #expect(try await list("since=1h&types=cache") == ["cdn.test cache 1", "example.com cache 1"])
            let cache = try await client.send(.delete, "\(route)?site=www.example.com&types=cache&\(recent)")
            #expect(cache.object["responses"] as? Int == 1 && cache.object["cookies"] as? Int == 0)
            #expect((cache.object["responseOctets"] as? Int ?? 0) > 0)
            let rest = try await client.send(.delete, "\(route)?site=example.com")
            #expect(rest.object["cookies"] as? Int == 3 && rest.object["storageItems"] as? Int == 1)
            #expect(rest.object["responses"] as? Int == 1)
            #expect(try await list() == ["cdn.test cache 1"])
            #expect(try await client.send(.post, "/v1/jars/default/restore").status == 200)
            #expect(
                try await list() == ["cdn.test cache 1", "example.com cookies 3", "example.com storage 1"])
            #expect(try await client.send(.delete, "\(route)?all=true").object["cookies"] as? Int == 3)
            #expect(try await list().isEmpty)
        }
    }

    @Test("A caller without access to all jars learns nothing of the other jars' responses")
    func grants() async throws {
        try home.store("https://www.example.com/a", jar: "other")
        try await fixture.run(AccessGrant(verbs: [.read, .write], jars: .named(["default"]))) { client in
            let statistics = try await client.send(.get, "\(Self.route)/statistics")
            #expect(statistics.text == #"{"jar":"default","octets":0,"responses":0}"#)
            #expect(try await client.send(.get, Self.route).text == #"{"responses":[]}"#)
            #expect(try await client.send(.delete, Self.route).text == #"{"octets":0,"removed":0}"#)
            #expect(try await client.send(.delete, "/v1/cache").status == 403)
        }
        try await fixture.run(AccessGrant(verbs: [.read])) { client in
            #expect(try await client.send(.delete, Self.route).status == 403)
            let statistics = try await client.send(.get, "/v1/jars/other/cache/statistics")
            #expect(statistics.object["responses"] as? Int == 1)
        }
    }

    @Test("Without a cache, nothing is listed or removed, and no folder is created")
    func missing() async throws {
        try await fixture.run { client in
            #expect(try await client.send(.get, Self.route).text == #"{"responses":[]}"#)
            let shown = try await client.send(.get, "\(Self.route)/responses?url=https://www.example.com/")
            #expect(shown.code == "response-not-stored")
            #expect(try await client.send(.get, "\(Self.route)/statistics").object["responses"] as? Int == 0)
            for path in [Self.route, "/v1/cache"] {
                #expect(try await client.send(.delete, path).text == #"{"octets":0,"removed":0}"#)
            }
        }
        #expect(!hasFolder)
    }
}
