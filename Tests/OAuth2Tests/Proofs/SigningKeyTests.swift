import Crypto
import CryptoExtras
import Testing
import WebPrimitives

@testable import OAuth2

/// Keys that clients authenticate with: what each signs, and what is no key.
@Suite("SigningKey")
struct SigningKeyTests {
    private static let p256 = P256.Signing.PrivateKey()
    private static let ed25519 = Curve25519.Signing.PrivateKey()
    /// Made once: that takes a while.
    private static let rsa = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    private func pem(_ kind: String) throws -> Secret {
        switch kind {
        case "P-256": Secret(SigningKeyTests.p256.pemRepresentation)
        case "Ed25519": Secret(SigningKeyTests.ed25519.pemRepresentation)
        case "RSA": Secret(try #require(SigningKeyTests.rsa).pemRepresentation)
        case "RSA in PKCS #8": Secret(try #require(SigningKeyTests.rsa).pkcs8PEMRepresentation)
        case "RSA with 1024 bits":
            Secret(try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024)).pemRepresentation)
        case "P-384": Secret(P384.Signing.PrivateKey().pemRepresentation)
        case "public": Secret(SigningKeyTests.p256.publicKey.pemRepresentation)
        default: Secret(kind)
        }
    }

    /// Whether the key of that kind has signed.
    private func isSigned(_ input: [UInt8], _ signature: [UInt8], by algorithm: SigningKey.Algorithm) throws -> Bool {
        switch algorithm {
        case .es256:
            SigningKeyTests.p256.publicKey.isValidSignature(
                try P256.Signing.ECDSASignature(rawRepresentation: signature), for: input)
        case .edDSA, .ed25519: SigningKeyTests.ed25519.publicKey.isValidSignature(signature, for: input)
        case .rs256, .ps256:
            try #require(SigningKeyTests.rsa).publicKey.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature), for: input,
                padding: algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5)
        }
    }

    @Test(
        "A key signs with its algorithm, is restored from storage, and the assertion names the algorithm",
        arguments: [
            ("P-256", nil, .es256), ("P-256", .es256, .es256), ("Ed25519", nil, .edDSA), ("Ed25519", .edDSA, .edDSA),
            ("Ed25519", .ed25519, .ed25519),
            ("RSA", nil, .rs256), ("RSA", .rs256, .rs256), ("RSA", .ps256, .ps256), ("RSA in PKCS #8", .ps256, .ps256),
        ] as [(String, SigningKey.Algorithm?, SigningKey.Algorithm)])
    func signs(kind: String, wanted: SigningKey.Algorithm?, expected: SigningKey.Algorithm) throws {
        let made = try SigningKey(pem: try pem(kind), algorithm: wanted)
        let key = try SigningKey(made.secret)
        #expect(key == made && key.algorithm == expected)
        var generator = CountingGenerator()
        let assertion = ClientAssertion(clientID: "app", audience: "https://id.example", key: key)
        guard case .clientAssertion(_, let token) = try assertion.authentication(now: now, using: &generator) else {
            Issue.record("no assertion")
            return
        }
        let parts = token.exposedBytes.split(separator: UInt8(ascii: "."))
        let header = String(decoding: try #require(Base64.decodeForURL(parts[0])), as: UTF8.self)
        #expect(header.contains(#""alg":"\#(expected.rawValue)""#))
        let input = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
        #expect(try isSigned(input, try #require(Base64.decodeForURL(parts[2])), by: expected))
        #expect(!shown(key).contains("PRIVATE"))
    }

    @Test(
        "A file that is not a key for the algorithm is rejected",
        arguments: [
            ("P-256", .rs256), ("P-256", .edDSA), ("P-256", .ed25519), ("Ed25519", .es256), ("RSA", .es256),
            ("RSA", .edDSA),
            ("RSA with 1024 bits", nil), ("P-384", nil), ("public", nil), ("", nil), ("no PEM", nil),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", nil),
        ] as [(String, SigningKey.Algorithm?)])
    func refuses(kind: String, wanted: SigningKey.Algorithm?) throws {
        let pem = try pem(kind)
        let error = thrown { () throws(OAuth2Error) in try SigningKey(pem: pem, algorithm: wanted) }
        #expect(error?.code == .invalidKey)
    }

    @Test(
        "A damaged stored key is rejected",
        arguments: ["RS256\nx", "EdDSA\n", "XX256\n0123456789012345678901234567890"])
    func damaged(text: String) {
        let kept = Secret(text + String(repeating: "0", count: 40))
        #expect(thrown { () throws(OAuth2Error) in try SigningKey(kept) }?.code == .invalidKey)
    }

    @Test("A key of another kind makes no proofs")
    func proofs() throws {
        let key = try SigningKey(pem: try pem("Ed25519"))
        var generator = CountingGenerator()
        #expect(
            thrown { () throws(OAuth2Error) in
                try DPoPProof(key: key).value(method: "GET", url: "https://a.test/", now: now, using: &generator)
            }?.code == .invalidKey)
    }
}
