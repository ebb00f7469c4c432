import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import OAuth2
import SessionOperations
import SessionStore

/// Determines the caller of a request and decides whether to process it, before everything else.
struct Admission: Sendable {
    /// Paths that need no caller: they reveal nothing, or require their own proof.
    private let open: Set<String>

    /// The path to which an authorization server, another site, sends the user's browser back, without an access token.
    /// The `state` parameter, which cannot be guessed, identifies the login.
    private static let loginCallback = LoginCallback.path

    private static let formTypes: Set<String> = [
        "application/x-www-form-urlencoded", "multipart/form-data", "text/plain",
    ]
    private static let host = HTTPField.Name("Host")
    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")

    let tokens: ServiceTokenStore
    let uses: TokenUses
    /// The sessions of users signed in to the inspector.
    let sessions = InspectorSessions()
    private let requests: RateLimiter?
    /// Counts the access tokens that were refused, whether in a field or at the inspector's sign-in.
    let failures: RateLimiter
    /// A clock that only goes forward, by which requests are counted.
    let tick: @Sendable () -> NIODeadline

    init(
        tokens: ServiceTokenStore, limits: ServiceLimits, publishesMetrics: Bool = false,
        tick: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        self.tokens = tokens
        self.tick = tick
        let open: Set<String> = ["/healthz", "/readyz", Admission.loginCallback]
        self.open = publishesMetrics ? open.union(["/metrics"]) : open
        uses = TokenUses()
        let rate = limits.requestsPerSecond
        let burst = limits.requestBurst > 0 ? limits.requestBurst : rate * 2
        requests = rate > 0 ? RateLimiter(rate: Double(rate), burst: burst) : nil
        failures = RateLimiter(
            rate: Double(max(1, limits.failedAttemptsPerMinute)) / 60, burst: max(1, limits.failedAttemptsPerMinute))
    }

    /// Checks what a request shows of itself: that no page of another site has a browser send it.
    func check(_ request: HTTPRequest, by way: ListenerKind, on channel: any Channel) throws(ServiceFailure) {
        try checkPlace(request, way, channel)
        try checkBody(request)
    }

    /// Returns the caller of a request that was checked.
    ///
    /// - Parameters:
    ///   - state: what a database server had committed when the request had arrived; `nil` for a file.
    ///   - now: the time, by which tokens end.
    func admit(
        _ request: HTTPRequest, by way: ListenerKind, on channel: any Channel, in state: CommittedState?,
        now: Timestamp
    ) throws -> Caller {
        let caller = try caller(of: request, way, channel, state, now)
        if let requests, let wait = requests.take(caller.name, tick()) {
            throw ServiceFailure.tooManyRequests(retryAfter: wait)
        }
        return caller
    }

    // MARK: - Where from

    /// Checks that no page of another site has a browser send this.
    private func checkPlace(_ request: HTTPRequest, _ way: ListenerKind, _ channel: any Channel) throws(ServiceFailure)
    {
        // The router skips an empty segment, so decisions by the beginning of a path must skip it too.
        guard let path = request.path, Admission.isAbsolute(path.utf8),
            let authority = request.authority, Admission.host.map({ !request.headerFields.contains($0) }) ?? true
        else { throw .targetInvalid }
        if let hosts = way.hosts, !hosts.admits(authority, at: channel.localAddress) { throw .hostRefused }
        // A browser states the origin of every request that could do harm; only the service's own pages may send one.
        if let origin = request.headerFields[.origin] {
            let own = "\(way.isEncrypted ? "https" : "http")://\(authority)"
            let isOwn = origin.lowercased() == own.lowercased() || origin.lowercased() == way.publicOrigin
            guard way.hosts != nil, isOwn else { throw .originRefused }
        }
        if let name = Admission.fetchSite, let site = request.headerFields[name], site != "same-origin", site != "none"
        {
            let isLoginCallback =
                request.method == .get && path.prefix { $0 != "?" } == Admission.loginCallback[...]
            guard isLoginCallback else { throw .originRefused }
        }
    }

    /// Whether a path begins at the root and has no empty segment.
    private static func isAbsolute(_ path: String.UTF8View) -> Bool {
        let slash = UInt8(ascii: "/")
        guard path.first == slash else { return false }
        var last: UInt8?
        for octet in path {
            if octet == UInt8(ascii: "?") { break }
            if octet == slash && last == slash { return false }
            last = octet
        }
        return true
    }

    // MARK: - Bodies

    /// Checks that no form of any page can have sent the body.
    private func checkBody(_ request: HTTPRequest) throws(ServiceFailure) {
        let fields = request.headerFields
        if let type = fields.line(.contentType) {
            // Nearly all there are, looked at no closer.
            if type == "application/json" { return try checkEncoding(fields) }
            let essence = type.prefix { $0 != ";" && $0 != "," }.lowercased().trimmingPrefix(" ")
            let trimmed = String(essence.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
            // The inspector's own forms are recognized by their origin, which was checked. They cannot use the API.
            let isOwnForm =
                trimmed == "application/x-www-form-urlencoded" && fields.contains(.origin)
                && InspectorPath.contains(request.path?.prefix { $0 != "?" } ?? "/v1")
            guard !Admission.formTypes.contains(trimmed) || isOwnForm else { throw .contentTypeRefused }
        } else if fields.contains(.transferEncoding) || fields[.contentLength].map({ $0 != "0" }) ?? false {
            throw .contentTypeRefused
        }
        try checkEncoding(fields)
    }

    private func checkEncoding(_ fields: HTTPFields) throws(ServiceFailure) {
        if let encoding = fields[.contentEncoding], encoding.lowercased() != "identity" {
            throw .contentEncodingRefused
        }
    }

    // MARK: - Who

    private func caller(
        of request: HTTPRequest, _ way: ListenerKind, _ channel: any Channel, _ state: CommittedState?,
        _ now: Timestamp
    ) throws -> Caller {
        let values = request.headerFields[values: .authorization]
        guard let value = values.first else {
            if way.isOwners { return .owner }
            let path = request.path?.prefix { $0 != "?" } ?? ""
            guard !open.contains(String(path)) else { return .nobody }
            guard InspectorPath.contains(path) else { throw ServiceFailure.tokenMissing }
            return try inspectorCaller(of: request, now)
        }
        // A caller with a token has the rights of the token only, on every listener.
        let text = Admission.bearerToken(value)
        guard values.count == 1, let text, let token = try tokens.token(text, in: state, now: now)
        else {
            if let wait = failures.take(way.peer(of: request, on: channel), tick()) {
                throw ServiceFailure.tooManyRequests(retryAfter: wait)
            }
            throw ServiceFailure.tokenRefused
        }
        uses.note(token.name, now)
        return Caller(token)
    }

    /// Returns the caller who signed in to the inspector; ``Caller/nobody`` without a sign-in, so that its pages lead to
    /// the sign-in.
    private func inspectorCaller(of request: HTTPRequest, _ now: Timestamp) throws -> Caller {
        guard let identifier = InspectorCookie.identifier(in: request.headerFields),
            let text = sessions.token(of: identifier, now: now),
            let token = try tokens.token(Secret(text.utf8), now: now)
        else { return .nobody }
        uses.note(token.name, now)
        return Caller(token)
    }

    /// The token of an Authorization field (RFC 6750, section 2.1; RFC 9110, section 11.4, allows more than one blank).
    private static func bearerToken(_ value: String) -> Secret? {
        let scheme = value.prefix(7)
        guard scheme.lowercased() == "bearer " else { return nil }
        return Secret(value.utf8.dropFirst(7).drop { $0 == UInt8(ascii: " ") })
    }
}

/// The host names that requests over TCP may have.
///
/// A page of another site can make its name resolve to this machine (DNS rebinding), but its requests still carry that
/// name.
struct HostRule: Sendable {
    private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    private let names: Set<String>

    /// - Parameter names: names other than those of the machine itself, each with a port, or for any port.
    init(_ names: [String]) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// Whether a request for `authority` may have reached `local`, where its connection ends.
    func admits(_ authority: String, at local: SocketAddress?) -> Bool {
        let authority = authority.lowercased()
        let (name, port) = HostRule.split(authority)
        if names.contains(authority) || names.contains(name) { return true }
        guard let local, let localPort = local.port, port == localPort || port == nil && localPort == 443 else {
            return false
        }
        if HostRule.loopback.contains(name) { return true }
        // Unlike a name, an address cannot point elsewhere tomorrow: it is this machine's own, or none.
        guard let address = local.ipAddress else { return false }
        return name == (address.contains(":") ? "[\(address)]" : address)
    }

    private static func split(_ authority: String) -> (name: String, port: Int?) {
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
            return (authority, nil)
        }
        // A port that is not a number matches no listener.
        return (String(authority[..<colon]), Int(authority[authority.index(after: colon)...]) ?? -1)
    }
}

/// The responses to requests that are not admitted.
extension ServiceFailure {
    static let hostRefused = ServiceFailure(
        .hostRefused,
        "this service does not accept requests for that host; allow it with 'hosts' in the configuration")

    static let originRefused = ServiceFailure(
        .originRefused, "this service does not accept requests from pages of other sites")

    static let targetInvalid = ServiceFailure(
        .requestMalformed, "the request needs a path as its target and exactly one Host field")

    static let contentTypeRefused = ServiceFailure(
        .contentTypeRefused,
        "a request body needs a Content-Type such as application/json, not one that a form can send")

    static let contentEncodingRefused = ServiceFailure(
        .contentEncodingRefused, "encoded request bodies are not supported; send the body without Content-Encoding")

    static let tokenMissing = unauthorized(
        .tokenMissing, "an access token is required ('Authorization: Bearer ...'); 'crumb serve token create' makes one"
    )

    static let tokenRefused = unauthorized(
        .tokenRefused,
        "this access token is not valid, or no longer; on the service's machine, 'crumb serve token list' shows the valid ones"
    )

    private static func unauthorized(_ failure: FailureKind, _ detail: String) -> ServiceFailure {
        var problem = ServiceFailure(failure, detail)
        problem.fields[.wwwAuthenticate] =
            failure == .tokenMissing ? #"Bearer realm="crumb""# : #"Bearer realm="crumb", error="invalid_token""#
        return problem
    }

    /// The caller sends requests too fast.
    ///
    /// - Parameter reason: The reason, as a clause.
    static func tooManyRequests(
        _ reason: String = "too many requests", retryAfter wait: TimeAmount
    ) -> ServiceFailure {
        let seconds = Int(max(1, (wait.nanoseconds + 999_999_999) / 1_000_000_000))
        var problem = ServiceFailure(
            .rateLimited, "\(reason); try again in \(counted(seconds, "second"))")
        problem.fields[.retryAfter] = String(seconds)
        return problem
    }
}

extension HTTPFields {
    /// The value of a field, with several lines joined: nearly always there is one, which is given
    /// without being copied.
    func line(_ name: HTTPField.Name) -> String? {
        let lines = self[values: name]
        return lines.count > 1 ? self[name] : lines.first
    }
}
