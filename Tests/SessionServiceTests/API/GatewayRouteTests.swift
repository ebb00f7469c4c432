import Foundation
import GatewayModel
import HTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore
import SessionOperations
import SessionStore
import Testing

@testable import SessionService

@Suite("Gateways in the service", .timeLimit(.minutes(10)))
struct GatewayRouteTests {
    private static let shop = "/v1/gateways/shop"
    private static let body = #"{"jar":"default","client":"tool"}"#

    private static func faults(_ answer: ServiceAnswer, _ operation: String) throws -> [String] {
        try APIDocument().faults(of: answer, to: operation)
    }

    @Test("A gateway is started, shown, listed and stopped")
    func life() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let started = try await client.send(.put, Self.shop, Self.body)
            #expect(started.status == 201, "\(started.text)")
            #expect(try Self.faults(started, "PUT /v1/gateways/{name}") == [])
            #expect(try started.isEncoded(as: GatewayReport.self))
            // The same again changes nothing.
            let answer1 = try await client.send(.put, Self.shop, Self.body)
            #expect(answer1.status == 200)
            let other = try await client.send(.put, Self.shop, #"{"jar":"default"}"#)
            #expect(other.status == 409 && other.code == "gateway-exists")
            #expect(fixture.gateways.all.count == 1)
            fixture.gateways.pass("https://www.example.com/cart", stored: ["cart"])
            fixture.gateways.pass("https://none.test/", failure: "dns_error")
            let shown = try await client.send(.get, Self.shop)
            #expect(try Self.faults(shown, "GET /v1/gateways/{name}") == [])
            let report = try JSONDecoder().decode(GatewayReport.self, from: Data(shown.text.utf8))
            #expect(report.jar == "default" && report.client == "tool" && report.cookies == "mirror")
            #expect(report.addresses.map(\.address) == ["127.0.0.1:8080"] && report.openConnections == 2)
            #expect(report.requests == 2 && report.cookiesSent == 2 && report.cookiesStored == 1)
            #expect(report.failures == 1 && report.position == 2)
            let list = try await client.send(.get, "/v1/gateways")
            #expect(try Self.faults(list, "GET /v1/gateways") == [])
            #expect((list.object["gateways"] as? [Any])?.count == 1)
            let answer2 = try await client.send(.delete, Self.shop)
            #expect(answer2.status == 204)
            let answer3 = try await client.send(.get, Self.shop)
            #expect(answer3.code == "gateway-not-found")
            let answer4 = try await client.send(.get, "/v1/gateways")
            #expect(answer4.text == #"{"gateways":[]}"#)
        }
    }

    @Test("A gateway with a cache gets its size and rules, and shows them")
    func cache() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let rules = [" # fonts", "keep *.woff2", "never-store https://www.example.com/account/"]
            let cache = #"{"size":1048576,"rules":[" # fonts","keep *.woff2","\#(rules[2])"],"offline":true}"#
            let body = #"{"jar":"default","client":"tool","cache":\#(cache)}"#
            let started = try await client.send(.put, Self.shop, body)
            #expect(started.status == 201, "\(started.text)")
            #expect(try Self.faults(started, "PUT /v1/gateways/{name}") == [])
            let report = try JSONDecoder().decode(GatewayReport.self, from: Data(started.text.utf8))
            #expect(report.cache?.size == 1 << 20 && report.cache?.offline == true)
            #expect(report.cache?.rules == rules)
            let job = try #require(fixture.gateways.all.last)
            #expect(job.cacheSize == 1 << 20 && job.settings.isOffline)
            #expect(job.settings.cachingRules.userRules.map(\.line) == [2, 3])
            // The same settings again change nothing; other rules are other settings.
            #expect(try await client.send(.put, Self.shop, body).status == 200)
            let other = try await client.send(.put, Self.shop, body.replacing("keep", with: "always-ask"))
            #expect(other.code == "gateway-exists", "\(other.text)")
            let plain = try await client.send(.put, "/v1/gateways/plain", Self.body)
            #expect(plain.object["cache"] == nil)
            let last = try #require(fixture.gateways.all.last)
            #expect(last.cacheSize == nil && !last.settings.isOffline && last.settings.cachingRules.userRules.isEmpty)
        }
    }

    @Test("A gateway answers from the packages of its jar, unless its document turns them off")
    func packages() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            for (name, member, uses) in [
                ("a", "", true), ("b", #","packages":true"#, true), ("c", #","packages":false"#, false),
            ] {
                let started = try await client.send(.put, "/v1/gateways/\(name)", #"{"jar":"default"\#(member)}"#)
                #expect(started.status == 201, "\(started.text)")
                #expect(fixture.gateways.all.last?.usesPackages == uses, "\(member)")
            }
            let other = try await client.send(.put, "/v1/gateways/c", #"{"jar":"default"}"#)
            #expect(other.code == "gateway-exists", "\(other.text)")
        }
    }

    @Test("A gateway's log is read by cursor")
    func requests() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let answer5 = try await client.send(.put, Self.shop, Self.body)
            #expect(answer5.status == 201)
            for number in 1...5 { fixture.gateways.pass("https://www.example.com/\(number)") }
            let first = try await client.send(.get, "\(Self.shop)/requests?limit=2")
            #expect(try Self.faults(first, "GET /v1/gateways/{name}/requests") == [])
            #expect(first.object["position"] as? Int == 2 && first.object["hasMore"] as? Bool == true)
            let rest = try await client.send(.get, "\(Self.shop)/requests?after=2")
            let requests = rest.object["requests"] as? [[String: Any]] ?? []
            #expect(requests.map { $0["url"] as? String } == (3...5).map { "https://www.example.com/\($0)" })
            #expect(rest.object["hasMore"] as? Bool == false && rest.object["hasGap"] as? Bool == false)
        }
    }

    @Test(
        "An invalid member of a gateway's document is rejected and named",
        arguments: [
            (#"{"jar":"default","intercept":["com"]}"#, 400, "intercept 'com': this is a public suffix"),
            (#"{"jar":"default","bypass":["a b"]}"#, 400, "bypass 'a b': this is not a host"),
            (#"{"jar":"default","legacyTLS":["a b"]}"#, 400, "legacyTLS 'a b': this is not a host"),
            (#"{"jar":"default","client":"robot"}"#, 400, "client: use one of browser, tool"),
            (#"{"jar":"default","cookies":"all"}"#, 400, "cookies: use one of mirror, strip, pass"),
            (#"{"jar":"default","port":65536}"#, 400, "port: use a whole number from 0 to 65535"),
            (#"{"jar":"default","upstreams":[{"url":"https://a.test/x"}]}"#, 400, "upstreams: write an origin"),
            (#"{"jar":"default","upstreams":[{"url":"https://a.test","x":1}]}"#, 400, "upstreams.[0].x: unknown"),
            (
                #"{"jar":"default","intercept":["a.test"],"upstreams":[{"url":"https://a.test"}]}"#, 400,
                "intercept: this is for a proxy"
            ),
            (#"{"jar":"default","users":[]}"#, 400, "jar: name either a jar or 'users'"),
            (#"{"client":"tool"}"#, 400, "jar: name either a jar or 'users'"),
            (#"{"users":[]}"#, 400, "users: name at least one user"),
            (#"{"users":[{"name":"ada","jar":"default"}]}"#, 400, "users.[0].secretHash: "),
            (
                #"{"users":[{"name":"ada","jar":"default","secretHash":"","secret":""}]}"#, 400,
                "users.[0].secret: unknown member"
            ),
            (
                #"{"users":[{"name":"ada","jar":"default","secretHash":"00"}]}"#, 400,
                "users.secretHash: write the 64 hexadecimal digits"
            ),
            (
                #"{"users":[{"name":"a","jar":"default","secretHash":"0"},{"name":"a","jar":"other","secretHash":"0"}]}"#,
                400, "users: two have the same name"
            ),
            (
                #"{"users":[{"name":"a","jar":"default","secretHash":"0"}],"upstreams":[{"url":"https://a.test"}]}"#,
                400,
                "users: clients of 'upstreams' cannot sign in"
            ),
            (#"{"users":[{"name":"a","jar":"none","secretHash":"0"}]}"#, 404, "none: no such jar"),
            (#"{"jar":"default","cache":{"size":0}}"#, 400, "cache.size: use a whole number from 1"),
            (#"{"jar":"default","cache":{}}"#, 400, "cache.size: "),
            (#"{"jar":"default","cache":{"size":1,"limit":1}}"#, 400, "cache.limit: unknown member"),
            (
                #"{"jar":"default","cache":{"size":1,"rules":[" # fonts","keep"]}}"#, 400,
                "cache.rules: line 2: a rule is a treatment and a URL"
            ),
            (#"{"jar":"default","intercept":["shop.test"]}"#, 422, "intercept: the database has no authority"),
            (#"{"jar":"default","port":1}"#, 422, "cannot listen on 127.0.0.1:1"),
            (#"{"jar":"none"}"#, 404, "none: no such jar"),
        ])
    func refused(body: String, status: Int, detail: String) async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let answer = try await client.send(.put, Self.shop, body)
            #expect(answer.status == status, "\(answer.text)")
            #expect((answer.object["detail"] as? String)?.hasPrefix(detail) == true, "\(answer.text)")
            #expect(try Self.faults(answer, "PUT /v1/gateways/{name}") == [])
            // The name is free again.
            let answer6 = try await client.send(.put, Self.shop, Self.body)
            #expect(answer6.status == 201)
        }
    }

    @Test("At most N gateways run at once")
    func limit() async throws {
        try await ServiceFixture().run { client in
            for name in ["a", "b", "c"] {
                let answer7 = try await client.send(.put, "/v1/gateways/\(name)", Self.body)
                #expect(answer7.status == 201)
            }
            let refused = try await client.send(.put, "/v1/gateways/d", Self.body)
            #expect(refused.status == 429 && refused.code == "gateways-exhausted")
            let answer8 = try await client.send(.delete, "/v1/gateways/b")
            #expect(answer8.status == 204)
            let answer9 = try await client.send(.put, "/v1/gateways/d", Self.body)
            #expect(answer9.status == 201)
        }
    }

    @Test("A gateway needs a grant for its jar, with access to secrets")
    func rights() async throws {
        let fixture = try ServiceFixture()
        let started = try await fixture.run { try await $0.send(.put, Self.shop, Self.body) }
        #expect(started.status == 201)
        let other = AccessGrant(verbs: Set(AccessVerb.allCases), jars: .named(["other"]))
        try await fixture.run(other) { client in
            for path in ["", "/requests", "/events"] {
                let answer10 = try await client.send(.get, Self.shop + path)
                #expect(answer10.code == "gateway-not-found")
            }
            let answer11 = try await client.send(.delete, Self.shop)
            #expect(answer11.code == "gateway-not-found")
            let answer12 = try await client.send(.get, "/v1/gateways")
            #expect(answer12.text == #"{"gateways":[]}"#)
            let answer13 = try await client.send(.put, "/v1/gateways/own", Self.body)
            #expect(answer13.code == "jar-not-found")
            let answer14 = try await client.send(.put, "/v1/gateways/own", #"{"jar":"other"}"#)
            #expect(answer14.status == 201)
        }
        let blind = AccessGrant(verbs: [.read, .write], jars: .named(["default"]))
        try await fixture.run(blind) { client in
            let answer15 = try await client.send(.put, "/v1/gateways/own", Self.body)
            #expect(answer15.code == "forbidden")
            let answer16 = try await client.send(.get, Self.shop)
            #expect(answer16.status == 200)
        }
        let reader = AccessGrant(verbs: [.read, .secrets], jars: .named(["default"]))
        let refused = try await fixture.run(reader) { try await $0.send(.delete, Self.shop) }
        #expect(refused.code == "forbidden")
        #expect(fixture.gateways.all.count == 2)
    }

    @Test("A gateway with users needs a grant for all of their jars, and shows no hash of a secret")
    func users() async throws {
        let fixture = try ServiceFixture()
        let hash = String(repeating: "0a", count: 32)
        let ada = #"{"name":"ada","jar":"other","secretHash":"\#(hash)"}"#
        let body = #"{"users":[{"name":"ben","jar":"default","secretHash":"\#(hash)"},\#(ada)]}"#
        try await fixture.run { client in
            let started = try await client.send(.put, Self.shop, body)
            #expect(started.status == 201, "\(started.text)")
            #expect(try Self.faults(started, "PUT /v1/gateways/{name}") == [])
            #expect(try started.isEncoded(as: GatewayReport.self))
            #expect(!started.text.contains(hash))
            let report = try JSONDecoder().decode(GatewayReport.self, from: Data(started.text.utf8))
            #expect(report.jar == nil && report.users?.map(\.name) == ["ada", "ben"])
            #expect(report.users?.map(\.jar) == ["other", "default"])
            let again = try await client.send(.put, Self.shop, body)
            #expect(again.status == 200)
            let changed = try await client.send(.put, Self.shop, body.replacing("0a0a", with: "0b0b"))
            #expect(changed.code == "gateway-exists")
        }
        let job = try #require(fixture.gateways.all.last)
        #expect(job.users.map(\.name) == ["ben", "ada"] && job.users.map(\.jar.name) == ["default", "other"])
        #expect(job.users.allSatisfy { $0.secret.text == hash })
        for name in ["default", "other"] {
            let one = AccessGrant(verbs: Set(AccessVerb.allCases), jars: .named([name]))
            try await fixture.run(one) { client in
                let shown = try await client.send(.get, Self.shop)
                #expect(shown.code == "gateway-not-found")
                let list = try await client.send(.get, "/v1/gateways")
                #expect(list.text == #"{"gateways":[]}"#)
                let started = try await client.send(.put, "/v1/gateways/own", body)
                #expect(started.code == "jar-not-found")
            }
        }
        let both = AccessGrant(verbs: [.read], jars: .named(["default", "other"]))
        try await fixture.run(both) { client in
            let shown = try await client.send(.get, Self.shop)
            #expect(shown.status == 200)
            let stopped = try await client.send(.delete, Self.shop)
            #expect(stopped.code == "forbidden")
        }
    }

    @Test("A gateway ends with the lock, and with its jar")
    func ends() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let answer17 = try await client.send(.put, Self.shop, Self.body)
            #expect(answer17.status == 201)
            let answer18 = try await client.send(.post, "/v1/agent/lock", #"{"passphrase":"p"}"#)
            #expect(answer18.status == 200)
            let answer19 = try await client.send(.get, Self.shop)
            #expect(answer19.code == "gateway-not-found")
            let answer20 = try await client.send(.post, "/v1/agent/unlock", #"{"passphrase":"p"}"#)
            #expect(answer20.status == 200)
            let answer21 = try await client.send(.put, Self.shop, Self.body)
            #expect(answer21.status == 201)
            let gateway = try #require(fixture.api.gateways.gateway("shop"))
            let answer22 = try await client.send(.delete, "/v1/jars/default")
            #expect(answer22.status == 200)
            await gateway.ended()
            let answer23 = try await client.send(.get, Self.shop)
            #expect(answer23.code == "gateway-not-found")
        }
    }

    @Test("The log of a gateway can be followed, and its stream ends with the gateway")
    func events() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let answer24 = try await client.send(.put, Self.shop, Self.body)
            #expect(answer24.status == 201)
            fixture.gateways.pass("https://www.example.com/1")
            let job = try #require(fixture.gateways.all.last)
            job.pageEvents?(
                PageEventReport(
                    time: "2027-01-15T08:00:00Z", origin: "https://www.example.com", query: "a=1", data: "hello",
                    dataBase64: nil))
            async let followed = client.send(.get, "\(Self.shop)/events?after=0")
            let answer25 = try await client.send(.delete, Self.shop)
            #expect(answer25.status == 204)
            let text = try await followed.text
            #expect(text.hasPrefix("retry: 2000\n\nid: 1\nevent: request\ndata: {"))
            #expect(text.contains(#""url":"https://www.example.com/1""#))
            #expect(
                text.contains(
                    "id: 2\nevent: page\ndata: {\"data\":\"hello\",\"origin\":\"https://www.example.com\",\"position\":2,"
                        + "\"query\":\"a=1\""))
        }
    }

    @Test("A gateway ends with the token that started it; the audit log names its starter; metrics count it")
    func service() async throws {
        let gateways = PretendedGateways()
        let server = try await RunningServer.with(
            { $0.gateways = PretendedGateways.limits }, runningGateway: { try await gateways.run($0) }
        ) { server in
            let token = try server.token("starter", Set(AccessVerb.allCases))
            let owner = try server.ownerToken
            try await RawConnection.with(port: server.port) { connection in
                func ask(_ method: String, _ path: String, by token: String, body: String? = nil) async throws
                    -> RawConnection.Answer
                {
                    var fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"]
                    if body != nil { fields["Content-Type"] = "application/json" }
                    return try await connection.ask(method, path, fields, body: body)
                }
                let started = try await ask("PUT", Self.shop, by: token, body: #"{"jar":"work","client":"tool"}"#)
                #expect(started.status == 201, "\(started.body)")
                gateways.pass("https://www.example.com/", stored: ["a", "b"])
                gateways.pass("https://www.example.com/", failure: "dns_error")
                let metrics = try await ask("GET", "/metrics", by: owner).body
                for line in [
                    #"crumb_gateway_requests_total{status="2xx"} 1"#, #"crumb_gateway_requests_total{status="5xx"} 1"#,
                    #"crumb_gateway_cookies_total{outcome="sent"} 2"#,
                    #"crumb_gateway_cookies_total{outcome="stored"} 2"#,
                    #"crumb_gateway_failures_total{type="dns_error"} 1"#, "crumb_gateways 1",
                    "crumb_gateway_connections 2",
                ] {
                    #expect(metrics.contains(line), "\(line)")
                }
                #expect(try server.database.serviceTokens.revoke(named: "starter", now: RunningServer.now))
                // The next look at the token ends it.
                var status = 200
                while status == 200 {
                    try Task.checkCancellation()
                    status = try await ask("GET", Self.shop, by: owner).status
                }
                #expect(status == 404)
                // What runs when the service stops ends with it.
                let again = try await ask("PUT", Self.shop, by: owner, body: #"{"jar":"work","client":"tool"}"#)
                #expect(again.status == 201)
            }
        }
        let lines = try server.auditLog.split(separator: "\n").filter { $0.contains(#""kind":"gateway""#) }
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""caller":"starter""#) == true)
        #expect(lines.first?.contains(#""names":["shop"]"#) == true)
        #expect(server.log.text.contains("A gateway has ended"))
        #expect(gateways.all.count == 2)
    }
}
