internal import WebPrimitives

/// The members of a token endpoint's successful reply that do not depend on the time (RFC 6749, section 5.1).
struct TokenMembers {
    let accessToken: Secret
    let tokenType: TokenType
    let refreshToken: Secret?
    let idToken: Secret?
    let scopes: Scopes?

    /// Takes what a token set has and leaves the rest.
    ///
    /// Strict about the tokens themselves: what cannot be sent later is refused now.
    init(_ members: JSONObject, status: Int?) throws(OAuth2Error) {
        switch members["access_token"] {
        case let value? where value.text != nil:
            let text = value.text ?? ""
            guard TokenSyntax.isAccessToken(text) else {
                throw .unusable(
                    .invalidAccessToken, status: status,
                    text.isEmpty
                        ? "its access_token is empty"
                        : "its access_token has characters that no request can carry")
            }
            accessToken = Secret(text)
        case nil:
            throw .unusable(.missingAccessToken, status: status, "it has no access_token")
        default:
            throw .unusable(.invalidAccessToken, status: status, "its access_token is not a string")
        }
        refreshToken = try Self.secret(members, "refresh_token", status, TokenSyntax.isRefreshToken)
        idToken = try Self.secret(members, "id_token", status, TokenSyntax.isAccessToken)
        tokenType = try Self.tokenType(members["token_type"], status)
        scopes = Self.scopes(members["scope"])
    }

    /// An optional token. A value that is not a string, or an empty one, is no token.
    private static func secret(
        _ members: JSONObject, _ name: StaticString, _ status: Int?, _ isValid: (String) -> Bool
    ) throws(OAuth2Error) -> Secret? {
        guard let text = members[name]?.nonEmptyText else { return nil }
        guard isValid(text) else {
            throw .unusable(.invalidMember, status: status, "its \(name) has characters that no token has")
        }
        return Secret(text)
    }

    /// NB: section 5.1 requires `token_type`. Servers leave it out and mean Bearer.
    private static func tokenType(_ value: JSONValue?, _ status: Int?) throws(OAuth2Error) -> TokenType {
        guard let name = value?.nonEmptyText else { return .bearer }
        guard TokenSyntax.isTokenType(name) else {
            throw .unusable(.invalidMember, status: status, "its token_type is not the name of one")
        }
        return TokenType(name)
    }

    /// NB: section 5.1 has a string. Some servers answer with an array of strings.
    private static func scopes(_ value: JSONValue?) -> Scopes? {
        switch value {
        case .string?: value?.text.map { Scopes(parsing: $0) }
        case .array?: value.map { Scopes($0.texts) }
        default: nil
        }
    }
}
