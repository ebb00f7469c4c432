import CookieModel
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore

/// The examples of docs/decorating.md for any client, and of other guides, which are held against them. They are
/// compiled, not run.
enum DocumentationExamples {
    static func plain(
        _ decorator: RequestDecorator, _ request: inout HTTPRequest, _ context: RequestContext
    ) throws {
        try decorator.decorate(&request, in: context)
    }

    static func reported(
        _ decorator: RequestDecorator, _ request: HTTPRequest, _ context: RequestContext
    ) async throws -> HTTPRequest {
        let (decorated, report) = try await decorator.decorate(request, in: context)
        for omission in report.cookieOmissions { print(omission.cookie.name, omission.reason.explanation) }
        for exclusion in report.retrieval.excluded { print(exclusion.cookie.name, exclusion.reasons) }
        return decorated
    }

    static func received(
        _ decorator: RequestDecorator, _ response: HTTPResponse, _ context: RequestContext
    ) async throws {
        let receipt = try await decorator.receive(response, in: context)
        print(receipt.decisions.map(\.outcome))
    }

    static func redirects(
        _ decorator: RequestDecorator, _ request: HTTPRequest, _ context: RequestContext, body: [UInt8],
        send: (HTTPRequest, [UInt8]?) async throws -> (HTTPResponse, [UInt8])
    ) async throws -> [UInt8] {
        let exchange = try await decorator.exchange(request, in: context) { request, chain in
            let (response, payload) = try await send(request, chain.keepsBody ? body : nil)
            return (ResponseHead(response), payload)
        }
        return exchange.payload
    }

    static func context(url: RequestURL, page: RequestURL) -> RequestContext {
        let context = RequestContext(url: url, topLevel: page, initiator: .origin(page))
        return context
    }

    static func settings(_ jar: CookieJar, _ database: SessionDatabase) throws -> RequestDecorator {
        let settings = DecorationSettings(
            fields: [FieldRule(HTTPField(name: .acceptLanguage, value: "en"))], userAgent: "Example/1.0",
            authorization: [
                AuthorizationRule(scope: try URLScope("https://api.example.com/v2"), named: "work", in: database.tokens)
            ])
        let decorator = RequestDecorator(jar: jar, settings: settings)
        return decorator
    }

    static func rule(_ jar: CookieJar) throws {
        let rule = try LoginRule(
            scope: "https://app.example/", signs: LoginRule.Signs(statuses: [], redirects: ["/login"]), profile: "work",
            delivery: .cookie(CookieTemplate("session={access_token}; Path=/; Secure; HttpOnly; SameSite=Lax")))
        try jar.setLoginRule(rule, named: "app")
    }

    static func fallback(
        _ jar: CookieJar, _ database: SessionDatabase, _ refresher: TokenRefresher, _ transport: any EndpointTransport,
        _ decorator: RequestDecorator, _ request: HTTPRequest, _ context: RequestContext,
        showLoginPage: @escaping @Sendable (LoginChallenge) async throws -> Void,
        send: (HTTPRequest) async throws -> (ResponseHead, [UInt8])
    ) async throws -> [UInt8] {
        let fallback = LoginFallback(
            rules: try jar.loginRules().map(\.rule), store: database.tokens, refresher: refresher, transport: transport
        ) { challenge in
            try await showLoginPage(challenge)
        }
        let exchange = try await decorator.exchange(request, in: context, fallback: fallback) { request, _ in
            try await send(request)
        }
        return exchange.payload
    }

    static func jars(_ database: SessionDatabase, now: Timestamp) throws {
        let jar = try database.createJar(named: "anna", settings: JarSettings(profile: .browser), now: now)
        let end = try jar.endSession(now: now)
        print(end.removed, "session cookies removed,", end.kept, "cookies kept")
        try database.renameJar(named: "anna", to: "ben")
        try database.removeJar(named: "ben")
    }

    /// A place for secrets.
    private protocol Vault: Sendable {
        var isLocked: Bool { get }
        func secret(_ name: String) -> [UInt8]?
        func store(_ secret: [UInt8], as name: String)
    }

    private static func keys(_ vault: some Vault) async throws -> SessionDatabase {
        let keys = KeySource(name: "the vault") { mayCreate throws(SessionStoreError) in
            if vault.isLocked {
                throw SessionStoreError(code: .keyLocked, subject: "the vault", reason: "it is locked; unlock it")
            }
            if let key = vault.secret("crumb").flatMap({ SealingKey(bytes: $0) }) { return key }
            guard mayCreate else {
                throw SessionStoreError(code: .keyMissing, subject: "the vault", reason: "it has no key 'crumb'")
            }
            let key = SealingKey()
            vault.store(key.exposedBytes, as: "crumb")
            return key
        }
        let database = try await SessionDatabase.open(path: "app.sqlite", keys: keys)
        return database
    }
}
