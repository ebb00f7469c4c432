import CookieModel
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import Testing

@Suite("Fields and credentials on requests")
struct DecoratedFieldTests {
    private static let now = DecorationFixture.now

    /// Decorates both ways and expects the same request.
    private func decorate(
        _ settings: DecorationSettings, on request: HTTPRequest = DecorationFixture.request(),
        in context: RequestContext? = nil
    ) throws -> (request: HTTPRequest, report: RequestDecorator.Report) {
        let decorator = try DecorationFixture().decorator(settings)
        let context = try context ?? DecorationFixture.context()
        let decorated = try decorator.decorate(request, in: context, now: DecoratedFieldTests.now)
        var plain = request
        try decorator.decorate(&plain, in: context, now: DecoratedFieldTests.now)
        #expect(plain == decorated.request)
        return decorated
    }

    private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }

    @Test("A decoration adds fields and user agent, unless the caller has set them")
    func fields() throws {
        var settings = DecorationSettings(userAgent: "Crumb/1")
        settings.fields = [
            FieldRule(HTTPField(name: try name("X-One"), value: "1")),
            FieldRule(HTTPField(name: .accept, value: "text/html")),
        ]
        let decorated = try decorate(settings)
        #expect(decorated.request.headerFields[.userAgent] == "Crumb/1")
        #expect(decorated.request.headerFields[try name("x-one")] == "1")
        #expect(decorated.request.headerFields[.accept] == "*/*")
        #expect(decorated.report.fields == [try name("X-One"), .userAgent])
        #expect(decorated.report.fieldOmissions.map(\.reason) == [.setByCaller])
        var own = DecorationFixture.request()
        own.headerFields[.userAgent] = "mine"
        #expect(try decorate(settings, on: own).request.headerFields[values: .userAgent] == ["mine"])
    }

    @Test(
        "Fields that settings must not contain are not added",
        arguments: [
            "Cookie", "authorization", "HOST", "Content-Length", "Connection", "Transfer-Encoding", "Set-Cookie", "TE",
        ])
    func reserved(name: String) throws {
        let settings = DecorationSettings(fields: [FieldRule(HTTPField(name: try self.name(name), value: "x"))])
        let decorated = try decorate(settings)
        #expect(decorated.request == DecorationFixture.request())
        #expect(decorated.report.fieldOmissions.map(\.reason) == [.reserved])
    }

    @Test(
        "A scope is an origin and the paths at or below one",
        arguments: [
            ("https://api.test/v2", "https://api.test/v2", true),
            ("https://api.test/v2", "https://api.test/v2/x?y", true),
            ("https://api.test/v2", "https://api.test/v2?q", true),
            ("https://api.test/v2", "https://api.test/v21", false),
            ("https://api.test/v2", "https://api.test/v2/../v1", false),
            ("https://api.test/v2", "https://api.test/v2/%2e%2E/v1", false),
            ("https://api.test/v2", "https://api.test/V2", false), ("https://api.test/v2", "https://api.test/", false),
            ("https://api.test/v2/", "https://api.test/v2", false),
            ("https://api.test/v2/", "https://api.test/v2/x", true),
            ("https://api.test", "https://api.test/anything", true),
            ("https://api.test", "https://API.test:443/", true),
            ("https://api.test", "https://api.test:444/", false), ("https://api.test", "http://api.test/", false),
            ("https://api.test", "https://x.api.test/", false), ("https://api.test", "https://api.test.evil/", false),
            ("https://api.test", "https://api.test@evil.test/", false),
            ("https://api.test", "https://api.test./", false),
        ])
    func scope(prefix: String, url: String, isWithin: Bool) throws {
        let settings = DecorationSettings(
            fields: [FieldRule(HTTPField(name: try name("X-Key"), value: "k"), scope: try URLScope(prefix))],
            authorization: [AuthorizationRule(scope: try URLScope(prefix)) { _ in DecorationFixture.tokens() }])
        let decorated = try decorate(settings, in: try DecorationFixture.context(url))
        #expect((decorated.request.headerFields[.authorization] == "Bearer t0ken") == isWithin)
        #expect((decorated.request.headerFields[try name("X-Key")] == "k") == isWithin)
        #expect(decorated.report.fieldOmissions.map(\.reason) == (isWithin ? [] : [.outsideScope, .outsideScope]))
    }

    @Test(
        "A credential is sent only over secure connections and within this machine",
        arguments: [
            ("https://api.test/", true), ("http://api.test/", false), ("http://localhost:8080/", true),
            ("http://a.localhost/", true), ("http://127.0.0.1:1/", true), ("http://127.9.9.9/", true),
            ("http://[::1]/", true), ("http://128.0.0.1/", false), ("http://localhost.test/", false),
        ])
    func transport(url: String, goes: Bool) throws {
        let settings = DecorationSettings(
            authorization: [AuthorizationRule(scope: try URLScope(url)) { _ in DecorationFixture.tokens() }])
        let decorated = try decorate(settings, in: try DecorationFixture.context(url))
        #expect(decorated.request.headerFields[.authorization] == (goes ? "Bearer t0ken" : nil))
        #expect(decorated.report.fields == (goes ? [.authorization] : []))
        #expect(decorated.report.fieldOmissions.map(\.reason) == (goes ? [] : [.insecureTransport]))
    }

    @Test("The caller's own Authorization stays, and no token is requested")
    func ownAuthorization() throws {
        var request = DecorationFixture.request()
        request.headerFields[.authorization] = "Basic eDp5"
        let settings = DecorationSettings(
            authorization: [
                AuthorizationRule(scope: try URLScope("https://example.com")) { _ in
                    Issue.record("asked for a token")
                    return nil
                }
            ])
        let decorated = try decorate(settings, on: request)
        #expect(decorated.request.headerFields[values: .authorization] == ["Basic eDp5"])
        #expect(decorated.report.fieldOmissions.map(\.reason) == [.setByCaller])
    }

    @Test(
        "Tokens that cannot be presented are not added",
        arguments: [
            (nil, FieldOmissionReason.tokenMissing), (DecorationFixture.tokens(expiry: -1), .tokenExpired),
            (DecorationFixture.tokens(expiry: 0), .tokenExpired),
            (DecorationFixture.tokens(type: TokenType("DPoP")), .tokenNotPresentable),
            (DecorationFixture.tokens("a b"), .tokenNotPresentable),
            (DecorationFixture.tokens("a\r\nX: y"), .tokenNotPresentable),
        ] as [(TokenSet?, FieldOmissionReason)])
    func unusableTokens(tokens: TokenSet?, reason: FieldOmissionReason) throws {
        let decorated = try decorate(
            DecorationSettings(
                authorization: [AuthorizationRule(scope: try URLScope("https://example.com")) { _ in tokens }]))
        #expect(decorated.request == DecorationFixture.request())
        #expect(decorated.report.fieldOmissions.map(\.name) == [.authorization])
        #expect(decorated.report.fieldOmissions.map(\.reason) == [reason])
    }

    @Test("Tokens that are due, or whose expiry is unknown, are sent", arguments: [1, 30, nil] as [Int64?])
    func usableTokens(expiry: Int64?) throws {
        let decorated = try decorate(
            DecorationSettings(
                authorization: [
                    AuthorizationRule(scope: try URLScope("https://example.com")) { _ in
                        DecorationFixture.tokens(expiry: expiry)
                    }
                ]))
        let field = try #require(decorated.request.headerFields[fields: .authorization].first)
        #expect(field.value == "Bearer t0ken" && field.indexingStrategy == .disallow)
    }

    @Test("The first rule whose scope contains the URL counts")
    func order() throws {
        let rules = try [("https://example.com/a", "deep"), ("https://example.com", "all")].map { prefix, token in
            AuthorizationRule(scope: try URLScope(prefix)) { _ in DecorationFixture.tokens(token) }
        }
        for (url, token) in [("https://example.com/a/b", "deep"), ("https://example.com/b", "all")] {
            let decorated = try decorate(
                DecorationSettings(authorization: rules), in: try DecorationFixture.context(url))
            #expect(decorated.request.headerFields[.authorization] == "Bearer \(token)")
        }
    }

    @Test(
        "After a redirect from another origin, no credential is added",
        arguments: [
            (["https://example.com/a"], true), ([], true), (["https://other.example/"], false),
            (["http://example.com/"], false), (["https://example.com/a", "https://other.example/"], false),
            (["https://other.example/", "https://example.com/a"], false), (["https://example.com:8443/"], false),
        ] as [([String], Bool)])
    func redirected(from urls: [String], goes: Bool) throws {
        var context = try DecorationFixture.context()
        context.redirects = try urls.map { try RequestURL($0) }
        let settings = DecorationSettings(
            authorization: [
                AuthorizationRule(scope: try URLScope("https://example.com")) { _ in DecorationFixture.tokens() }
            ])
        let decorated = try decorate(settings, in: context)
        #expect((decorated.request.headerFields[.authorization] != nil) == goes)
        #expect(decorated.report.fieldOmissions.map(\.reason) == (goes ? [] : [.crossOriginRedirect]))
    }

    @Test("Tokens are read from the store by name when the request is made")
    func store() throws {
        let fixture = try DecorationFixture()
        let rule = AuthorizationRule(
            scope: try URLScope("https://example.com"), named: "work", in: fixture.database.tokens)
        let decorator = fixture.decorator(DecorationSettings(authorization: [rule]))
        func authorization() throws -> String? {
            let request = try decorator.decorate(
                DecorationFixture.request(), in: try DecorationFixture.context(), now: DecoratedFieldTests.now
            ).request
            return request.headerFields[.authorization]
        }
        #expect(try authorization() == nil)
        let profile = Profile(id: ProfileID(issuer: "https://as.test", clientID: "c"), name: "work")
        try fixture.database.tokens.put(
            DecorationFixture.tokens("one"), for: profile, now: DecoratedFieldTests.now)
        #expect(try authorization() == "Bearer one")
        try fixture.database.tokens.put(
            DecorationFixture.tokens("two"), for: profile, now: DecoratedFieldTests.now)
        #expect(try authorization() == "Bearer two")
    }

    @Test("The report of a decoration has no credential")
    func secrecy() throws {
        let decorated = try decorate(
            DecorationSettings(
                authorization: [
                    AuthorizationRule(scope: try URLScope("https://example.com")) { _ in
                        DecorationFixture.tokens("s3cr3t")
                    }
                ]))
        var dumped = ""
        dump(decorated.report, to: &dumped)
        #expect(!dumped.contains("s3cr3t") && !"\(decorated.report)".contains("s3cr3t"))
    }
}
