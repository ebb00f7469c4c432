import Crypto
import NIOSSL
import OAuth2
public import SessionStore
import SwiftASN1
import Synchronization
public import WebPrimitives
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A private certificate authority for the hosts whose requests a gateway reads.
///
/// Its certificate is constrained to those hosts (RFC 5280, section 4.2.1.10): clients accept its certificates for no
/// other host. Clients of the gateway trust ``certificatePEM``. A new authority exists only in memory, unless
/// ``stored`` is added to a database.
public final class CertificateAuthority: Sendable {
    /// The lifetime of a stored authority in seconds: a year.
    package static let storedLifetime: Int64 = 365 * 86_400

    /// The lifetime of a host's certificate in seconds.
    private static let leafLifetime: Int64 = 7 * 86_400
    /// How much earlier a host's certificate begins to be valid, for clients with a slow clock.
    private static let leafMargin = 86_400.0
    /// For how many hosts certificates are kept.
    private static let contextLimit = 1000

    /// The authority as a database stores it.
    public let stored: StoredAuthority
    /// The certificate in PEM, for the trust store of a client.
    public var certificatePEM: String { stored.certificatePEM }
    private let key: P256.Signing.PrivateKey
    /// The key of all hosts' certificates.
    private let leafKey = P256.Signing.PrivateKey()
    private let name: DistinguishedName
    private struct ContextKey: Hashable {
        let host: WebHost
        let acceptsLegacyTLS: Bool
    }

    private let contexts = Mutex<[ContextKey: (context: NIOSSLContext, end: Timestamp)]>([:])

    /// Creates an authority with a new key.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that it may name, including subdomains.
    ///   - lifetime: How long it is valid, in seconds.
    ///   - now: The current time.
    public convenience init(for hosts: [WebHost], lifetime: Int64 = 30 * 86_400, now: Timestamp) throws {
        let name = try DistinguishedName { CommonName("Crumb gateway on this machine") }
        let key = P256.Signing.PrivateKey()
        // A list without an entry of one kind would permit all names of that kind.
        let permitted =
            hosts.map(CertificateAuthority.constraint) + [
                .dnsName("invalid"), .ipAddress(.init(contentBytes: [0, 0, 0, 0, 255, 255, 255, 255])),
            ]
        let constraints = NameConstraints(permittedSubtrees: permitted, excludedSubtrees: [])
        let start = Date(timeIntervalSince1970: Double(now.seconds))
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: start - CertificateAuthority.leafMargin, notValidAfter: start + Double(lifetime),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(constraints)
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key))
        try self.init(
            StoredAuthority(
                hosts: hosts, certificatePEM: try certificate.serializeAsPEM().pemString + "\n",
                privateKey: Secret(key.rawRepresentation), creation: Timestamp(seconds: now.seconds),
                expiry: Timestamp(seconds: now.seconds + lifetime)))
    }

    /// Creates an authority from its stored form.
    public init(_ stored: StoredAuthority) throws {
        self.stored = stored
        key = try P256.Signing.PrivateKey(rawRepresentation: stored.privateKey.exposedBytes)
        name = try Certificate(pemEncoded: stored.certificatePEM).subject
    }

    /// Returns the TLS context that serves a client's connection to `host`.
    ///
    /// - Parameter acceptsLegacyTLS: Whether the client may speak TLS 1.0 and 1.1.
    func context(
        for host: WebHost, acceptingLegacyTLS acceptsLegacyTLS: Bool = false, now: Timestamp
    ) throws -> NIOSSLContext {
        let key = ContextKey(host: host, acceptsLegacyTLS: acceptsLegacyTLS)
        if let known = contexts.withLock({ $0[key] }), now < known.end { return known.context }
        let leaf = try NIOSSLCertificate(bytes: try leaf(for: host, now: now), format: .der)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(leaf)],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(leafKey.derRepresentation), format: .der)))
        tls.applicationProtocols = ["h2", "http/1.1"]
        tls.minimumTLSVersion = acceptsLegacyTLS ? .tlsv1 : .tlsv12
        let context = try NIOSSLContext(configuration: tls)
        let end = now.advanced(bySeconds: CertificateAuthority.leafLifetime / 2)
        contexts.withLock { contexts in
            if contexts.count >= CertificateAuthority.contextLimit { contexts = [:] }
            contexts[key] = (context, end)
        }
        return context
    }

    /// The host and its subdomains; a single address, with a mask of ones.
    private static func constraint(_ host: WebHost) -> GeneralName {
        let octets = host.addressOctets
        return octets.isEmpty
            ? .dnsName(host.description)
            : .ipAddress(ASN1OctetString(contentBytes: (octets + octets.map { _ in 0xFF })[...]))
    }

    /// A certificate for a host, in DER. Clients accept it only if ``stored`` covers the host.
    func leaf(for host: WebHost, now: Timestamp) throws -> [UInt8] {
        let start = Date(timeIntervalSince1970: Double(now.seconds))
        let octets = host.addressOctets
        let alternative: GeneralName =
            octets.isEmpty ? .dnsName(host.description) : .ipAddress(ASN1OctetString(contentBytes: octets[...]))
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(leafKey.publicKey),
            notValidBefore: start - CertificateAuthority.leafMargin,
            notValidAfter: start + Double(CertificateAuthority.leafLifetime), issuer: name,
            subject: DistinguishedName {},
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                // Distinguishes authorities of one name: a removed one may still be trusted.
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey)).keyIdentifier)
                // Without a subject, the names must be critical (RFC 5280, section 4.2.1.6).
                Critical(SubjectAlternativeNames([alternative]))
            },
            issuerPrivateKey: .init(key))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
