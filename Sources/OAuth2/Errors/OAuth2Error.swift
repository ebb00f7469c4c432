internal import HTTPTypes
internal import WebPrimitives

/// Why an OAuth2 message could not be made, or did not give what was asked for.
///
/// An error never holds a body, a token or any other secret. What the server said of itself is kept only as far as it
/// cannot carry one: see ``serverCode`` and ``serverDescription``.
public struct OAuth2Error: Error, Sendable, Hashable {
    /// What went wrong, as a code that stays the same between versions.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable text, such as `invalid_grant`.
        public let rawValue: String

        init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code's stable text.
        public var description: String { rawValue }
    }

    /// What went wrong.
    public let code: Code

    /// The HTTP status of the reply; `nil` where the error is not about a reply.
    public let status: Int?

    /// The server's `error` (RFC 6749, section 5.2), where it is within the RFC's characters, of at most 64 of them,
    /// and does not look like a token.
    public let serverCode: String?

    /// The server's `error_description`, without control and formatting characters and token-like words, cut to 200
    /// characters; `nil` where it held a secret of the request.
    public let serverDescription: String?

    /// After how many seconds the server wants to be asked again (`Retry-After`; RFC 9110, section 10.2.3), if given.
    public private(set) var retryAfter: Int?

    private var sentence: String

    init(
        _ code: Code, status: Int? = nil, serverCode: String? = nil, serverDescription: String? = nil,
        _ sentence: String
    ) {
        self.code = code
        self.status = status
        self.serverCode = serverCode
        self.serverDescription = serverDescription
        self.sentence = sentence
    }
}

extension OAuth2Error {
    /// The error with what the reply's fields and its endpoint add to it.
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
        default: "It asks to wait for more than 30 days, which may be a mistake of the server's: ask its operator."
        }
    }

    /// The error of a transport that got no answer.
    ///
    /// - Parameter reason: Why, as a clause without a full stop, and without anything of the request.
    public init(unreachable reason: String) {
        self.init(.unreachable, "The server cannot be reached: \(reason).")
    }

    /// The error of a transport that sent nothing, since a setting of this machine cannot be used.
    ///
    /// - Parameter reason: Which one and why, as a clause without a full stop.
    public init(unusableSettings reason: String) {
        self.init(.unusableSettings, "A setting of this machine cannot be used: \(reason).")
    }

    /// Whether the server's answer, or none, leaves the grant as it was: trying again later may work.
    public var isTemporary: Bool { code == .unreachable || code == .serverUnavailable }

    /// Whether a token endpoint has refused the grant, in whatever words: asking again with the same grant is no use,
    /// and a new login is what may help.
    ///
    /// Only ``Code/invalidGrant`` says for certain that the grant is lost. Many servers answer a dead refresh token with
    /// another error code, or with a status between 400 and 499 and no code at all. It is no refusal of the grant where
    /// the server cannot answer now (``isTemporary``), where it is the client, its proof or its key that it does not
    /// accept, and where somebody on the way has answered in its place (status 407, 421).
    public var refusesGrant: Bool {
        switch code {
        case .invalidGrant, .accessDenied: true
        case .refused: !["invalid_dpop_proof", "use_dpop_nonce", "slow_down"].contains(serverCode)
        case .unexpectedStatus: status.map { (400..<500).contains($0) && ![407, 421].contains($0) } ?? false
        default: false
        }
    }
}

extension EndpointResponse {
    /// After how many seconds the server wants to be asked again (`Retry-After`; RFC 9110, section 10.2.3), if given.
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

extension OAuth2Error: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String { sentence }
}
