extension OAuth2Error {
    /// The error that a reply or an input is which holds no tokens that could be used.
    ///
    /// - Parameters:
    ///   - status: The reply's status; `nil` where the text came from elsewhere.
    ///   - problem: What is wrong with it, as a clause without a full stop.
    static func unusable(_ code: Code, status: Int?, _ problem: String) -> Self {
        let subject = status.map { "The server's reply (status \($0))" } ?? "The input"
        return OAuth2Error(code, status: status, "\(subject) cannot be used: \(problem).")
    }
}
