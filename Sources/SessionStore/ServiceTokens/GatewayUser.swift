public import OAuth2
internal import WebPrimitives

/// A user of a gateway: a browser, a web view or a program that signs in with a name and a secret, and whose requests get
/// the session of a jar.
public struct GatewayUser: Sendable {
    /// The name: 1 to 64 ASCII letters, digits, `.`, `_` and `-`.
    public let name: String
    /// The jar of the user's requests.
    public let jar: CookieJar
    /// The hash of the user's secret.
    package let secret: GatewaySecretHash

    /// Creates a user.
    ///
    /// - Throws: `SessionStoreError.Code.nameInvalid` for a name with other characters.
    public init(name: String, jar: CookieJar, secret: GatewaySecretHash) throws(SessionStoreError) {
        try GatewayUser.check(name)
        self.name = name
        self.jar = jar
        self.secret = secret
    }

    /// Checks the name of a user. A URL can contain such a name as it is, and all clients encode it in the same way.
    package static func check(_ name: String) throws(SessionStoreError) {
        let isName = name.utf8.allSatisfy { byte in
            ASCII.isLetter(byte) || ASCII.isDigit(byte) || ".-_".utf8.contains(byte)
        }
        guard isName, (1...64).contains(name.utf8.count) else {
            throw SessionStoreError(
                .nameInvalid, name, "the name of a user has 1 to 64 letters (a to z), digits, '.', '_' or '-'")
        }
    }
}

/// The SHA-256 of a secret with which a user of a gateway signs in.
///
/// The secret has 256 random bits, so its hash does not help to guess it. Comparing two hashes always takes the same time.
public struct GatewaySecretHash: Sendable, Hashable {
    private let digest: ServiceTokenDigest

    /// The hash of a secret; `nil` if ``newSecret(using:)`` has not created it.
    package init?(of secret: Secret) {
        guard let digest = ServiceTokenText.digest(secret) else { return nil }
        self.digest = digest
    }

    /// Reads 64 hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = Hexadecimal.bytes(text), bytes.count == 32 else { return nil }
        digest = ServiceTokenDigest(bytes: bytes)
    }

    /// 64 hexadecimal digits.
    public var text: String { Hexadecimal.text(digest.bytes) }

    /// Creates a secret for the user's client, `crumb_` and 256 random bits in base64url, with its hash.
    ///
    /// - Parameter generator: The source of the bits; it must be suitable for keys.
    public static func newSecret(
        using generator: inout some RandomNumberGenerator
    ) -> (secret: Secret, hash: GatewaySecretHash) {
        let (secret, digest) = ServiceTokenText.randomWithDigest(using: &generator)
        return (secret, GatewaySecretHash(digest: digest))
    }

    private init(digest: ServiceTokenDigest) {
        self.digest = digest
    }
}
