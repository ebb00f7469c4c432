package import OAuth2

/// Which tokens were ended at the server, in JSON.
package struct RevocationReport: Codable {
    package let name: String
    package let revoked: [String]
    package let isRemoved: Bool

    package init(name: String, revoked: [TokenKind], isRemoved: Bool) {
        self.name = name
        self.revoked = revoked.map(\.rawValue)
        self.isRemoved = isRemoved
    }
}
