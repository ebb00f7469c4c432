import CookieModel
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore

/// A jar in memory that holds what some responses set, and requests to decorate from it.
struct DecorationFixture {
    static let now = Timestamp(seconds: 1_800_000_000)

    let database: SessionDatabase
    let jar: CookieJar

    /// - Parameter lines: what `url` has set.
    init(_ lines: [Octets] = [], from url: String = "https://example.com/") throws {
        database = try SessionDatabase(
            path: "", keys: .key(SealingKey()), durability: .memory, now: DecorationFixture.now)
        jar = try database.jar(now: DecorationFixture.now)
        try receive(lines, from: url)
    }

    func receive(_ lines: [Octets], from url: String) throws {
        try jar.receive(
            ReceivedResponse(context: try DecorationFixture.context(url), setCookie: lines), now: DecorationFixture.now)
    }

    func decorator(_ settings: DecorationSettings = DecorationSettings()) -> RequestDecorator {
        RequestDecorator(jar: jar, settings: settings)
    }

    static func context(_ url: String = "https://example.com/") throws -> RequestContext {
        RequestContext(url: try RequestURL(url))
    }

    /// A request with a few fields, and cookies of the caller's.
    static func request(cookies: [String] = [], method: HTTPRequest.Method = .get) -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: "https", authority: "example.com", path: "/")
        request.headerFields[.accept] = "*/*"
        for cookie in cookies { request.headerFields.append(HTTPField(name: .cookie, value: cookie)) }
        request.headerFields[.acceptLanguage] = "en"
        return request
    }

    /// Tokens received at ``now`` that are valid for an hour.
    static func tokens(_ accessToken: String = "t0ken", type: TokenType = .bearer, expiry: Int64? = 3600) -> TokenSet {
        TokenSet(
            accessToken: Secret(accessToken), tokenType: type, receivedAt: now,
            accessTokenExpiry: expiry.map { now.advanced(bySeconds: $0) })
    }
}
