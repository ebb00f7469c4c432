import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import Synchronization
public import WebPrimitives
import X509

/// A private certificate authority that exists only in memory, for the hosts whose requests a gateway reads.
///
/// Its certificate is constrained to those hosts (RFC 5280, section 4.2.1.10): its key cannot sign for any
/// other host. Clients of the gateway trust ``certificatePEM``. The key never leaves the process.
public final class CertificateAuthority: Sendable {
    /// How long a host's certificate is valid, in seconds.
    private static let leafLifetime: Int64 = 7 * 86_400
    /// How much earlier it begins, for clients whose clock is slow.
    private static let leafMargin = 86_400.0
    /// For how many hosts certificates are kept.
    private static let contextLimit = 1000

    /// The certificate in PEM, for the trust store of a client.
    public let certificatePEM: String
    private let key: P256.Signing.PrivateKey
    /// The key of all hosts' certificates.
    private let leafKey = P256.Signing.PrivateKey()
    private let name: DistinguishedName
    private let certificate: Certificate
    private let contexts = Mutex<[WebHost: (context: NIOSSLContext, end: Timestamp)]>([:])

    /// Creates an authority with a new key.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that it may name, subdomains included.
    ///   - lifetime: How long it is valid, in seconds.
    ///   - now: The current time.
    public init(for hosts: [WebHost], lifetime: Int64 = 30 * 86_400, now: Timestamp) throws {
        let name = try DistinguishedName { CommonName("Crumb gateway on this machine") }
        let key = P256.Signing.PrivateKey()
        self.name = name
        self.key = key
        // A list without an entry of one kind would permit all of that kind.
        let permitted =
            hosts.map(CertificateAuthority.constraint) + [
                .dnsName("invalid"), .ipAddress(.init(contentBytes: [0, 0, 0, 0, 255, 255, 255, 255])),
            ]
        let constraints = NameConstraints(permittedSubtrees: permitted, excludedSubtrees: [])
        let start = Date(timeIntervalSince1970: Double(now.seconds))
        certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
            notValidBefore: start - CertificateAuthority.leafMargin, notValidAfter: start + Double(lifetime),
            issuer: name,
            subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(constraints)
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: .init(key))
        certificatePEM = try certificate.serializeAsPEM().pemString + "\n"
    }

    /// What a TLS connection of a client is served with that asks for `host`.
    func context(for host: WebHost, now: Timestamp) throws -> NIOSSLContext {
        if let known = contexts.withLock({ $0[host] }), now < known.end { return known.context }
        let leaf = try leaf(for: host, now: now)
        var serializer = DER.Serializer()
        try serializer.serialize(leaf)
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: serializer.serializedBytes, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(leafKey.derRepresentation), format: .der)))
        tls.applicationProtocols = ["h2", "http/1.1"]
        let context = try NIOSSLContext(configuration: tls)
        let end = now.advanced(bySeconds: CertificateAuthority.leafLifetime / 2)
        contexts.withLock { contexts in
            if contexts.count >= CertificateAuthority.contextLimit { contexts = [:] }
            contexts[host] = (context, end)
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

    private func leaf(for host: WebHost, now: Timestamp) throws -> Certificate {
        let start = Date(timeIntervalSince1970: Double(now.seconds))
        let octets = host.addressOctets
        let alternative: GeneralName =
            octets.isEmpty ? .dnsName(host.description) : .ipAddress(ASN1OctetString(contentBytes: octets[...]))
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(leafKey.publicKey),
            notValidBefore: start - CertificateAuthority.leafMargin,
            notValidAfter: start + Double(CertificateAuthority.leafLifetime), issuer: name,
            subject: DistinguishedName {},
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                // Without a subject, the names have to be critical (RFC 5280, section 4.2.1.6).
                Critical(SubjectAlternativeNames([alternative]))
            },
            issuerPrivateKey: .init(key))
    }
}
