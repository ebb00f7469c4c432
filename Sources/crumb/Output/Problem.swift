import SessionStore

/// A failure that ends the command: an exit status and one sentence that a user can act on.
struct Problem: Error {
    let status: ExitStatus
    let message: String

    init(_ status: ExitStatus, _ message: String) {
        self.status = status
        self.message = message
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
