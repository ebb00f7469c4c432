internal import HTTPTypes
public import WebPrimitives

/// Why an OAuth2 message could not be created or failed.
///
/// An error never contains a body, a token or any other secret. It contains the server's own text only as far as that
/// cannot carry a secret: see ``serverCode`` and ``serverDescription``.
public struct OAuth2Error: DescribedError, Sendable, Hashable {
    /// A code that is stable between versions.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable text, such as `invalid_grant`.
        public let rawValue: String

        init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's stable text.
        public var description: String { rawValue }
    }

    /// The code of the error.
    public let code: Code

    /// The HTTP status of the reply; `nil` if the error is not about a reply.
    public let status: Int?

    /// The server's `error` (RFC 6749, section 5.2), if it is within the RFC's characters, of at most 64 of them, and
    /// does not look like a token. `nil` if it contained a secret of the request and no specification has the code.
    public let serverCode: String?

    /// The server's `error_description`, without control and formatting characters and token-like words, cut to 200
    /// characters; `nil` if it contained a secret of the request.
    public let serverDescription: String?

    /// The number of seconds to wait before a retry (`Retry-After`; RFC 9110, section 10.2.3), if given.
    public private(set) var retryAfter: Int?

    private var sentence: ErrorSentence

    init(
        _ code: Code, status: Int? = nil, serverCode: String? = nil, serverDescription: String? = nil,
        _ sentence: String
    ) {
        self.init(
            code, status: status, serverCode: serverCode, serverDescription: serverDescription,
            advice: ErrorSentence(sentence))
    }

    /// - Parameter advice: The sentence, which names options of commands for their users.
    init(
        _ code: Code, status: Int? = nil, serverCode: String? = nil, serverDescription: String? = nil,
        advice: ErrorSentence
    ) {
        self.code = code
        self.status = status
        self.serverCode = serverCode
        self.serverDescription = serverDescription
        sentence = advice
    }
}

extension OAuth2Error {
    /// Returns the error with the details in the reply's fields and its endpoint.
    func annotated(by response: EndpointResponse) -> OAuth2Error {
        var error = self
        if let endpoint = response.endpoint { error.sentence += " The endpoint is \(endpoint.withoutQuery)." }
        if error.isTemporary, let seconds = response.retryAfter {
            error.retryAfter = seconds
            error.sentence += " \(OAuth2Error.advice(after: seconds))"
        }
        return error
    }

    /// When to try again, for a person.
    static func advice(after seconds: Int) -> String {
        func unit(_ size: Int, _ name: String) -> String {
            let count = (seconds + size - 1) / size
            return "Try again in \(count) \(name)\(count == 1 ? "" : "s")."
        }
        return switch seconds {
        case ...120: unit(1, "second")
        case ...7200: unit(60, "minute")
        case ...172_800: unit(3600, "hour")
        case ...2_592_000: unit(86_400, "day")
        default: "It asks for a wait of more than 30 days, which may be an error of the server: ask its operator."
        }
    }

    /// Creates the error of a transport that got no response.
    ///
    /// - Parameter reason: The reason, as a clause without a full stop and without data of the request.
    public init(unreachable reason: String) {
        self.init(.unreachable, "The server cannot be reached: \(reason).")
    }

    /// Creates the error of a transport that sent a refresh and got no response.
    ///
    /// - Parameter reason: The reason, as a clause without a full stop and without data of the request.
    package init(unansweredRefresh reason: String) {
        self.init(
            .unreachable,
            "The refresh was sent, but its response did not come: \(reason). If the server has replaced the refresh token, "
                + "the login is lost: if the next refresh is rejected, log in again.")
    }

    /// Creates the error of a transport that sent nothing because a setting on this machine cannot be used.
    ///
    /// - Parameter reason: The setting and the reason, as a clause without a full stop.
    public init(unusableSettings reason: String) {
        self.init(.unusableSettings, "A setting on this machine cannot be used: \(reason).")
    }

    /// Whether the grant is unchanged and a later retry may succeed.
    public var isTemporary: Bool { code == .unreachable || code == .serverUnavailable }

    /// Whether a token endpoint has rejected the grant, with whatever code. A retry is useless; a new login may help.
    ///
    /// Only ``Code/invalidGrant`` says for certain that the grant is lost. Many servers answer a dead refresh token with
    /// another error code, or with a status between 400 and 499 and no code at all. It does not refuse the grant if
    /// the server cannot answer now (``isTemporary``), if it rejects the client, its proof or its key, or if a proxy
    /// answers in its place (status 407, 421).
    package var refusesGrant: Bool {
        switch code {
        case .invalidGrant, .accessDenied: true
        case .refused: !["invalid_dpop_proof", "use_dpop_nonce", "slow_down"].contains(serverCode)
        case .unexpectedStatus: status.map { (400..<500).contains($0) && ![407, 421].contains($0) } ?? false
        default: false
        }
    }
}

extension EndpointResponse {
    /// The number of seconds to wait before a retry (`Retry-After`; RFC 9110, section 10.2.3), if given.
    ///
    /// A date counts by the server's own clock, whose time is in the field `Date`; without that it is not known.
    fileprivate var retryAfter: Int? {
        guard let text = exposedFields[.retryAfter] else { return nil }
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return text.utf8.count <= 9 ? Int(text) : nil }
        guard let end = CookieDate.parse(text), let start = exposedFields[.date].flatMap({ CookieDate.parse($0) })
        else {
            return nil
        }
        return Int(max(0, end.seconds - start.seconds))
    }
}

extension OAuth2Error {
    /// The stable code of this failure in the commands and the service, which is less precise than ``code``.
    package var failureCode: String {
        switch code {
        case .unreachable, .serverUnavailable: "server-unavailable"
        case .invalidGrant, .invalidClient, .refused: "server-refused"
        case .accessDenied, .deviceCodeExpired, .stateMismatch, .invalidRedirect, .unmetAuthentication: "login-failed"
        case .invalidEndpoint, .insecureEndpoint, .endpointMissing, .invalidKey, .unusableSettings:
            "token-settings-missing"
        case .missingRefreshToken: "token-expired"
        default: "reply-unusable"
        }
    }
}

extension OAuth2Error {
    /// One sentence for a user.
    public var description: String { sentence.text }
}

extension OAuth2Error: CommandDescribed {
    package var commandDescription: String { sentence.commandText }
}

extension OAuth2Error.Code {
    // MARK: - Errors of the server

    /// The grant is invalid, expired, revoked or used up (RFC 6749, section 5.2): a new login is required.
    public static let invalidGrant = Self("invalid_grant")
    /// The server does not accept the client or its authentication (RFC 6749, section 5.2).
    package static let invalidClient = Self("invalid_client")
    /// The server rejected the request with another error code: see ``OAuth2Error/serverCode``.
    package static let refused = Self("refused")
    /// The server is temporarily unavailable (status 408, 425, 429 or 5xx, or such an error code). The grant is not
    /// lost.
    public static let serverUnavailable = Self("server_unavailable")
    /// A status that no token endpoint's reply has, or a failure without an error code.
    package static let unexpectedStatus = Self("unexpected_status")

    /// The server cannot be reached, or the connection broke. The grant is not lost, unless a refresh was sent and the
    /// server has replaced the refresh token.
    public static let unreachable = Self("unreachable")
    /// The user, or the server, denied access (`access_denied`).
    public static let accessDenied = Self("access_denied")
    /// A device code was not confirmed in time (`expired_token`; RFC 8628, section 3.5).
    public static let deviceCodeExpired = Self("device_code_expired")

    // MARK: - Invalid redirects and metadata

    /// A redirect that does not belong to this login: its `state` is different or missing (RFC 9700, section 4.7).
    package static let stateMismatch = Self("state_mismatch")
    /// A redirect, document or token of another issuer (RFC 9207; RFC 8414, section 3.3).
    package static let issuerMismatch = Self("issuer_mismatch")
    /// A redirect without a code, or with a parameter more than once.
    package static let invalidRedirect = Self("invalid_redirect")
    /// A reply in which a required member is missing or has the wrong form.
    public static let incompleteReply = Self("incomplete_reply")
    /// An ID token that is not for this client and this login, or not an ID token (OpenID Connect Core 1.0, section
    /// 3.1.3.7).
    public static let invalidIDToken = Self("invalid_id_token")
    /// A login that is older than requested, or used another authentication method (RFC 9470).
    package static let unmetAuthentication = Self("unmet_authentication_requirements")
    /// The server has no such endpoint, or its metadata lacks it.
    package static let endpointMissing = Self("endpoint_missing")

    // MARK: - Unusable replies and imports

    /// More than ``EndpointResponse/maximumBodySize`` bytes.
    package static let tooLarge = Self("too_large")
    /// Only white space.
    package static let empty = Self("empty")
    /// Markup, as login pages and proxies send it.
    package static let markup = Self("markup")
    /// Not JSON, or truncated JSON.
    package static let notJSON = Self("not_json")
    /// JSON, but not an object.
    package static let notAnObject = Self("not_an_object")
    /// No `access_token`.
    package static let missingAccessToken = Self("missing_access_token")
    /// An access token that is not a string of visible ASCII characters.
    package static let invalidAccessToken = Self("invalid_access_token")
    /// A refresh token, ID token or token type with characters that it cannot have.
    package static let invalidMember = Self("invalid_member")

    // MARK: - Invalid requests

    /// An endpoint that is not an absolute `http` or `https` URL without user information and fragment.
    public static let invalidEndpoint = Self("invalid_endpoint")
    /// An endpoint without TLS that is not on this machine.
    public static let insecureEndpoint = Self("insecure_endpoint")
    /// A setting on this machine, such as its proxy or certificate authorities, cannot be used. Nothing was sent.
    package static let unusableSettings = Self("unusable_settings")
    /// A key that is not valid for the algorithm.
    public static let invalidKey = Self("invalid_key")
    /// A refresh without a refresh token.
    package static let missingRefreshToken = Self("missing_refresh_token")
}

extension OAuth2Error {
    /// The error in a reply of the server: an error code, a status other than success, or both.
    ///
    /// - Parameters:
    ///   - status: The reply's status; `nil` for a redirect, which has none.
    ///   - members: The reply's members, empty if it was not a JSON object.
    ///   - bodyKind: The kind of body, for the sentence.
    static func refusal(status: Int?, members: JSONObject, bodyKind: String, redacting secrets: [Secret]) -> Self {
        let serverCode = ServerText.errorCode(members["error"], redacting: secrets)
        let serverDescription = ServerText.errorDescription(members["error_description"], redacting: secrets)
        let code = code(status: status, serverCode: serverCode)
        return OAuth2Error(
            code, status: status, serverCode: serverCode, serverDescription: serverDescription,
            sentence(code: code, status: status, serverCode, serverDescription, bodyKind: bodyKind))
    }

    private static func code(status: Int?, serverCode: String?) -> Code {
        switch (status ?? 400, serverCode) {
        // Whatever the body of a failing server says, the grant may be as good as before.
        case (408, _), (425, _), (429, _), (500..., _), (_, "server_error"), (_, "temporarily_unavailable"):
            .serverUnavailable
        case (_, "invalid_grant"): .invalidGrant
        case (_, "invalid_client"): .invalidClient
        case (_, "access_denied"): .accessDenied
        case (_, "expired_token"): .deviceCodeExpired
        case (200..<300, .some), (400..<500, .some): .refused
        default: .unexpectedStatus
        }
    }

    private static func sentence(
        code: Code, status: Int?, _ serverCode: String?, _ serverDescription: String?, bodyKind: String
    ) -> String {
        if code == .unexpectedStatus, let status, (300..<400).contains(status) {
            return "The server redirects the request (status \(status)), and secrets do not follow redirects; name "
                + "the issuer or endpoint that it redirects to."
        }
        let verdict =
            switch code {
            case .invalidGrant: "The server no longer accepts the grant"
            case .invalidClient: "The server does not accept the client"
            case .accessDenied: "Access was denied"
            case .deviceCodeExpired: "The code was not confirmed in time"
            case .serverUnavailable: "The server is temporarily unavailable"
            case .refused: "The server refused the request"
            default: "The server did not answer as an authorization server does"
            }
        let reason =
            switch (serverCode, serverDescription) {
            case (let code?, let text?): "\(code), \"\(text)\""
            case (let code?, nil): code
            case (nil, let text?): "\"\(text)\""
            case (nil, nil): bodyKind
            }
        return "\(verdict) (\(status.map { "status \($0): " } ?? "")\(reason))."
    }
}

extension OAuth2Error {
    /// The error for a reply or an input without usable tokens.
    ///
    /// - Parameters:
    ///   - status: The reply's status; `nil` if the text came from elsewhere.
    ///   - problem: The defect, as a clause without a full stop.
    static func unusable(_ code: Code, status: Int?, _ problem: String) -> Self {
        let subject = status.map { "The server's reply (status \($0))" } ?? "The input"
        return OAuth2Error(code, status: status, "\(subject) cannot be used: \(problem).")
    }
}
