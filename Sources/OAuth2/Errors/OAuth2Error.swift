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

    private let sentence: String

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
    /// The error of a transport that got no answer.
    ///
    /// - Parameter reason: Why, as a clause without a full stop, and without anything of the request.
    public init(unreachable reason: String) {
        self.init(.unreachable, "The server cannot be reached: \(reason).")
    }

    /// Whether the server's answer, or none, leaves the grant as it was: trying again later may work.
    public var isTemporary: Bool { code == .unreachable || code == .serverUnavailable }
}

extension OAuth2Error: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String { sentence }
}
