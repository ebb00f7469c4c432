package import OAuth2
package import OAuth2Login
package import RequestDecoration
package import SessionStore

/// Why something cannot be done as it was asked for: a stable code, as the command has an exit status for, and one
/// sentence that a user can act on.
package struct OperationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let failure: FailureKind
    /// Its stable code.
    package var code: String { failure.code }
    /// The problem, with the next step.
    package let description: String

    package init(_ failure: FailureKind, _ description: String) {
        self.failure = failure
        self.description = description
    }
}

extension FailureKind {
    /// Creates the error for a failure of a database, its key, or a value that it keeps.
    package init(_ error: SessionStoreError) {
        self.init(code: error.code.rawValue)
    }

    /// Creates the error for the reply of an authorization server, or for a missing one.
    package init(_ error: OAuth2Error) {
        self.init(code: error.failureCode)
    }

    /// Why a login did not succeed, or its tokens were not ended.
    package init(_ error: LoginError) {
        self.init(code: error.code.rawValue)
    }

    /// Why a token could not be given out.
    package init(_ error: TokenRefreshError) {
        self.init(code: error.code.rawValue)
    }

    /// Why a site's "not signed in" was not answered with a token, or a rule for that cannot be kept.
    package init(_ error: LoginFallbackError) {
        self.init(code: error.code.rawValue)
    }
}
