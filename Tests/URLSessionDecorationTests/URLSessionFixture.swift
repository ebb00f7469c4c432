import CookieModel
import DecorationTestSupport
import Foundation
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A jar in memory, and requests for it.
struct URLSessionFixture {
    static let now = Timestamp(seconds: 1_800_000_000)

    let jar: CookieJar

    init(_ lines: [Octets] = [], from url: String = "http://127.0.0.1/") throws {
        let database = try SessionDatabase(
            path: "", keys: .key(SealingKey()), durability: .memory, now: URLSessionFixture.now)
        jar = try database.jar(now: URLSessionFixture.now)
        try jar.receive(
            ReceivedResponse(context: try URLSessionFixture.context(url), setCookie: lines), now: URLSessionFixture.now)
    }

    func decorator(_ settings: DecorationSettings = DecorationSettings()) -> RequestDecorator {
        RequestDecorator(jar: jar, settings: settings)
    }

    /// What gets back in at `url` with a token that lives.
    func fallback(_ delivery: LoginRule.Delivery, at url: String, redirects: [String] = []) throws -> LoginFallback {
        try jar.tokens.put(
            TokenSet(accessToken: Secret("fresh"), receivedAt: URLSessionFixture.now),
            for: Profile(id: ProfileID(), name: "p"), now: URLSessionFixture.now)
        let rule = try LoginRule(
            scope: url, signs: LoginRule.Signs(redirects: redirects), profile: "p", delivery: delivery)
        let refresher = TokenRefresher(
            store: jar.tokens, transport: NoServer(), process: 1, now: { URLSessionFixture.now })
        return LoginFallback(rules: [rule], store: jar.tokens, refresher: refresher, transport: NoServer())
    }

    private struct NoServer: EndpointTransport {
        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            EndpointResponse(status: .internalServerError, body: [])
        }
    }

    static func context(_ url: String) throws -> RequestContext {
        RequestContext(url: try RequestURL(url))
    }

    static func request(_ url: String) throws -> URLRequest {
        guard let url = URL(string: url) else { throw URLError(.badURL) }
        return URLRequest(url: url, timeoutInterval: 3600)
    }

    static func post(_ url: String) throws -> URLRequest {
        var request = try request(url)
        request.httpMethod = "POST"
        request.httpBody = Data("payload".utf8)
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer own", forHTTPHeaderField: "Authorization")
        return request
    }
}

extension CachedJar {
    /// A session, as after a restart of the app.
    func session(
        _ configuration: URLSessionConfiguration = .ephemeral, _ settings: DecorationSettings = DecorationSettings()
    ) -> DecoratedURLSession {
        DecoratedURLSession(
            decorator: RequestDecorator(jar: jar, settings: settings), configuration: configuration, cache: cache,
            now: { self.now })
    }
}
