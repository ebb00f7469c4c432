/// Why a login fallback was not made: a stable code, what it is about, one sentence a user can act on. Holds no token.
public struct LoginFallbackError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A rule that cannot be kept.
        public static let ruleInvalid = Code(rawValue: "login-rule-invalid")
        /// Only a new login helps, and nobody is there to make it.
        public static let loginRequired = Code(rawValue: "login-required")
        /// The site wants a login of another kind, or a more recent one, and nobody is there to make it.
        public static let stepUpRequired = Code(rawValue: "step-up-required")
        /// The token cannot be delivered in the way that the rule has.
        public static let tokenNotPresentable = Code(rawValue: "token-not-presentable")
        /// The jar does not take the cookie of the rule.
        public static let cookieRefused = Code(rawValue: "login-cookie-refused")
        /// The endpoint that should give cookies for a token gave none.
        public static let exchangeFailed = Code(rawValue: "login-exchange-failed")
    }

    /// Why.
    public let code: Code
    /// The profile or scope concerned.
    public let subject: String
    /// The URL to open in a browser, where the site named one.
    public let loginURL: String?
    private let detail: String

    init(_ code: Code, _ subject: String, _ detail: String, loginURL: String? = nil) {
        self.code = code
        self.subject = subject
        self.loginURL = loginURL
        self.detail = detail
    }

    /// One sentence that names the subject and what to do.
    public var description: String {
        "\(subject): \(detail)" + (loginURL.map { " (the site's own page is \($0))" } ?? "")
    }
}
