public import CookieModel
internal import OAuth2
internal import SessionStore

/// Why a login fallback failed: a stable code, its subject, and one sentence with the next step. Contains no token.
public struct LoginFallbackError: DescribedError, Hashable, Sendable {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A rule that is not valid.
        public static let ruleInvalid = Code(rawValue: "login-rule-invalid")
        /// A new login is required.
        public static let loginRequired = Code(rawValue: "login-required")
        /// The site requires a stronger or more recent login.
        public static let stepUpRequired = Code(rawValue: "step-up-required")
        /// The token cannot be delivered in the way that the rule requires.
        package static let tokenNotPresentable = Code(rawValue: "token-not-presentable")
        /// The jar rejects the cookie of the rule.
        package static let cookieRefused = Code(rawValue: "login-cookie-refused")
        /// The endpoint that exchanges a token for cookies returned none.
        package static let exchangeFailed = Code(rawValue: "login-exchange-failed")
    }

    /// The reason for the failure.
    public let code: Code
    /// The profile or scope concerned.
    public let subject: String
    /// The URL to open in a browser, if the site named one.
    public let loginURL: String?
    private let detail: ErrorSentence

    init(_ code: Code, _ subject: String, _ detail: ErrorSentence, loginURL: String? = nil) {
        self.code = code
        self.subject = subject
        self.loginURL = loginURL
        self.detail = detail
    }

    /// One sentence that names the subject and the remedy.
    public var description: String { sentence(detail.text) }

    private func sentence(_ detail: String) -> String {
        "\(subject): \(detail)" + (loginURL.map { " (login page of the site: \($0))" } ?? "")
    }
}

extension LoginFallbackError: CommandDescribed {
    package var commandDescription: String { sentence(detail.commandText) }
}

extension LoginChallenge {
    /// The error that a new login is required, and no user is present.
    ///
    /// - Parameter reason: why the tokens that are there do not help; an error that shows no token.
    func loginRequired(because reason: (any Error)?) -> LoginFallbackError {
        if (reason as? SessionStoreError)?.code == .tokenNotFound {
            return LoginFallbackError(
                .loginRequired, rule.profile,
                "a rule of the jar needs this login, which is not stored any more: log in again"
                    + "\(command: " with 'crumb token login\(profileWord)' and the options of its server"), or remove the rule"
                    + "\(command: " ('crumb token fallback list' lists the rules)")",
                loginURL: loginURL)
        }
        let refusal: ErrorSentence =
            if let error = reason as? OAuth2Error {
                " (the token was not renewed: \(app: error.description, command: error.commandDescription))"
            } else {
                ""
            }
        return LoginFallbackError(
            .loginRequired, rule.profile,
            "a new login is required\(command: ": run 'crumb token login\(profileWord)'")" + refusal,
            loginURL: loginURL)
    }

    /// The error that the site still says "not signed in" after all was tried.
    package var stillRefused: LoginFallbackError {
        guard sign != .stepUp else { return stepUpRequired }
        return LoginFallbackError(
            .loginRequired, rule.profile,
            "the site rejects the renewed token too; a new login is required"
                + "\(command: ": run 'crumb token login\(profileWord)'")", loginURL: loginURL)
    }

    /// The profile's name as a word of a command, with a blank before it; empty if a shell would read more into it.
    private var profileWord: String {
        let isPlain = rule.profile.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        return isPlain && !rule.profile.hasPrefix("-") ? " \(rule.profile)" : ""
    }

    /// The error that the site requires another login, and no user is present.
    var stepUpRequired: LoginFallbackError {
        var parameters: [String] = []
        // A server's value becomes part of a command to copy, so it must be printable ASCII without characters special
        // to a shell.
        if let context = authenticationContext,
            context.utf8.allSatisfy({ (0x20...0x7E).contains($0) && !"'\"\\$`;&|<>()!".utf8.contains($0) })
        {
            parameters.append("acr_values=\(context)")
        }
        if let age = maximumAge { parameters.append("max_age=\(age)") }
        let wanted = parameters.isEmpty ? "" : ": log in with \(parameters.joined(separator: " and "))"
        let words = parameters.map { $0.contains(" ") ? "'\($0)'" : $0 }
        return LoginFallbackError(
            .stepUpRequired, rule.profile,
            "the site requires a different login"
                + "\(app: wanted, command: "; run: crumb token login\(profileWord)\(words.map { " --parameter \($0)" }.joined())")",
            loginURL: loginURL)
    }
}
