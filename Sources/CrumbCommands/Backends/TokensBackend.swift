import CookieModel
import HTTPTypes
import OAuth2
import SessionOperations
import SessionStore

/// The OAuth2 tokens of one place, wherever it is. Commands call its methods, and print what they return.
protocol TokensBackend {
    /// Returns a valid access token, refreshed if fewer seconds than `skew` are left.
    ///
    /// - Parameters:
    ///   - resource: the URL of the resource that it is for; `nil` for the login's own.
    ///   - request: the request to prove possession for, if the token is bound to a key.
    func accessToken(
        of name: String, resource: String?, skew: Int, for request: DPoPRequest?
    ) throws -> AccessTokenReport

    /// A valid ID token, renewed with the other tokens if fewer seconds than `skew` are left.
    func idToken(of name: String, skew: Int) throws -> IDTokenReport

    /// Has the next one who asks for the access token get a renewed one, since a site did not accept it.
    ///
    /// A token that cannot be renewed stays as it is.
    ///
    /// - Parameter token: The token that was not accepted; nothing happens if the login has another one by now. `nil` for
    ///   whatever it has.
    func invalidateAccessToken(_ token: Secret?, of name: String) throws

    /// Renews tokens now.
    func refresh(_ name: String) throws -> StoredTokenReport

    /// Ends tokens at the server.
    func revoke(_ name: String) throws -> RevocationReport

    /// Ends tokens at the server and forgets them.
    ///
    /// - Parameter force: forgets them also where the server cannot be reached.
    func logOut(_ name: String, force: Bool) throws -> RevocationReport
}

extension TokensBackend {
    /// The login's own access token, without a proof.
    func accessToken(of name: String, skew: Int) throws -> AccessTokenReport {
        try accessToken(of: name, resource: nil, skew: skew, for: nil)
    }
}

extension AccessTokenReport {
    /// Notes that the token is the last one of its login, if it is.
    ///
    /// - Parameter name: the name of the login.
    func noteIfLast(of name: String, _ console: Console) {
        guard loginRequired == true else { return }
        console.note(
            "\(name): the server no longer accepts the login, so this token cannot be renewed"
                + (expires.map { " after \($0)" } ?? "") + "; log in again with 'crumb token login \(ShellWord(name))'")
    }

    /// The fields that present the token: Authorization, and for a bound one the proof.
    ///
    /// - Throws: `CommandFailure` where they cannot be told.
    func exposedFields(of name: String) throws -> [(name: String, value: String)] {
        let type = TokenType(tokenType)
        guard type == .dpop else {
            let tokens = TokenSet(accessToken: Secret(Array(accessToken.utf8)), tokenType: type, receivedAt: .epoch)
            guard let field = tokens.exposedAuthorizationField else {
                throw CommandFailure(
                    .tokenSettingsInvalid,
                    "\(name): a token of the type \(tokenType) cannot be presented in a header alone")
            }
            return [(field.name.rawName, field.value)]
        }
        guard let proof else {
            throw CommandFailure(
                .tokenSettingsInvalid,
                "\(name): the token is bound to a key, and each request needs its own proof; describe the "
                    + "request with --method and --url")
        }
        return [("Authorization", "DPoP \(accessToken)"), ("DPoP", proof)]
    }
}
