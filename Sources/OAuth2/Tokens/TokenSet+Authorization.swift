public import HTTPTypes

extension TokenSet {
    /// The `Authorization` field that presents the access token (RFC 6750, section 2.1), which is no longer protected.
    ///
    /// `nil` for a type other than `Bearer`, which needs more than the token (RFC 6749, section 7.1: a client must not
    /// use a type that it does not understand), and for a token that no header field can carry unchanged. The field is
    /// marked as never to be indexed by HTTP/2 and HTTP/3 header compression.
    public var exposedAuthorizationField: HTTPField? {
        guard tokenType == .bearer,
            let token = accessToken.exposedText, TokenSyntax.isAccessToken(token)
        else { return nil }
        var field = HTTPField(name: .authorization, value: "Bearer \(token)")
        field.indexingStrategy = .disallow
        return field
    }
}
