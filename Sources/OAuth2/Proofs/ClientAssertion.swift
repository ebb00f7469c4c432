internal import Crypto
internal import WebPrimitives

/// Signs what a client authenticates by (RFC 7523, section 3; OpenID Connect Core 1.0, section 9).
public struct ClientAssertion: Sendable, Equatable {
    /// What a client signs with.
    public enum Key: Sendable, Equatable {
        /// Its private key (`private_key_jwt`).
        case privateKey(SigningKey)
        /// Its secret, with HS256 (`client_secret_jwt`).
        case secret(Secret)
    }

    /// The client's identifier.
    public var clientID: String
    /// Who the assertion is for: the server's issuer identifier, as RFC 9700's successor wants it, or its token
    /// endpoint.
    public var audience: String
    /// What the client signs with.
    public var key: Key
    /// The key's name in the client's own key set; empty for none.
    public var keyID: String

    /// Assertions of one client for one server.
    public init(clientID: String, audience: String, key: SigningKey, keyID: String = "") {
        self.clientID = clientID
        self.audience = audience
        self.key = .privateKey(key)
        self.keyID = keyID
    }

    /// Assertions of a client that signs with its secret.
    public init(clientID: String, audience: String, secret: Secret) {
        self.clientID = clientID
        self.audience = audience
        key = .secret(secret)
        keyID = ""
    }

    /// The authentication of one request.
    ///
    /// - Parameters:
    ///   - now: When it is made, in microseconds since the Unix epoch.
    ///   - generator: A cryptographically secure source: no two assertions are alike.
    /// - Throws: ``OAuth2Error/Code/invalidKey``.
    public func authentication(
        now: Int64, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> ClientAuthentication {
        let claims = AssertionClaims(issuer: clientID, subject: clientID, audience: audience)
        let assertion = try claims.signed(by: key, keyID: keyID, now: now, using: &generator)
        return switch key {
        case .privateKey: .clientAssertion(clientID: clientID, assertion: assertion)
        case .secret: .clientSecretAssertion(clientID: clientID, assertion: assertion)
        }
    }
}

/// What an assertion says, for a minute (RFC 7523, section 3).
struct AssertionClaims {
    /// How long an assertion is valid, in seconds.
    private static let lifetime: Int64 = 60

    let issuer: String
    let subject: String
    let audience: String
    /// The scopes, for servers that read them here; RFC 7523, section 3, point 8 lets an assertion say more.
    var scopes: Scopes?

    func signed(
        by key: ClientAssertion.Key, keyID: String, now: Int64, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> Secret {
        var header = JSONObjectWriter()
        header.append("alg", key.algorithmName)
        header.append("typ", "JWT")
        if !keyID.isEmpty { header.append("kid", keyID) }
        let seconds = now / Microseconds.perSecond
        var payload = JSONObjectWriter()
        payload.append("iss", issuer)
        payload.append("sub", subject)
        payload.append("aud", audience)
        if let scopes, !scopes.isEmpty { payload.append("scope", scopes.description) }
        payload.append(
            "jti", String(decoding: Base64.randomForURL(byteCount: 16, using: &generator), as: UTF8.self))
        payload.append("iat", seconds)
        payload.append("exp", seconds + AssertionClaims.lifetime)
        return try key.signed(header: header, payload: payload)
    }
}

extension ClientAssertion.Key {
    fileprivate var algorithmName: String {
        switch self {
        case .privateKey(let key): key.algorithm.rawValue
        case .secret: "HS256"
        }
    }

    fileprivate func signed(header: JSONObjectWriter, payload: JSONObjectWriter) throws(OAuth2Error) -> Secret {
        switch self {
        case .privateKey(let key): return try key.signed(header: header, payload: payload)
        case .secret(let secret):
            // HMAC takes an empty key, by which anyone could sign.
            guard !secret.isEmpty else {
                throw OAuth2Error(.invalidKey, "The client's secret is empty, so it cannot sign.")
            }
            let input = JSONWebSignature.input(header: header, payload: payload)
            let key = SymmetricKey(data: secret.exposedBytes)
            let code = Array(HMAC<SHA256>.authenticationCode(for: input, using: key))
            return JSONWebSignature.compact(input, signature: code)
        }
    }
}

/// The compact form of a JSON Web Signature (RFC 7515, section 3.1).
enum JSONWebSignature {
    /// What is signed.
    static func input(header: JSONObjectWriter, payload: JSONObjectWriter) -> [UInt8] {
        Base64.encodeForURL(header.bytes) + [UInt8(ascii: ".")] + Base64.encodeForURL(payload.bytes)
    }

    static func compact(_ input: [UInt8], signature: [UInt8]) -> Secret {
        Secret(input + [UInt8(ascii: ".")] + Base64.encodeForURL(signature))
    }
}
