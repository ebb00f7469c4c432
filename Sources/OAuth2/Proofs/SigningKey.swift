internal import Crypto

/// A P-256 key that signs with ES256 (RFC 7518, section 3.4): for DPoP proofs and client assertions.
public struct SigningKey: Sendable, Equatable {
    /// The private key as it is kept: 32 bytes.
    public let secret: Secret
    private let x: String
    private let y: String

    /// A new key, from the system's own source of randomness.
    public init() {
        // A key that was just made can be read again.
        self.init(P256.Signing.PrivateKey())
    }

    /// A key as it was kept.
    ///
    /// - Throws: ``OAuth2Error/Code/invalidKey``.
    public init(_ secret: Secret) throws(OAuth2Error) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: secret.exposedBytes) else {
            throw OAuth2Error(.invalidKey, "The key is not a private key for ES256.")
        }
        self.init(key)
    }

    /// A key in the PEM form that `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` writes.
    ///
    /// - Throws: ``OAuth2Error/Code/invalidKey``.
    public init(pem text: Secret) throws(OAuth2Error) {
        guard let text = text.exposedText, let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
            throw OAuth2Error(.invalidKey, "The file is not a PEM file with a private key for ES256 (P-256).")
        }
        self.init(key)
    }

    private init(_ key: P256.Signing.PrivateKey) {
        secret = Secret(Array(key.rawRepresentation))
        let point = Array(key.publicKey.rawRepresentation)
        x = String(decoding: Base64.encodeForURL(Array(point.prefix(32))), as: UTF8.self)
        y = String(decoding: Base64.encodeForURL(Array(point.suffix(32))), as: UTF8.self)
    }

    /// The public key (RFC 7517), with the members that RFC 7638 wants, in its order.
    var publicJWK: [UInt8] {
        var object = JSONWriter()
        object.append("crv", "P-256")
        object.append("kty", "EC")
        object.append("x", x)
        object.append("y", y)
        return object.bytes
    }

    /// The thumbprint of the public key (RFC 7638), to which servers bind tokens.
    public var thumbprint: String {
        String(decoding: Base64.encodeForURL(Array(SHA256.hash(data: publicJWK))), as: UTF8.self)
    }

    /// A JSON Web Signature in its compact form (RFC 7515, section 3.1).
    func signed(header: JSONWriter, payload: JSONWriter) throws(OAuth2Error) -> Secret {
        let input =
            Base64.encodeForURL(header.bytes) + [UInt8(ascii: ".")] + Base64.encodeForURL(payload.bytes)
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: secret.exposedBytes),
            let signature = try? key.signature(for: input)
        else { throw OAuth2Error(.invalidKey, "The key cannot sign.") }
        return Secret(input + [UInt8(ascii: ".")] + Base64.encodeForURL(Array(signature.rawRepresentation)))
    }
}
