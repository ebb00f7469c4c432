import CookieModel
import HTTPTypes
import OAuth2
import SessionOperations
import SessionStore

/// The OAuth2 tokens of one place, wherever it is: what commands ask of them, and answers that are what they print.
protocol KeptTokens {
    /// All of them, without the tokens.
    func list() throws -> StoredTokenList

    /// What is kept of a login.
    func status(of name: String) throws -> TokenStatusReport

    /// A valid access token, refreshed where fewer seconds than `skew` are left.
    func accessToken(of name: String, skew: Int) throws -> AccessTokenReport

    /// Renews tokens now.
    func refresh(_ name: String) throws -> StoredTokenReport

    /// Ends tokens at the server.
    func revoke(_ name: String) throws -> RevocationReport

    /// Ends tokens at the server and forgets them.
    ///
    /// - Parameter force: forgets them also where the server cannot be reached.
    func logOut(_ name: String, force: Bool) throws -> RevocationReport

    /// Forgets tokens.
    ///
    /// - Returns: whether there were any of the name.
    func remove(_ name: String) throws -> Bool
}

extension AccessTokenReport {
    /// The Authorization field that presents the token.
    ///
    /// - Throws: `Problem` where a token of this type is not simply presented.
    func exposedAuthorizationField(of name: String) throws -> (name: String, value: String) {
        let tokens = TokenSet(
            accessToken: Secret(Array(accessToken.utf8)), tokenType: TokenType(tokenType), receivedAt: 0)
        guard let field = tokens.exposedAuthorizationField else {
            throw Problem(
                .tokenSettingsInvalid,
                "\(name): a token of the type \(tokenType) is not simply presented in a header")
        }
        return (field.name.rawName, field.value)
    }
}
