import Crypto
package import WebPrimitives

/// The key that a package is signed with: Ed25519 (RFC 8032), over the octets of the manifest.
package struct PackageKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// The octets before the key in PKCS #8 (RFC 8410, section 7).
    private static let privatePrefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    /// The octets before the key in a SubjectPublicKeyInfo (RFC 8410, section 4).
    private static let publicPrefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// Reads a private key as `openssl genpkey -algorithm ed25519` writes it, without its armor; `nil` for any other.
    package init?(privateKey octets: [UInt8]) {
        guard octets.count == 48, octets.starts(with: PackageKey.privatePrefix),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: octets.dropFirst(16))
        else { return nil }
        self.key = key
    }

    /// A new key.
    package init() {
        key = Curve25519.Signing.PrivateKey()
    }

    /// The public key, 32 octets.
    package var publicKey: Octets { Octets(Array(key.publicKey.rawRepresentation)) }

    /// The signature of a manifest, 64 octets.
    package func signature(of manifest: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: manifest)) }

    /// Reads a public key as `openssl pkey -pubout` writes it, without its armor; `nil` for any other.
    package static func publicKey(_ octets: [UInt8]) -> Octets? {
        guard octets.count == 44, octets.starts(with: publicPrefix) else { return nil }
        return Octets(Array(octets.dropFirst(12)))
    }

    /// Whether a signature is that of a manifest by the owner of a public key.
    static func isValid(_ signature: [UInt8], of manifest: [UInt8], by key: Octets) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key.bytes) else { return false }
        return key.isValidSignature(signature, for: manifest)
    }
}
