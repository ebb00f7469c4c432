/// Why there is no token that could be used, where neither the store nor the server has failed: a stable code, the
/// profile, one sentence a user can act on.
public struct TokenRefreshError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server no longer accepts the grant: only a new login helps.
        public static let loginRequired = Code(rawValue: "login-required")
        /// The access token has ended, and there is nothing to renew it with.
        public static let tokenExpired = Code(rawValue: "token-expired")
        /// There is a refresh token, but not from whom and how tokens are to be got for it.
        public static let settingsMissing = Code(rawValue: "token-settings-missing")
        /// Another process was refreshing all the time that this one waited.
        public static let refreshBusy = Code(rawValue: "token-refresh-busy")
    }

    /// Why.
    public let code: Code
    /// The profile's name.
    public let profile: String
    private let detail: String

    /// - Parameter hasExpired: Whether the access token has expired as well, for ``Code/tokenExpired``.
    init(_ code: Code, _ profile: String, hasExpired: Bool = true) {
        self.code = code
        self.profile = profile
        detail =
            switch code {
            case .loginRequired:
                "the login was revoked, or the server no longer accepts it; log in again with 'crumb token login'"
            case .tokenExpired:
                (hasExpired ? "the access token has expired, and there" : "there")
                    + " is no refresh token to renew it with; log in again with 'crumb token login', or import a new one"
            case .settingsMissing:
                "how the tokens are renewed is not known; give the token endpoint with 'crumb token import', or log in"
                    + " with 'crumb token login'"
            default: "another process has been refreshing the token for too long; try again"
            }
    }

    /// An error with a sentence of its own.
    ///
    /// - Parameter detail: What happened and what to do, as a clause without a full stop.
    init(_ code: Code, _ profile: String, detail: String) {
        self.code = code
        self.profile = profile
        self.detail = detail
    }

    /// One sentence that names the profile and what to do.
    public var description: String { "\(profile): \(detail)" }
}
