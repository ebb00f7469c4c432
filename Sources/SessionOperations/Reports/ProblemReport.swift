/// What went wrong, as the service says it: the members of problem details as RFC 9457, section 3.1 names them, and the
/// stable code.
package struct ProblemReport: Codable, Sendable {
    package let type: String
    package let title: String
    package let status: Int
    /// One sentence that the caller can act on.
    package let detail: String
    package let code: String
    /// The page that the user has to log in on, where a site named one.
    package let loginURL: String?

    package init(title: String, status: Int, detail: String, code: String, loginURL: String? = nil) {
        self.loginURL = loginURL
        type = "about:blank"
        self.title = title
        self.status = status
        self.detail = detail
        self.code = code
    }
}
