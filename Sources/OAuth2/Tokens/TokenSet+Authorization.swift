public import HTTPTypes

extension TokenSet {
    /// The `Authorization` field that presents the access token (RFC 6750, section 2.1), which is no longer protected.
    ///
    /// `nil` for a type other than `Bearer`, which needs more than the token: see ``AccessCredential`` (RFC 6749, section
    /// 7.1: a client must not use a type that it does not understand), and for a token that no header field can carry unchanged. The field is
    /// marked as never to be indexed by HTTP/2 and HTTP/3 header compression.
    public var exposedAuthorizationField: HTTPField? {
        tokenType == .bearer ? authorizationField(scheme: "Bearer") : nil
    }

    /// The `Authorization` field of a token that is bound to a key (RFC 9449, section 7.1), which a proof goes with;
    /// `nil` for one of another type, and for one that no header field can carry unchanged.
    var exposedBoundField: HTTPField? {
        tokenType == .dpop ? authorizationField(scheme: "DPoP") : nil
    }

    private func authorizationField(scheme: String) -> HTTPField? {
        guard let token = accessToken.exposedText, TokenSyntax.isAccessToken(token) else { return nil }
        var field = HTTPField(name: .authorization, value: "\(scheme) \(token)")
        field.indexingStrategy = .disallow
        return field
    }
}
