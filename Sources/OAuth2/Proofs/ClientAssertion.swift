/// Signs what a client with a key authenticates by (RFC 7523, section 3; OpenID Connect Core 1.0, section 9).
public struct ClientAssertion: Sendable, Equatable {
    /// How long an assertion is good for, in seconds.
    private static let lifetime: Int64 = 60

    /// The client's identifier.
    public var clientID: String
    /// Who the assertion is for: the server's issuer identifier, as RFC 9700's successor wants it, or its token
    /// endpoint.
    public var audience: String
    /// The client's key.
    public var key: SigningKey
    /// The key's name in the client's own key set; empty for none.
    public var keyID: String

    /// Assertions of one client for one server.
    public init(clientID: String, audience: String, key: SigningKey, keyID: String = "") {
        self.clientID = clientID
        self.audience = audience
        self.key = key
        self.keyID = keyID
    }

    /// The authentication of one request.
    ///
    /// - Parameters:
    ///   - now: When it is made, in microseconds since the Unix epoch.
    ///   - generator: A cryptographically secure source: no two assertions are alike.
    public func authentication(
        now: Int64, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> ClientAuthentication {
        var header = JSONWriter()
        header.append("alg", key.algorithm.rawValue)
        header.append("typ", "JWT")
        if !keyID.isEmpty { header.append("kid", keyID) }
        let seconds = now / Microseconds.perSecond
        var payload = JSONWriter()
        payload.append("iss", clientID)
        payload.append("sub", clientID)
        payload.append("aud", audience)
        payload.append(
            "jti", String(decoding: Base64.randomForURL(byteCount: 16, using: &generator), as: UTF8.self))
        payload.append("iat", seconds)
        payload.append("exp", seconds + ClientAssertion.lifetime)
        return .clientAssertion(clientID: clientID, assertion: try key.signed(header: header, payload: payload))
    }
}
