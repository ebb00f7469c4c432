import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import SessionStore
import Synchronization
import Testing

@testable import RequestDecoration

@Suite("Login fallback")
struct LoginFallbackTests {
    private static let now = DecorationFixture.now
    private static let template = "session={access_token}; Path=/; Secure; HttpOnly; SameSite=Lax"

    /// A server with tokens, and one that gives a cookie for them.
    private final class Server: EndpointTransport {
        let paths = Mutex<[String]>([])
        let isAlive: Bool

        init(isAlive: Bool = true) {
            self.isAlive = isAlive
        }

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            paths.withLock { $0.append(request.endpoint.path) }
            if request.endpoint.path == "/cookie" {
                let isKnown = request.exposedHead.headerFields[.authorization] == "Bearer fresh"
                var fields = HTTPFields()
                if isKnown { fields[.setCookie] = "session=exchanged; Path=/; Secure" }
                return EndpointResponse(status: isKnown ? .noContent : .forbidden, fields: fields, body: [])
            }
            let body = isAlive ? #"{"access_token":"fresh","expires_in":600}"# : #"{"error":"invalid_grant"}"#
            return EndpointResponse(status: isAlive ? .ok : .badRequest, body: Array(body.utf8))
        }
    }

    private func rule(_ delivery: LoginRule.Delivery, redirects: [String] = ["/login"]) throws -> LoginRule {
        try LoginRule(
            scope: "https://app.test/", signs: LoginRule.Signs(redirects: redirects), profile: "p",
            delivery: delivery)
    }

    private func jar() throws -> CookieJar {
        try DecorationFixture().jar
    }

    private func fallback(
        _ jar: CookieJar, _ delivery: LoginRule.Delivery, server: Server = Server(), expired: Bool = true,
        login: LoginFallback.Login? = nil
    ) throws -> LoginFallback {
        let settings = ProfileSettings(grant: .imported, endpoints: [.token: "https://id.test/token"])
        let offset: Int64 = expired ? -1 : 600
        try jar.tokens.put(
            TokenSet(
                accessToken: Secret("old"), refreshToken: Secret("refresh-r"),
                receivedAt: LoginFallbackTests.now.advanced(bySeconds: -900),
                accessTokenExpiry: LoginFallbackTests.now.advanced(bySeconds: offset)),
            for: Profile(id: ProfileID(), name: "p"), credentials: ProfileCredentials(settings: settings),
            now: LoginFallbackTests.now)
        let refresher = TokenRefresher(
            store: jar.tokens, transport: server, process: 1, now: { LoginFallbackTests.now })
        return LoginFallback(
            rules: [try rule(delivery)], store: jar.tokens, refresher: refresher, transport: server, login: login)
    }

    // MARK: - What says "not signed in"

    @Test(
        "A response is a challenge only if it matches the rule",
        arguments: [
            ("https://app.test/a", 401, nil, nil, "status"),
            ("https://app.test/a", 200, nil, nil, nil),
            ("https://app.test/a", 403, nil, nil, nil),
            ("https://other.test/a", 401, nil, nil, nil),
            ("http://app.test/a", 401, nil, nil, nil),
            ("https://app.test/a", 302, "/login?next=%2Fa", nil, "redirect"),
            ("https://app.test/a", 302, "https://app.test/login/form", nil, "redirect"),
            ("https://app.test/a", 302, "/loginx", nil, nil),
            ("https://app.test/a", 302, "https://evil.test/login", nil, nil),
            ("https://app.test/a", 200, "/login", nil, nil),
            ("https://app.test/a", 401, nil, "Bearer realm=\"x\"", "bearer-challenge"),
            ("https://app.test/a", 401, nil, "Basic realm=\"Bearer error=\", Bearer", "bearer-challenge"),
            // RFC 9470, section 3
            (
                "https://app.test/a", 401, nil,
                "Bearer error=\"insufficient_user_authentication\", acr_values=\"gold silver\", max_age=\"5\"",
                "step-up"
            ),
            ("https://app.test/a", 403, nil, "Bearer error=insufficient_scope", nil),
            // RFC 9449, section 7.1
            ("https://app.test/a", 401, nil, "DPoP algs=\"ES256\"", "bearer-challenge"),
        ] as [(String, Int, String?, String?, String?)])
    func challenges(url: String, status: Int, location: String?, field: String?, sign: String?) throws {
        let head = ResponseHead(
            status: status, location: location.map { Octets($0) }, authenticate: field.map { [Octets($0)] } ?? [])
        let challenge = LoginChallenge(try rule(.authorization), head, from: try RequestURL(url))
        #expect(challenge?.sign.rawValue == sign)
        if sign == "step-up" {
            #expect(challenge?.authenticationContext == "gold silver" && challenge?.maximumAge == 5)
        }
        if sign == "redirect" { #expect(challenge?.loginURL?.contains("?") == false) }
    }

    @Test(
        "Login rules that would send tokens astray are rejected",
        arguments: [
            ("http://app.test/", template, "/login"), ("app.test", template, "/login"),
            ("https://app.test/", "session=x", "/login"),
            ("https://app.test/", "session={access_token}; Max-Age=5", "/login"),
            ("https://app.test/", "session={access_token}; expires=x", "/login"),
            ("https://app.test/", "{access_token}", "/"),
            ("https://app.test/", template, ""),
        ])
    func refused(scope: String, template: String, redirect: String) {
        #expect(throws: LoginFallbackError.self) {
            try LoginRule(
                scope: scope, signs: LoginRule.Signs(redirects: [redirect]), profile: "p",
                delivery: .cookie(try CookieTemplate(template)))
        }
    }

    @Test(
        "The endpoint for a login rule's cookies belongs to the rule's own site",
        arguments: [
            ("https://app.test/cookie", true), ("https://app.test:8443/c", true), ("https://id.example/cookie", false),
            ("https://test/cookie", false), ("http://app.test/cookie", false),
        ])
    func exchangeSite(url: String, isTaken: Bool) {
        let made = try? rule(.exchange(url))
        #expect((made != nil) == isTaken)
    }

    @Test("Login rules are stored per jar, and read unchanged")
    func stored() throws {
        let jar = try jar()
        let rules = try [
            "a": rule(.cookie(CookieTemplate(LoginFallbackTests.template))), "b": rule(.authorization),
            "c": rule(.exchange("https://app.test/cookie")),
        ]
        for (name, rule) in rules { try jar.setLoginRule(rule, named: name) }
        let stored = try jar.loginRules()
        #expect(stored.map(\.name) == ["a", "b", "c"] && stored.allSatisfy { rules[$0.name] == $0.rule })
        #expect(try jar.removeLoginRule(named: "b") && jar.loginRules().count == 2)
        #expect(try !jar.removeLoginRule(named: "b"))
    }

    // MARK: - Back in

    /// A site that knows who has the cookie `session=fresh` or `session=exchanged`, or the token `fresh`.
    private func site(_ request: HTTPRequest) -> ResponseHead {
        let cookies = request.headerFields[.cookie] ?? ""
        let isSignedIn =
            cookies.contains("session=fresh") || cookies.contains("session=exchanged")
            || request.headerFields[.authorization] == "Bearer fresh"
        return isSignedIn
            ? ResponseHead(status: 201)
            : ResponseHead(status: 401, authenticate: ["Bearer"], setCookie: ["seen=1; Path=/; Secure"])
    }

    @Test(
        "A request is sent again signed in after one fallback, with the same method",
        arguments: [0, 1, 2])
    func signedIn(way: Int) async throws {
        let jar = try jar()
        let delivery: LoginRule.Delivery =
            switch way {
            case 0: .cookie(try CookieTemplate(LoginFallbackTests.template))
            case 1: .authorization
            default: .exchange("https://app.test/cookie")
            }
        let fallback = try fallback(jar, delivery)
        let request = HTTPRequest(method: .post, scheme: "https", authority: "app.test", path: "/orders")
        let sent = Mutex<[String]>([])
        let exchange = try await RequestDecorator(jar: jar).exchange(
            request, in: RequestContext(url: try request.requestURL()), fallback: fallback,
            now: { LoginFallbackTests.now }
        ) { request, chain in
            sent.withLock { $0.append("\(request.method) \(request.path ?? "") \(chain.keepsBody)") }
            return (site(request), ())
        }
        #expect(exchange.head.status == 201)
        // A token that goes into the Authorization field is there, renewed, from the first request on.
        #expect(sent.withLock { $0 } == Array(repeating: "POST /orders true", count: way == 1 ? 1 : 2))
        #expect(exchange.hops.map(\.status) == (way == 1 ? [201] : [401, 201]))
        let cookies = try jar.cookies().readable
        #expect(cookies.contains { $0.name == "seen" } == (way != 1))
        if way == 0 {
            let cookie = try #require(cookies.first { $0.name == "session" })
            #expect(cookie.expiry == LoginFallbackTests.now.advanced(bySeconds: 600) && cookie.isHTTPOnly)
        }
    }

    @Test(
        "A token that the site rejects is renewed although it has not expired",
        arguments: [(true, "old", 1), (true, "another", 0), (false, "old", 1), (false, nil, 0)]
            as [(Bool, String?, Int)])
    func revoked(isCookie: Bool, shown: String?, refreshes: Int) async throws {
        let jar = try jar()
        let server = Server()
        let fallback = try fallback(
            jar, isCookie ? .cookie(try CookieTemplate(LoginFallbackTests.template)) : .authorization, server: server,
            expired: false)
        let url = try RequestURL("https://app.test/")
        if isCookie, let shown {
            _ = try jar.receive(
                ReceivedResponse(
                    context: RequestContext(url: url), setCookie: [Octets("session=\(shown); Path=/; Secure; HttpOnly")]
                ),
                now: LoginFallbackTests.now)
        }
        // With a field, the site itself says that it has seen a token.
        let field: [Octets] = isCookie ? [] : [shown == nil ? "Bearer" : "Bearer error=\"invalid_token\""]
        let head = ResponseHead(status: 401, authenticate: field)
        let challenge = try #require(fallback.challenge(in: head, from: url))
        _ = try await fallback.answer(challenge, in: jar, now: LoginFallbackTests.now)
        #expect(server.paths.withLock { $0.count } == refreshes)
        #expect(try jar.tokens.get("p").tokens.accessToken == Secret(refreshes == 0 ? "old" : "fresh"))
    }

    @Test("A token that has only just been renewed and is rejected is not sent again: a login is required")
    func noLoop() async throws {
        let jar = try jar()
        let server = Server()
        let fallback = try fallback(jar, .authorization, server: server)
        let request = HTTPRequest(method: .get, scheme: "https", authority: "app.test", path: "/")
        let count = Mutex(0)
        let error = await #expect(throws: LoginFallbackError.self) {
            _ = try await RequestDecorator(jar: jar).exchange(
                request, in: RequestContext(url: try request.requestURL()), fallback: fallback,
                now: { LoginFallbackTests.now }
            ) { _, _ in
                count.withLock { $0 += 1 }
                return (ResponseHead(status: 401), ())
            }
        }
        #expect(error?.code == .loginRequired && count.withLock { $0 } == 1)
        #expect(server.paths.withLock { $0.count } == 1)
    }

    @Test("A request with the caller's own credentials is not changed")
    func ownCredentials() async throws {
        let jar = try jar()
        let fallback = try fallback(jar, .authorization)
        var request = HTTPRequest(method: .get, scheme: "https", authority: "app.test", path: "/")
        request.headerFields[.authorization] = "Basic x"
        let exchange = try await RequestDecorator(jar: jar).exchange(
            request, in: RequestContext(url: try request.requestURL()), fallback: fallback,
            now: { LoginFallbackTests.now }
        ) { _, _ in (ResponseHead(status: 401), ()) }
        #expect(exchange.hops.count == 1)
    }

    @Test("If only a login helps, it is made once, or the error names the page")
    func login() async throws {
        let jar = try jar()
        let dead = Server(isAlive: false)
        let head = ResponseHead(status: 302, location: "/login?next=secret")
        let url = try RequestURL("https://app.test/")
        let without = try fallback(jar, .authorization, server: dead)
        let challenge = try #require(without.challenge(in: head, from: url))
        let error = await #expect(throws: LoginFallbackError.self) {
            try await without.answer(challenge, in: jar, now: LoginFallbackTests.now)
        }
        #expect(error?.code == .loginRequired && error?.loginURL == "https://app.test/login")
        let logins = Mutex(0)
        let with = try fallback(jar, .authorization, server: dead) { challenge in
            logins.withLock { $0 += 1 }
            try jar.tokens.put(
                TokenSet(accessToken: Secret("fresh"), receivedAt: LoginFallbackTests.now),
                for: Profile(id: ProfileID(), name: challenge.rule.profile), now: LoginFallbackTests.now)
        }
        guard case .authorization(let rule) = try await with.answer(challenge, in: jar, now: LoginFallbackTests.now)
        else {
            Issue.record("No Authorization.")
            return
        }
        #expect(try rule.credential(url)?.tokens.accessToken == Secret("fresh") && logins.withLock { $0 } == 1)
    }

    @Test("A site that requires another login does not get a token of the same one")
    func stepUp() async throws {
        let jar = try jar()
        let server = Server()
        let fallback = try fallback(jar, .authorization, server: server, expired: false)
        let field = Octets("Bearer error=\"insufficient_user_authentication\", acr_values=\"gold\", max_age=60")
        let challenge = try #require(
            fallback.challenge(
                in: ResponseHead(status: 401, authenticate: [field]), from: try RequestURL("https://app.test/")))
        let error = await #expect(throws: LoginFallbackError.self) {
            try await fallback.answer(challenge, in: jar, now: LoginFallbackTests.now)
        }
        #expect(error?.code == .stepUpRequired && error?.description.contains("acr_values=gold") == true)
        #expect(error?.description.contains("max_age=60") == true && server.paths.withLock { $0.isEmpty })
    }

    @Test(
        "Every challenge of a response counts, whatever precedes it",
        arguments: [
            (["DPoP algs=\"ES256\", Bearer error=\"invalid_token\""], "bearer-challenge", true, nil),
            (["DPoP algs=\"ES256\"", "Bearer error=\"invalid_token\""], "bearer-challenge", true, nil),
            (
                ["Bearer realm=\"x\", DPoP error=insufficient_user_authentication, acr_values=\"a b\""], "step-up",
                false,
                "--parameter 'acr_values=a b'"
            ),
            (
                ["Bearer error=\"insufficient_user_authentication\", acr_values=\"a;rm b\", max_age=5", "DPoP"],
                "step-up",
                false, "crumb token login p --parameter max_age=5"
            ),
        ] as [([String], String, Bool, String?)])
    func manyChallenges(fields: [String], sign: String, refusesToken: Bool, said: String?) throws {
        let head = ResponseHead(status: 401, authenticate: fields.map { Octets($0) })
        let challenge = try #require(
            LoginChallenge(try rule(.authorization), head, from: try RequestURL("https://app.test/")))
        #expect(challenge.sign.rawValue == sign && challenge.refusesToken == refusesToken)
        if let said { #expect(challenge.stepUpRequired.commandDescription.contains(said)) }
    }

    @Test(
        "A login that does not meet the site's requirements is not presented to it",
        arguments: [
            (#""acr":"gold","auth_time":1795247990"#, true), (#""acr":"0","auth_time":1795247990"#, false),
            (#""acr":"gold","auth_time":1"#, false), (#""acr":"gold""#, false),
        ])
    func unmetStepUp(claims: String, isMet: Bool) async throws {
        let jar = try jar()
        let moment = Timestamp(seconds: 1_795_248_000)
        let parts = [#"{"alg":"RS256"}"#, #"{"iss":"i","sub":"s","aud":"app","exp":4000000000,\#(claims)}"#, "s"]
        let token = parts.map { Data($0.utf8).base64EncodedString().filter { $0 != "=" } }.joined(separator: ".")
        let fallback = try fallback(jar, .authorization) { challenge in
            try jar.tokens.put(
                TokenSet(accessToken: Secret("fresh"), idToken: Secret(token), receivedAt: moment),
                for: Profile(id: ProfileID(), name: challenge.rule.profile), now: moment)
        }
        let field = Octets("Bearer error=insufficient_user_authentication, acr_values=gold, max_age=60")
        let challenge = try #require(
            fallback.challenge(
                in: ResponseHead(status: 401, authenticate: [field]), from: try RequestURL("https://app.test/")))
        do {
            _ = try await fallback.answer(challenge, in: jar, now: moment)
            #expect(isMet)
        } catch let error as LoginFallbackError {
            #expect(error.code == .stepUpRequired && !isMet)
        }
    }

    @Test(
        "A cookie with a token lives as long as the token",
        arguments: [
            ("a={access_token}", "600"), ("a={id_token}", "60"), ("a={id_token}.{access_token}", "60"),
        ])
    func lifetime(template: String, seconds: String) throws {
        let parts = [#"{"alg":"RS256"}"#, #"{"iss":"i","sub":"s","aud":"app","exp":1060}"#, "s"]
        let token = parts.map { Data($0.utf8).base64EncodedString().filter { $0 != "=" } }.joined(separator: ".")
        let tokens = TokenSet(
            accessToken: Secret("old"), idToken: Secret(token), receivedAt: .epoch,
            accessTokenExpiry: Timestamp(microseconds: 1_600_000_000))
        let line = try CookieTemplate(template).setCookie(tokens, profile: "p", now: Timestamp(seconds: 1000))
        #expect("\(String(decoding: line, as: UTF8.self))".hasSuffix("; Max-Age=\(seconds)"))
    }

    @Test("A token's cookie that the jar rejects is reported")
    func refusedCookie() async throws {
        let jar = try jar()
        let url = try RequestURL("https://app.test/")
        let head = ResponseHead(status: 401)
        let template = try CookieTemplate("session={access_token}; Domain=other.test")
        let foreign = try fallback(jar, .cookie(template))
        let challenge = try #require(foreign.challenge(in: head, from: url))
        let error = await #expect(throws: LoginFallbackError.self) {
            try await foreign.answer(challenge, in: jar, now: LoginFallbackTests.now)
        }
        #expect(error?.code == .cookieRefused)
    }
}
