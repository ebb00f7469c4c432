import ArgumentParser
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

/// A failure that ends the command: an exit status and one sentence that a user can act on.
struct Problem: Error {
    let failure: FailureKind
    let message: String

    init(_ failure: FailureKind, _ message: String) {
        self.failure = failure
        self.message = message
    }

    /// The problem that an error of the libraries or of a service is; `nil` for other errors.
    init?(of error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let refusal as ServiceRefusal: self.init(refusal)
        case let error as SessionStoreError: self.init(advising: FailureKind(error), error.description)
        case let error as OperationError: self.init(error.failure, error.description)
        case let error as OAuth2Error: self.init(FailureKind(error), error.description)
        case let error as TokenRefreshError: self.init(FailureKind(error), error.description)
        case let error as LoginFallbackError: self.init(FailureKind(error), error.description)
        case let error as FieldRuleError: self.init(.fieldInvalid, error.description)
        default: return nil
        }
    }

    /// A problem with the command that helps with it, which neither the library nor the service can know.
    init(advising failure: FailureKind, _ message: String) {
        let advice =
            switch failure {
            case .tokenNotFound: "; 'crumb token list' lists the logins"
            case .sessionNotFound: "; 'crumb session list' lists the saved sessions"
            default: ""
            }
        self.init(failure, message + advice)
    }
}

extension FailureKind {
    /// The exit status as the argument parser's.
    var exitCode: ExitCode { ExitCode(exitStatus) }
}
