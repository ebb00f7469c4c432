import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

/// A failure that ends the command: an exit status and one sentence that a user can act on.
struct Problem: Error {
    let status: ExitStatus
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The problem that an error of the libraries or of a service is; `nil` for other errors.
    init?(of error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let refusal as ServiceRefusal: self.init(refusal)
        case let error as SessionStoreError: self.init(error)
        case let error as OperationError: self.init(ExitStatus(code: error.code), error.description)
        case let error as OAuth2Error: self.init(error)
        case let error as TokenRefreshError: self.init(error)
        case let error as LoginFallbackError: self.init(error)
        case let error as FieldRuleError: self.init(.fieldInvalid, error.description)
        default: return nil
        }
    }

    init(_ error: SessionStoreError) {
        self.init(advising: ExitStatus(code: error.code.rawValue), error.description)
    }

    /// A problem with the command that helps with it, which neither the library nor the service can know.
    init(advising status: ExitStatus, _ message: String) {
        let advice =
            switch status {
            case .tokenNotFound: "; 'crumb token list' lists the logins"
            case .sessionNotFound: "; 'crumb session list' lists the saved sessions"
            default: ""
            }
        self.init(status, message + advice)
    }
}
