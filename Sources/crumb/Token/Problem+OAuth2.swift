import OAuth2
import RequestDecoration
import SessionStore

extension Problem {
    /// What a server answered, or did not.
    init(_ error: OAuth2Error) {
        let status: ExitStatus =
            switch error.code {
            case .unreachable, .serverUnavailable: .serverUnavailable
            case .invalidGrant, .invalidClient, .refused: .serverRefused
            case .accessDenied, .deviceCodeExpired, .stateMismatch, .invalidRedirect, .unmetAuthentication: .loginFailed
            case .invalidEndpoint, .insecureEndpoint, .endpointMissing, .invalidKey, .unusableSettings:
                .tokenSettingsInvalid
            case .missingRefreshToken: .tokenExpired
            default: .replyUnusable
            }
        self.init(status, error.description)
    }

    init(_ error: TokenRefreshError) {
        self.init(ExitStatus(code: error.code.rawValue), error.description)
    }

    /// Why a site's "not signed in" was not answered with a token.
    init(_ error: LoginFallbackError) {
        let status: ExitStatus =
            switch error.code {
            case .loginRequired, .stepUpRequired: .loginRequired
            case .ruleInvalid, .tokenNotPresentable: .tokenSettingsInvalid
            default: .loginFailed
            }
        self.init(status, error.description)
    }
}
