internal import Crypto
internal import CryptoExtras
package import WebPrimitives

/// A private key for signatures: ES256 for DPoP proofs, and the key's own algorithm for client assertions.
package struct SigningKey: Sendable, Equatable {
    /// How a key signs (RFC 7518, section 3.1; RFC 8037, section 3.1; RFC 9864).
    package enum Algorithm: String, Sendable, CaseIterable {
        /// ECDSA with a P-256 key. It also signs proofs.
        case es256 = "ES256"
        /// With an RSA key of at least 2048 bits.
        case rs256 = "RS256"
        /// With an RSA key of at least 2048 bits, and a random salt.
        case ps256 = "PS256"
        /// With an Ed25519 key.
        case edDSA = "EdDSA"
        /// The same under the name of RFC 9864, for servers that no longer know `EdDSA`.
        case ed25519 = "Ed25519"
    }

    /// How the key signs.
    package let algorithm: Algorithm
    /// The private key as it is stored: 32 bytes for ES256; for the others the algorithm's name on a line, and the key in
    /// DER after it.
    package let secret: Secret

    /// The key as it signs; made again each time, so that only ``secret`` holds it.
    private enum Signer {
        case es256(P256.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey, _RSA.Signing.Padding)
        case edDSA(Curve25519.Signing.PrivateKey)
    }

    /// Creates a key for proofs with the system's random number generator.
    package init() {
        self.init(P256.Signing.PrivateKey())
    }

    /// Creates a key from its stored form.
    ///
    /// - Throws: ``OAuth2Error/Code/invalidKey``.
    package init(_ secret: Secret) throws(OAuth2Error) {
        self.init(SigningKey.namedAlgorithm(of: secret.exposedBytes)?.algorithm ?? .es256, secret)
        _ = try signer
    }

    private init(_ algorithm: Algorithm, _ secret: Secret) {
        self.algorithm = algorithm
        self.secret = secret
    }

    /// The algorithm that a kept key names, and where the key itself begins; `nil` for one without a name.
    private static func namedAlgorithm(of bytes: [UInt8]) -> (algorithm: Algorithm, start: Int)? {
        guard bytes.count > 32, let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return Algorithm(rawValue: String(decoding: bytes[..<end], as: UTF8.self)).map { ($0, end + 1) }
    }

    private var signer: Signer {
        get throws(OAuth2Error) {
            let bytes = secret.exposedBytes
            let der = bytes.dropFirst(SigningKey.namedAlgorithm(of: bytes)?.start ?? 0)
            let signer: Signer? =
                switch algorithm {
                case .es256: (try? P256.Signing.PrivateKey(rawRepresentation: bytes)).map { .es256($0) }
                case .rs256:
                    (try? _RSA.Signing.PrivateKey(derRepresentation: Array(der))).map { .rsa($0, .insecurePKCS1v1_5) }
                case .ps256: (try? _RSA.Signing.PrivateKey(derRepresentation: Array(der))).map { .rsa($0, .PSS) }
                case .edDSA, .ed25519:
                    (try? Curve25519.Signing.PrivateKey(derRepresentation: Array(der))).map { .edDSA($0) }
                }
            guard let signer else {
                throw OAuth2Error(.invalidKey, "The key is not a private key for \(algorithm.rawValue).")
            }
            return signer
        }
    }

    /// Reads a key in PEM, as `openssl genpkey` writes it: P-256, Ed25519, or RSA of at least 2048 bits.
    ///
    /// - Parameter algorithm: The algorithm; `nil` for the key's own, which is `RS256` for RSA.
    /// - Throws: ``OAuth2Error/Code/invalidKey``.
    package init(pem text: Secret, algorithm: Algorithm? = nil) throws(OAuth2Error) {
        guard let text = text.exposedText, let key = SigningKey(pem: text, algorithm) else {
            throw OAuth2Error(
                .invalidKey,
                "The file is not a PEM file with an unencrypted private key for "
                    + "\(algorithm?.rawValue ?? "ES256 (P-256), EdDSA (Ed25519) or RS256 (RSA, 2048 bits or more)").")
        }
        self = key
    }

    private init?(pem text: String, _ algorithm: Algorithm?) {
        if algorithm ?? .es256 == .es256, let key = try? P256.Signing.PrivateKey(pemRepresentation: text) {
            self.init(key)
        } else if [.edDSA, .ed25519].contains(algorithm ?? .edDSA),
            let key = try? Curve25519.Signing.PrivateKey(pemRepresentation: text)
        {
            self.init(algorithm ?? .edDSA, der: Array(key.derRepresentation))
        } else if [.rs256, .ps256].contains(algorithm ?? .rs256),
            let key = try? _RSA.Signing.PrivateKey(pemRepresentation: text)
        {
            self.init(algorithm ?? .rs256, der: Array(key.derRepresentation))
        } else {
            return nil
        }
    }

    private init(_ key: P256.Signing.PrivateKey) {
        self.init(.es256, Secret(Array(key.rawRepresentation)))
    }

    private init(_ algorithm: Algorithm, der: [UInt8]) {
        self.init(algorithm, Secret(Array("\(algorithm.rawValue)\n".utf8) + der))
    }

    /// The public key (RFC 7517) of a key for proofs, with the members that RFC 7638 wants, in its order.
    ///
    /// - Throws: ``OAuth2Error/Code/invalidKey`` for a key of another kind.
    var publicJWK: [UInt8] {
        get throws(OAuth2Error) {
            guard case .es256(let key) = try signer else {
                throw OAuth2Error(.invalidKey, "Proofs are signed only with ES256.")
            }
            let point = Array(key.publicKey.rawRepresentation)
            var object = JSONObjectWriter()
            object.append("crv", "P-256")
            object.append("kty", "EC")
            object.append("x", Base64.encodeForURL(point.prefix(32)))
            object.append("y", Base64.encodeForURL(point.suffix(32)))
            return object.bytes
        }
    }

    /// The thumbprint of the public key of a key for proofs (RFC 7638), to which servers bind tokens.
    ///
    /// - Throws: ``OAuth2Error/Code/invalidKey`` for a key of another kind.
    package var thumbprint: String {
        get throws(OAuth2Error) {
            Base64.textForURL(Array(SHA256.hash(data: try publicJWK)))
        }
    }

    /// A JSON Web Signature in its compact form (RFC 7515, section 3.1), whose header says ``algorithm``.
    func signed(header: JSONObjectWriter, payload: JSONObjectWriter) throws(OAuth2Error) -> Secret {
        let input = JSONWebSignature.input(header: header, payload: payload)
        let signature: [UInt8]? =
            switch try signer {
            case .es256(let key): (try? key.signature(for: input)).map { Array($0.rawRepresentation) }
            case .rsa(let key, let padding):
                (try? key.signature(for: input, padding: padding)).map { Array($0.rawRepresentation) }
            case .edDSA(let key): (try? key.signature(for: input)).map { Array($0) }
            }
        guard let signature else { throw OAuth2Error(.invalidKey, "The key cannot sign.") }
        return JSONWebSignature.compact(input, signature: signature)
    }
}

/// Signs the assertions that authenticate a client (RFC 7523, section 3; OpenID Connect Core 1.0, section 9).
package struct ClientAssertion: Sendable, Equatable {
    /// The key of a client's signatures.
    package enum Key: Sendable, Equatable {
        /// Its private key (`private_key_jwt`).
        case privateKey(SigningKey)
        /// Its secret, with HS256 (`client_secret_jwt`).
        case secret(Secret)
    }

    /// The client's identifier.
    package var clientID: String
    /// The audience of the assertion: the server's issuer identifier, as RFC 9700's successor requires, or its token
    /// endpoint.
    package var audience: String
    /// The key of the client's signatures.
    package var key: Key
    /// The key's name in the client's own key set; empty for none.
    package var keyID: String

    /// Assertions of one client for one server.
    package init(clientID: String, audience: String, key: SigningKey, keyID: String = "") {
        self.clientID = clientID
        self.audience = audience
        self.key = .privateKey(key)
        self.keyID = keyID
    }

    /// Assertions of a client that signs with its secret.
    package init(clientID: String, audience: String, secret: Secret) {
        self.clientID = clientID
        self.audience = audience
        key = .secret(secret)
        keyID = ""
    }

    /// The authentication of one request.
    ///
    /// - Parameters:
    ///   - now: When it is made.
    ///   - generator: A cryptographically secure source: no two assertions are alike.
    /// - Throws: ``OAuth2Error/Code/invalidKey``.
    package func authentication(
        now: Timestamp, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> ClientAuthentication {
        let claims = AssertionClaims(issuer: clientID, subject: clientID, audience: audience)
        let assertion = try claims.signed(by: key, keyID: keyID, now: now, using: &generator)
        return switch key {
        case .privateKey: .clientAssertion(clientID: clientID, assertion: assertion)
        case .secret: .clientSecretAssertion(clientID: clientID, assertion: assertion)
        }
    }
}

/// The claims of an assertion, valid for a minute (RFC 7523, section 3).
struct AssertionClaims {
    /// How long an assertion is valid, in seconds.
    private static let lifetime: Int64 = 60

    let issuer: String
    let subject: String
    let audience: String
    /// The scopes, for servers that read them here; RFC 7523, section 3, point 8 lets an assertion say more.
    var scopes: Scopes?

    func signed(
        by key: ClientAssertion.Key, keyID: String, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> Secret {
        var header = JSONObjectWriter()
        header.append("alg", key.algorithmName)
        header.append("typ", "JWT")
        if !keyID.isEmpty { header.append("kid", keyID) }
        let seconds = now.seconds
        var payload = JSONObjectWriter()
        payload.append("iss", issuer)
        payload.append("sub", subject)
        payload.append("aud", audience)
        if let scopes, !scopes.isEmpty { payload.append("scope", scopes.description) }
        payload.append("jti", Base64.randomForURL(byteCount: 16, using: &generator))
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
    /// Returns the input of the signature.
    static func input(header: JSONObjectWriter, payload: JSONObjectWriter) -> [UInt8] {
        Base64.encodeForURL(header.bytes) + [UInt8(ascii: ".")] + Base64.encodeForURL(payload.bytes)
    }

    static func compact(_ input: [UInt8], signature: [UInt8]) -> Secret {
        Secret(input + [UInt8(ascii: ".")] + Base64.encodeForURL(signature))
    }
}
