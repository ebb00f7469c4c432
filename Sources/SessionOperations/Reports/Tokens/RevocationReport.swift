package import OAuth2

/// Which tokens were ended at the server, in JSON.
package struct RevocationReport: Codable {
    package let name: String
    package let revoked: [String]
    package let isRemoved: Bool
    /// Why the server did not end them; only where it did not.
    package let problem: String?

    package init(name: String, revoked: [TokenKind], isRemoved: Bool, problem: String? = nil) {
        self.name = name
        self.revoked = revoked.map(\.rawValue)
        self.isRemoved = isRemoved
        self.problem = problem
    }
}
