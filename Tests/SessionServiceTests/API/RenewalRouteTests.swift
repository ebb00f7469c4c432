import CookieModel
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import SessionWire
import Testing

@testable import SessionService

@Suite("Where a site says 'not signed in'")
struct RenewalRouteTests {
    private static let responses = "/v1/jars/default/responses"
    private static let renewals = "/v1/jars/default/renewals"

    /// A response of the site in JSON.
    private static func response(
        _ status: Int = 401, _ fields: [(String, String)] = [], url: String = "https://www.example.com/account",
        sent: String? = nil
    ) -> String {
        let headers = fields.map { #"{"name":"\#($0.0)","value":"\#($0.1)"}"# }.joined(separator: ",")
        let sent = sent.map { #","sent":"\#($0)""# } ?? ""
        return #"{"url":"\#(url)","status":\#(status),"headers":[\#(headers)]\#(sent)}"#
    }

    /// What a response asks for, by the rule of the fixture; `nil` for nothing.
    private static let signs: [(name: String, body: String, sign: String?)] = [
        ("a status of the rule", response(419), "status"),
        ("401", response(), "status"),
        ("a redirect to log in", response(302, [("Location", "/login?to=/account")]), "redirect"),
        ("a redirect to elsewhere", response(302, [("Location", "/news")]), nil),
        ("a challenge", response(401, [("WWW-Authenticate", "Bearer realm=x")]), "bearer-challenge"),
        (
            "a wish for a stronger login",
            response(401, [("www-authenticate", "Bearer error=\\\"insufficient_user_authentication\\\", max_age=5")]),
            "step-up"
        ),
        ("a page", response(200), nil), ("another site's refusal", response(401, url: "https://a.test/"), nil),
    ]

    @Test("The decisions include a response's login challenge, alone or among others", arguments: signs.map(\.name))
    func told(name: String) async throws {
        let row = try #require(Self.signs.first { $0.name == name })
        try await ServiceFixture().run { client in
            let answer = try await client.send(.post, Self.responses, row.body)
            let login = answer.object["login"] as? [String: Any]
            #expect(login?["sign"] as? String == row.sign, "\(answer.text)")
            #expect(answer.object["decisions"] is [Any])
            #expect(try APIDocument().faults(of: answer, to: "POST /v1/jars/{jar}/responses") == [])
            if row.sign == nil {
                #expect(answer.object.keys.sorted() == ["decisions"])
            } else {
                #expect(login?["action"] as? String == (row.sign == "step-up" ? "log-in" : "renew"))
                #expect(login?["rule"] as? String == "main" && login?["profile"] as? String == "work")
            }
            if row.sign == "redirect" {
                #expect(login?["loginURL"] as? String == "https://www.example.com/login")
            }
            let list = try await client.send(.post, Self.responses, "[\(Self.response(200)),\(row.body)]")
            let second = (list.object["responses"] as? [[String: Any]])?.last
            #expect((second?["login"] as? [String: Any])?["sign"] as? String == row.sign, "\(list.text)")
        }
    }

    /// A POST and its response, with the member of the response's document.
    private static func order(_ status: Int, _ fields: [(String, String)], sent: String? = nil) -> String {
        response(status, fields, sent: sent).replacing(#"{"url""#, with: #"{"method":"POST","url""#, maxReplacements: 1)
    }

    @Test(
        "The session is renewed for a request that the site may have acted on, but the request must not be repeated",
        arguments: [
            (302, [("Location", "/login")], false), (419, [], false), (401, [], true),
            (419, [("Proxy-Status", "a; error=http_request_denied")], true),
        ] as [(Int, [(String, String)], Bool)])
    func repetition(status: Int, fields: [(String, String)], mayRepeat: Bool) async throws {
        let sent = "2027-01-15T07:59:59.5Z"
        try await ServiceFixture().run { client in
            let order = Self.order(status, fields, sent: sent)
            let told = try await client.send(.post, Self.responses, order)
            let login = told.object["login"] as? [String: Any]
            #expect(login?["action"] as? String == "renew" && login?["mayRepeat"] as? Bool == mayRepeat)
            #expect(try APIDocument().faults(of: told, to: "POST /v1/jars/{jar}/responses") == [])
            let renewed = try await client.send(.post, Self.renewals, order)
            #expect(renewed.status == 200 && renewed.object["mayRepeat"] as? Bool == mayRepeat, "\(renewed.text)")
            #expect(try APIDocument().faults(of: renewed, to: "POST /v1/jars/{jar}/renewals") == [])
            let other = try await client.send(.post, Self.responses, order)
            let next = other.object["login"] as? [String: Any]
            #expect(next?["action"] as? String == (mayRepeat ? "send-again" : "none"))
            let page = try await client.send(.post, Self.responses, Self.response(status, fields, sent: sent))
            #expect((page.object["login"] as? [String: Any])?["mayRepeat"] as? Bool == true)
        }
    }

    @Test("A renewal stores the token's cookie in the jar, and returns the fields of the next request")
    func renewed() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let answer = try await client.send(.post, Self.renewals, Self.response())
            #expect(answer.status == 200, "\(answer.text)")
            let fields = answer.object["fields"] as? [[String: String]]
            #expect(fields?.map { $0["name"] } == ["cookie"])
            #expect(fields?.first?["value"]?.contains("session=access-secret") == true, "\(answer.text)")
            #expect(answer.object["rule"] as? String == "main")
            #expect(try answer.isEncoded(as: DecorationReport.self))
            let decorated = try await client.send(
                .post, "/v1/jars/default/decorate", #"{"url":"https://www.example.com/account"}"#)
            #expect(decorated.text.contains("session=access-secret"))
            #expect(fixture.server.paths.isEmpty)
            // The site refuses what it was shown: only now is the server asked.
            let again = try await client.send(.post, Self.renewals, Self.response())
            #expect(again.text.contains("session=access-secret-2") && fixture.server.paths == ["/token"])
        }
    }

    @Test("A token that the site rejects right after a renewal is not renewed again and again")
    func loops() async throws {
        let fixture = try ServiceFixture()
        let (before, after) = ("2027-01-15T07:59:59.5Z", "2027-01-15T08:00:00.5Z")
        try await fixture.run { client in
            _ = try await client.send(.post, Self.renewals, Self.response(sent: before))
            #expect(fixture.server.paths.isEmpty)
            // The token that was delivered has been revoked: it is renewed, as 'crumb curl' does.
            let told = try await client.send(.post, Self.responses, Self.response(sent: after))
            #expect((told.object["login"] as? [String: Any])?["action"] as? String == "renew")
            let renewed = try await client.send(.post, Self.renewals, Self.response(sent: after))
            #expect(renewed.status == 200 && renewed.text.contains("session=access-secret-2"), "\(renewed.text)")
            for _ in 0..<3 {
                let answer = try await client.send(
                    .post, Self.renewals, Self.response(302, [("Location", "/login")], sent: after))
                #expect(answer.status == 409 && answer.code == "login-required", "\(answer.text)")
                #expect(answer.object["loginURL"] as? String == "https://www.example.com/login")
                #expect(try APIDocument().faults(of: answer, to: "POST /v1/jars/{jar}/renewals") == [])
                let told = try await client.send(.post, Self.responses, Self.response(sent: after))
                #expect((told.object["login"] as? [String: Any])?["action"] as? String == "log-in")
            }
            // Who does not say when it was sent is not renewed for more than once in a while either.
            for _ in 0..<5 { _ = try await client.send(.post, Self.renewals, Self.response()) }
            #expect(fixture.server.paths == ["/token"])
        }
    }

    @Test("Concurrent requests share one renewal, and all must be sent again")
    func together() async throws {
        let fixture = try ServiceFixture()
        fixture.server.answer("/token", 200, #"{"access_token":"n","token_type":"Bearer","expires_in":3600}"#)
        let sent = "2027-01-15T07:59:59.5Z"
        try await fixture.run { client in
            let first = try await client.send(.post, Self.responses, Self.response(sent: sent))
            #expect((first.object["login"] as? [String: Any])?["action"] as? String == "renew")
            _ = try await client.send(.post, Self.renewals, Self.response(sent: sent))
            let second = try await client.send(.post, Self.responses, Self.response(sent: sent))
            #expect((second.object["login"] as? [String: Any])?["action"] as? String == "send-again")
            let answer = try await client.send(.post, Self.renewals, Self.response(sent: sent))
            #expect(answer.status == 200 && answer.text.contains("session=access-secret"))
            #expect(fixture.server.paths.isEmpty)
        }
    }

    @Test("If only a new login helps, the answer says so, with the site's page")
    func loginNeeded() async throws {
        let fixture = try ServiceFixture()
        _ = try fixture.database.tokens.remove("work", now: ServiceFixture.now)
        let redirect = Self.response(302, [("Location", "/login?to=%2F")])
        try await fixture.run { client in
            let told = try await client.send(.post, Self.responses, redirect)
            #expect((told.object["login"] as? [String: Any])?["action"] as? String == "log-in")
            let answer = try await client.send(.post, Self.renewals, redirect)
            #expect(answer.status == 409 && answer.code == "login-required")
            #expect(answer.object["loginURL"] as? String == "https://www.example.com/login")
            let stepUp = try await client.send(
                .post, Self.renewals,
                Self.response(401, [("www-authenticate", "Bearer error=\\\"insufficient_user_authentication\\\"")]))
            #expect(stepUp.status == 409 && stepUp.code == "step-up-required")
            let page = try await client.send(.post, Self.renewals, Self.response(200))
            #expect(page.status == 422 && page.code == "login-not-needed")
            #expect(fixture.server.paths.isEmpty)
        }
    }

    @Test("A token goes into the Authorization field if the rule requires it, only for its URLs")
    func authorization() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let rule = #"{"scope":"https://api.test/","profile":"work","delivery":"authorization"}"#
            _ = try await client.send(.put, "/v1/jars/default/login-rules/api", rule)
            let answer = try await client.send(.post, Self.renewals, Self.response(url: "https://api.test/x"))
            #expect(
                answer.text
                    == #"{"excluded":[],"fields":[{"name":"authorization","value":"Bearer access-secret"}],"included":[],"mayRepeat":true,"rule":"api"}"#
            )
            let other = try await client.send(.post, Self.renewals, Self.response(url: "https://api.test:444/x"))
            #expect(other.code == "login-not-needed")
        }
    }

    @Test("A token for the Authorization field is added from the first request on")
    func decorated() async throws {
        let fixture = try ServiceFixture()
        let rule = #"{"scope":"https://api.test/","profile":"work","delivery":"authorization"}"#
        try await fixture.run { _ = try await $0.send(.put, "/v1/jars/default/login-rules/api", rule) }
        func decorate(_ grant: AccessGrant, _ body: String) async throws -> String {
            try await fixture.run(grant) { try await $0.send(.post, "/v1/jars/default/decorate", body) }.text
        }
        let body = #"{"url":"https://api.test/x"}"#
        #expect(try await decorate(.everything, body).contains(#""Bearer access-secret""#))
        // Not at another site, not beside a credential of the caller's, not for who may change nothing.
        for (grant, body) in [
            (AccessGrant.everything, #"{"url":"https://www.example.com/x"}"#),
            (.everything, #"{"url":"https://api.test/x","headers":[{"name":"Authorization","value":"Basic eDp5"}]}"#),
            (AccessGrant(verbs: [.read, .secrets]), body),
        ] { #expect(try await !decorate(grant, body).contains("access-secret"), "\(body)") }
        #expect(fixture.server.paths.isEmpty)
    }

    @Test("A revoked token in the Authorization field is renewed, once", arguments: [true, false])
    func revoked(saysWhenSent: Bool) async throws {
        let fixture = try ServiceFixture()
        let (before, after) = ("2027-01-15T07:59:59.5Z", "2027-01-15T08:00:00.5Z")
        @Sendable func refused(_ sent: String) -> String {
            Self.response(url: "https://api.test/x", sent: saysWhenSent ? sent : nil)
        }
        try await fixture.run { client in
            let rule = #"{"scope":"https://api.test/","profile":"work","delivery":"authorization"}"#
            _ = try await client.send(.put, "/v1/jars/default/login-rules/api", rule)
            let first = try await client.send(.post, Self.renewals, refused(before))
            #expect(first.text.contains(#""Bearer access-secret""#), "\(first.text)")
            let second = try await client.send(.post, Self.renewals, refused(after))
            #expect(second.text.contains(#""Bearer access-secret-2""#), "\(second.text)")
            // Others whose request was under way get what there is.
            let late = try await client.send(.post, Self.renewals, refused(before))
            #expect(late.text.contains(#""Bearer access-secret-2""#), "\(late.text)")
            let third = try await client.send(.post, Self.renewals, refused(after))
            // The token that was refused is not delivered again.
            #expect(third.status == 409, "\(third.text)")
            #expect(fixture.server.paths == ["/token"])
        }
    }

    @Test("An unreachable token server is a temporary failure")
    func unreachable() async throws {
        let fixture = try ServiceFixture()
        fixture.server.answer("/token", 503, "")
        try await fixture.run { client in
            _ = try await client.send(.post, Self.renewals, Self.response())
            let answer = try await client.send(.post, Self.renewals, Self.response())
            #expect(answer.status == 502 && answer.code == "server-unavailable", "\(answer.text)")
        }
    }

    @Test("Login rules are stored, listed and removed; a rule that would send tokens astray is rejected")
    func rules() async throws {
        let fixture = try ServiceFixture()
        let route = "/v1/jars/default/login-rules"
        try await fixture.run { client in
            let rule =
                #"{"scope":"https://app.test/","profile":"work","redirects":["/in"],"delivery":"exchange","template":"https://app.test/c"}"#
            let kept = try await client.send(.put, "\(route)/app", rule)
            #expect(kept.status == 200 && kept.object["name"] as? String == "app")
            let listed = try await client.send(.get, route)
            #expect(
                (listed.object["rules"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["app", "main"])
            for (body, code) in [
                (#"{"scope":"http://app.test/","profile":"work","delivery":"authorization"}"#, "login-rule-invalid"),
                (#"{"scope":"https://app.test/","profile":"work","delivery":"cookie"}"#, "body-invalid"),
                (
                    #"{"scope":"https://app.test/","profile":"work","delivery":"cookie","template":"a=b"}"#,
                    "login-rule-invalid"
                ),
                (
                    #"{"scope":"https://app.test/","profile":"work","delivery":"exchange","template":"http://app.test/"}"#,
                    "login-rule-invalid"
                ),
                (#"{"scope":"nowhere","profile":"work","delivery":"authorization"}"#, "url-invalid"),
                (
                    #"{"scope":"https://app.test/","profile":"work","delivery":"authorization","statuses":[9]}"#,
                    "body-invalid"
                ),
            ] {
                let answer = try await client.send(.put, "\(route)/bad", body)
                #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
            }
            #expect(try await client.send(.delete, "\(route)/app").status == 204)
            #expect(try await client.send(.delete, "\(route)/app").code == "login-rule-not-found")
        }
    }

    @Test("A token for one jar cannot create login rules, because they could send any token anywhere")
    func escalation() async throws {
        let fixture = try ServiceFixture()
        let rule = #"{"scope":"https://evil.test/","profile":"work","delivery":"authorization"}"#
        for grant in [
            AccessGrant(verbs: Set(AccessVerb.allCases), jars: .named(["default"])), AccessGrant(verbs: [.write]),
            AccessGrant(verbs: [.read, .secrets]),
        ] {
            let answer = try await fixture.run(grant) {
                try await $0.send(.put, "/v1/jars/default/login-rules/mine", rule)
            }
            #expect(answer.status == 403)
        }
        let rules = try fixture.database.jar(named: "default", now: ServiceFixture.now).loginRules()
        #expect(rules.map(\.name) == ["main"])
    }
}
