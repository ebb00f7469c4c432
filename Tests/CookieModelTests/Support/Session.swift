import CookieModel

/// A cookie store with a clock, which speaks in texts: what the rule tables are written in.
struct Session {
    /// 2026-11-21T00:00:00Z.
    static let start = Timestamp(seconds: 1_795_219_200)

    var store: CookieStore
    var now = Session.start

    init(_ policy: CookiePolicy = CookiePolicy()) {
        store = CookieStore(policy: policy)
    }

    init(profile: CookieProfile) {
        self.init(CookiePolicy(profile: profile))
    }

    /// Receives a line and says what became of it: `stored`, or `rejected: reason, reason`.
    @discardableResult
    mutating func set(
        _ line: Octets, at url: String = "https://example.com/", via interface: RequestContext.Interface = .http
    ) throws -> String {
        try set(line, in: Request(url, via: interface))
    }

    /// Receives a line in answer to any request.
    @discardableResult
    mutating func set(_ line: Octets, in request: Request) throws -> String {
        let decision = store.receive(line, in: try request.context, now: now)
        return decision.outcome == .rejected ? "rejected: \(decision.reasons)" : decision.outcome.rawValue
    }

    /// The cookie-string for a request.
    mutating func sent(to url: String = "https://example.com/", via interface: RequestContext.Interface = .http)
        throws -> String
    {
        try sent(in: Request(url, via: interface))
    }

    /// The cookie-string for any request.
    mutating func sent(in request: Request) throws -> String {
        store.retrieve(for: try request.context, now: now).cookieString.description
    }

    /// The cookies that stay, each with its reasons: `name: reason, reason`.
    mutating func kept(from url: String, via interface: RequestContext.Interface = .http) throws -> [String] {
        try kept(in: Request(url, via: interface))
    }

    /// The cookies that stay in any request.
    mutating func kept(in request: Request) throws -> [String] {
        store.retrieve(for: try request.context, now: now).excluded.map { "\($0.cookie.name): \($0.reasons)" }
    }

    mutating func advance(bySeconds seconds: Int64) {
        now = now.advanced(bySeconds: seconds)
    }
}

/// A request, written down in texts.
struct Request: Sendable {
    var url: String
    var interface = RequestContext.Interface.http
    var method = "GET"
    var topLevel: String?
    /// `nil` for the top-level page, `user` for a person, `opaque`, or a URL.
    var initiator: String?
    var navigates: Bool?
    var redirects: [String] = []

    init(
        _ url: String, via interface: RequestContext.Interface = .http, method: String = "GET",
        on topLevel: String? = nil,
        by initiator: String? = nil, navigates: Bool? = nil, redirects: [String] = []
    ) {
        self.url = url
        self.interface = interface
        self.method = method
        self.topLevel = topLevel
        self.initiator = initiator
        self.navigates = navigates
        self.redirects = redirects
    }

    var context: RequestContext {
        get throws {
            var context = RequestContext(url: try RequestURL(url))
            context.interface = interface
            context.method = method
            context.topLevel = try topLevel.map { try RequestURL($0) }
            context.isTopLevelNavigation = navigates ?? (topLevel == nil)
            context.redirects = try redirects.map { try RequestURL($0) }
            switch initiator {
            case nil: break
            case "user": context.initiator = .user
            case "opaque": context.initiator = .opaque
            case .some(let text): context.initiator = .origin(try RequestURL(text))
            }
            return context
        }
    }
}
