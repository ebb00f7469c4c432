import CookieModel
import HTTPTypes
import OAuth2
import SessionStore
import Synchronization
import Testing

@testable import RequestDecoration

@Suite("Login recovery: the token that is there, a renewed one, a new login, each once")
struct LoginRecoveryTests {
    private static let now = DecorationFixture.now

    /// A token endpoint and one that gives cookies, and a site: what each takes is said by the test.
    private final class World: EndpointTransport {
        struct State {
            /// The token that the site and the endpoint for cookies take.
            var taken = "none"
            /// How the token endpoint answers; `nil` for not at all.
            var answer: (status: Int, body: String)? = (200, #"{"access_token":"renewed","expires_in":600}"#)
            var refreshes = 0
            var exchanges = 0
            var logins = 0
            /// The tokens that the site was shown, in order; empty text for none.
            var shown: [String] = []
        }

        let state = Mutex(State())

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            if request.endpoint.path == "/cookie" {
                let token = request.exposedHead.headerFields[.authorization]?.dropFirst(7) ?? ""
                let isTaken = state.withLock { state in
                    state.exchanges += 1
                    return token == state.taken
                }
                var fields = HTTPFields()
                if isTaken { fields[.setCookie] = "session=\(token); Path=/; Secure" }
                return EndpointResponse(status: isTaken ? .noContent : .unauthorized, fields: fields, body: [])
            }
            let answer = state.withLock { state in
                state.refreshes += 1
                return state.answer
            }
            guard let answer else { throw OAuth2Error(unreachable: "the cable was cut") }
            return EndpointResponse(status: HTTPResponse.Status(code: answer.status), body: Array(answer.body.utf8))
        }

        /// Who comes with the token that is taken, as a cookie or in the field, is signed in.
        func site(_ request: HTTPRequest) -> ResponseHead {
            let field = request.headerFields[.authorization].map { String($0.dropFirst(7)) }
            let cookie = request.headerFields[.cookie]?.split(separator: "=").last.map(String.init)
            return state.withLock { state in
                state.shown.append(field ?? cookie ?? "")
                return ResponseHead(status: state.shown.last == state.taken ? 200 : 401)
            }
        }
    }

    private let world = World()
    private let jar: CookieJar

    init() throws {
        jar = try DecorationFixture().jar
    }

    private func put(_ token: String, refreshToken: String? = "refresh-r") throws {
        try jar.tokens.put(
            TokenSet(
                accessToken: Secret(token), refreshToken: refreshToken.map { Secret($0) },
                receivedAt: LoginRecoveryTests.now,
                accessTokenExpiry: LoginRecoveryTests.now.advanced(bySeconds: 600)),
            for: Profile(id: ProfileID(), name: "p"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(grant: .imported, endpoints: [.token: "https://id.test/token"])),
            now: LoginRecoveryTests.now)
    }

    private static let deliveries: [LoginRule.Delivery] = [
        .authorization, .exchange("https://app.test/cookie"),
    ]

    /// What a request comes to, the site's status or the error.
    private func outcome(_ delivery: LoginRule.Delivery, logsIn: Bool) async throws -> Result<Int, LoginFallbackError> {
        let rule = try LoginRule(scope: "https://app.test/", profile: "p", delivery: delivery)
        let refresher = TokenRefresher(
            store: jar.tokens, transport: world, process: 1, now: { LoginRecoveryTests.now })
        let login: LoginFallback.Login = { _ in
            world.state.withLock { $0.logins += 1 }
            try put("login")
        }
        let fallback = LoginFallback(
            rules: [rule], store: jar.tokens, refresher: refresher, transport: world, login: logsIn ? login : nil)
        let request = HTTPRequest(method: .get, scheme: "https", authority: "app.test", path: "/")
        do {
            let exchange = try await RequestDecorator(jar: jar).exchange(
                request, in: RequestContext(url: try request.requestURL()), fallback: fallback,
                now: { LoginRecoveryTests.now }
            ) { request, _ in (world.site(request), ()) }
            return .success(exchange.head.status)
        } catch let error as LoginFallbackError {
            return .failure(error)
        }
    }

    @Test(
        "An unexpired token that the site rejects is renewed once, then a login is made, then the recovery ends",
        arguments: [
            // The token goes with the first request: the rule says that it belongs there.
            ("old", false, 200, 0, 0, ["old"]), ("renewed", false, 200, 1, 0, ["old", "renewed"]),
            ("login", false, 401, 1, 0, ["old", "renewed"]), ("login", true, 200, 1, 1, ["old", "renewed", "login"]),
            ("none", true, 401, 1, 1, ["old", "renewed", "login"]),
        ] as [(String, Bool, Int, Int, Int, [String])])
    func authorization(
        taken: String, logsIn: Bool, status: Int, refreshes: Int, logins: Int, shown: [String]
    ) async throws {
        try put("old")
        world.state.withLock { $0.taken = taken }
        #expect(try await outcome(.authorization, logsIn: logsIn) == .success(status))
        let state = world.state.withLock { $0 }
        #expect(state.refreshes == refreshes && state.logins == logins && state.shown == shown)
    }

    @Test(
        "A token that the endpoint for cookies rejects is renewed once, then a login is made",
        arguments: [
            ("old", false, 0, 0, 1), ("renewed", false, 1, 0, 2), ("login", true, 1, 1, 3),
        ] as [(String, Bool, Int, Int, Int)])
    func exchange(taken: String, logsIn: Bool, refreshes: Int, logins: Int, exchanges: Int) async throws {
        try put("old")
        world.state.withLock { $0.taken = taken }
        let delivery = LoginRule.Delivery.exchange("https://app.test/cookie")
        #expect(try await outcome(delivery, logsIn: logsIn) == .success(200))
        let state = world.state.withLock { $0 }
        #expect(state.refreshes == refreshes && state.logins == logins && state.exchanges == exchanges)
        #expect(state.shown == ["", taken])
    }

    @Test("An endpoint for cookies that accepts no token ends the recovery", arguments: [true, false])
    func exchangeFails(logsIn: Bool) async throws {
        try put("old")
        let result = try await outcome(.exchange("https://app.test/cookie"), logsIn: logsIn)
        guard case .failure(let error) = result else {
            Issue.record("signed in by nothing")
            return
        }
        #expect(error.code == .exchangeFailed)
        let state = world.state.withLock { $0 }
        #expect(state.refreshes == 1 && state.exchanges == (logsIn ? 3 : 2) && state.shown.count == 1)
    }

    /// The requests that reach a site, each with its method, until an exchange is over.
    private func exchange(
        _ method: HTTPRequest.Method, _ delivery: LoginRule.Delivery, isBodyRepeatable: Bool = true,
        site: (HTTPRequest) -> ResponseHead
    ) async throws -> (requests: [String], status: Int) {
        let rule = try LoginRule(scope: "https://app.test/", profile: "p", delivery: delivery)
        let refresher = TokenRefresher(
            store: jar.tokens, transport: world, process: 1, now: { LoginRecoveryTests.now })
        let fallback = LoginFallback(rules: [rule], store: jar.tokens, refresher: refresher, transport: world)
        var requests: [String] = []
        let request = HTTPRequest(method: method, scheme: "https", authority: "app.test", path: "/form")
        let exchange = try await RequestDecorator(jar: jar).exchange(
            request, in: RequestContext(url: try request.requestURL()), isBodyRepeatable: isBodyRepeatable,
            fallback: fallback, now: { LoginRecoveryTests.now }
        ) { request, _ in
            requests.append("\(request.method.rawValue) \(request.path ?? "")")
            return (site(request), ())
        }
        return (requests, exchange.head.status)
    }

    @Test("A site that accepts tokens is asked once, and a token that was not presented is not renewed")
    func once() async throws {
        try put("old")
        let site = { (request: HTTPRequest) in
            request.headerFields[.authorization] == "Bearer old"
                ? ResponseHead(status: 200)
                : ResponseHead(status: 401, authenticate: ["Bearer error=\"invalid_token\""])
        }
        for _ in 0..<3 {
            let result = try await exchange(.get, .authorization, site: site)
            #expect(result.requests == ["GET /form"] && result.status == 200)
        }
        // A body that can go only once goes with the token as well.
        let post = try await exchange(.post, .authorization, isBodyRepeatable: false, site: site)
        #expect(post.requests == ["POST /form"] && post.status == 200)
        #expect(world.state.withLock { $0.refreshes } == 0)
    }

    @Test("A posted form that was answered with a redirect is not posted again", arguments: [302, 303, 307])
    func postRedirectGet(status: Int) async throws {
        try put("old")
        let template = try CookieTemplate("session={access_token}; Path=/; Secure")
        let result = try await exchange(.post, .cookie(template)) { request in
            if request.path == "/form" { return ResponseHead(status: status, location: "/done") }
            let isSignedIn = request.headerFields[.cookie]?.contains("session=old") == true
            return ResponseHead(status: isSignedIn ? 200 : 401)
        }
        let method = status == 307 ? "POST" : "GET"
        #expect(result.requests == ["POST /form", "\(method) /done", "\(method) /done"] && result.status == 200)
    }

    @Test("A requested page is requested again from the beginning")
    func getRedirectGet() async throws {
        try put("old")
        let template = try CookieTemplate("session={access_token}; Path=/; Secure")
        let result = try await exchange(.get, .cookie(template)) { request in
            let isSignedIn = request.headerFields[.cookie]?.contains("session=old") == true
            if isSignedIn { return ResponseHead(status: 200) }
            return request.path == "/form"
                ? ResponseHead(status: 302, location: "/please-log-in") : ResponseHead(status: 401)
        }
        #expect(result.requests == ["GET /form", "GET /please-log-in", "GET /form"] && result.status == 200)
    }

    @Test("A token that another process has renewed meanwhile is used", arguments: deliveries)
    func renewedByOthers(delivery: LoginRule.Delivery) async throws {
        try put("old")
        world.state.withLock { $0.taken = "others" }
        let rule = try LoginRule(scope: "https://app.test/", profile: "p", delivery: .authorization)
        let refresher = TokenRefresher(
            store: jar.tokens, transport: world, process: 1, now: { LoginRecoveryTests.now })
        var recovery = LoginRecovery(
            LoginFallback(rules: [rule], store: jar.tokens, refresher: refresher, transport: world))
        let url = try RequestURL("https://app.test/")
        let challenge = try #require(recovery.challenge(in: ResponseHead(status: 401), from: url))
        _ = try await recovery.answer(challenge, in: jar, now: LoginRecoveryTests.now)
        try put("others")
        guard
            case .authorization(let answer) = try await recovery.answer(challenge, in: jar, now: LoginRecoveryTests.now)
        else {
            Issue.record("No Authorization.")
            return
        }
        #expect(try answer.credential(url)?.tokens.accessToken == Secret("others"))
        #expect(world.state.withLock { $0.refreshes } == 0 && recovery.isOver)
    }

    @Test("A request carries the delivered token as long as the jar has its cookie and the store has no other token")
    func carried() async throws {
        world.state.withLock { $0.taken = "old" }
        let cookie = LoginRule.Delivery.cookie(try CookieTemplate("session={access_token}; Path=/; Secure"))
        for delivery in LoginRecoveryTests.deliveries + [cookie] {
            try put("old")
            let rule = try LoginRule(scope: "https://app.test/", profile: "p", delivery: delivery)
            let refresher = TokenRefresher(
                store: jar.tokens, transport: world, process: 1, now: { LoginRecoveryTests.now })
            let fallback = LoginFallback(rules: [rule], store: jar.tokens, refresher: refresher, transport: world)
            let request = RequestContext(url: try RequestURL("https://app.test/"))
            let challenge = try #require(fallback.challenge(in: ResponseHead(status: 401), from: request.url))
            var recovery = LoginRecovery(fallback)
            func isCarried() throws -> Bool {
                try recovery.isCarried(by: request, in: jar, now: LoginRecoveryTests.now)
            }
            #expect(try !isCarried())
            _ = try await recovery.answer(challenge, in: jar, now: LoginRecoveryTests.now)
            #expect(try isCarried(), "\(delivery)")
            try jar.receive(
                ReceivedResponse(context: request, status: 200, setCookie: ["session=own; Path=/; Secure"]),
                now: LoginRecoveryTests.now)
            #expect(try isCarried() == (delivery == .authorization), "\(delivery)")
            try jar.receive(
                ReceivedResponse(context: request, status: 200, setCookie: ["session=old; Path=/; Secure"]),
                now: LoginRecoveryTests.now)
            #expect(try isCarried(), "\(delivery)")
            try put("other")
            #expect(try !isCarried(), "\(delivery)")
            try jar.receive(
                ReceivedResponse(context: request, status: 200, setCookie: ["session=; Max-Age=0; Path=/; Secure"]),
                now: LoginRecoveryTests.now)
        }
        #expect(world.state.withLock { $0.refreshes } == 0)
    }

    /// What token endpoints answer to a dead refresh token.
    private static let refusals: [(Int, String)] = [
        (400, #"{"error":"invalid_grant"}"#), (400, ""), (403, ""), (401, ""), (422, "{}"), (400, "<html>"),
        (403, #"{"error":"invalid_code"}"#), (200, #"{"error":"bad_refresh_token"}"#),
    ]

    @Test(
        "Any rejection by a token endpoint leads to a login, or to the page to open",
        arguments: refusals)
    func refusedRefresh(status: Int, body: String) async throws {
        try put("old")
        world.state.withLock { state in
            state.taken = "login"
            state.answer = (status, body)
        }
        let before = try jar.tokens.get("p").tokens
        guard case .failure(let error) = try await outcome(.authorization, logsIn: false) else {
            Issue.record("signed in by nothing")
            return
        }
        #expect(error.code == .loginRequired)
        #expect(try jar.tokens.get("p").tokens == before, "the grant was deleted")
        if body != #"{"error":"invalid_grant"}"# { #expect(error.description.contains("(status \(status)")) }
        #expect(try await outcome(.authorization, logsIn: true) == .success(200))
        #expect(world.state.withLock { $0.logins } == 1)
    }

    @Test(
        "A failure that is not a rejection keeps the grant and begins no login",
        arguments: [
            nil, (503, ""), (429, ""), (408, ""), (401, #"{"error":"invalid_client"}"#), (200, "<html>"), (302, ""),
        ] as [(Int, String)?])
    func noRefusal(answer: (Int, String)?) async throws {
        try put("old")
        world.state.withLock { $0.answer = answer.map { (status: $0.0, body: $0.1) } }
        let before = try jar.tokens.get("p")
        await #expect(throws: OAuth2Error.self) { try await outcome(.authorization, logsIn: true) }
        let after = try jar.tokens.get("p")
        #expect(after.tokens == before.tokens && after.refusal == nil && world.state.withLock { $0.logins } == 0)
    }

    @Test("A rejected token that cannot be renewed requires a login", arguments: [true, false])
    func notRenewable(logsIn: Bool) async throws {
        try put("old", refreshToken: nil)
        world.state.withLock { $0.taken = "login" }
        let result = try await outcome(.authorization, logsIn: logsIn)
        if logsIn {
            #expect(result == .success(200))
        } else if case .failure(let error) = result {
            #expect(error.code == .loginRequired)
        } else {
            Issue.record("signed in by nothing")
        }
        #expect(world.state.withLock { $0.refreshes } == 0)
    }

    @Test("A token that was just received is not renewed again for a site that accepts none")
    func settling() async throws {
        try put("old")
        let refresher = TokenRefresher(
            store: jar.tokens, transport: world, process: 1, now: { LoginRecoveryTests.now })
        #expect(try await refresher.renewed("p", insteadOf: Secret("old"))?.tokens.accessToken == Secret("renewed"))
        #expect(try await refresher.renewed("p", insteadOf: Secret("renewed")) == nil)
        #expect(world.state.withLock { $0.refreshes } == 1)
    }
}
