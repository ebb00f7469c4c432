public import WebPrimitives

/// Why a login did not succeed, or why its tokens were not ended.
///
/// The errors of a server are `OAuth2Error`, and those of the database `SessionStoreError`.
public struct LoginError: DescribedError, Hashable, Sendable {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The login has ended without tokens: it took too long, for example.
        public static let loginFailed = Code(rawValue: "login-failed")
        /// The settings of the login do not suffice, or contradict each other.
        package static let settingsInvalid = Code(rawValue: "token-settings-missing")
        /// Another login has the name, or the name's login is of another account.
        package static let nameInvalid = Code(rawValue: "name-invalid")
        /// Another process kept renewing the tokens while they were revoked.
        public static let refreshBusy = Code(rawValue: "token-refresh-busy")
    }

    /// The kind of failure.
    public let code: Code
    private let sentence: ErrorSentence

    package init(_ code: Code, _ description: String) {
        self.init(code, advice: ErrorSentence(description))
    }

    /// - Parameter advice: The problem and the next step, which names commands for their users.
    package init(_ code: Code, advice: ErrorSentence) {
        self.code = code
        sentence = advice
    }

    /// The problem, with the next step.
    public var description: String { sentence.text }
}

extension LoginError: CommandDescribed {
    package var commandDescription: String { sentence.commandText }
}

extension LoginError {
    /// The error that a server cannot be asked since nothing is known of it.
    package init(noEndpointsOf name: String) {
        self.init(
            .settingsInvalid,
            advice: "\(name): the server's endpoints are unknown; "
                + "log in\(app: " again", command: " with 'crumb token login \(name)'"), or import the tokens again "
                + "with \(app: "the endpoints", command: "--discover, or with --endpoint name=URL")")
    }
}
