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
        status = ExitStatus(code: error.code.rawValue)
        message = error.description
    }
}
