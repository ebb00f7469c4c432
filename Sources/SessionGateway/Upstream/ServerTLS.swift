import GatewayModel
import NIOCore
package import NIOSSL
import OAuth2
import PublicSuffix
import SwiftASN1
import Synchronization
import WebPrimitives
import X509

/// The verification of servers, and the client certificates for them.
final class ServerTLS: Sendable {
    /// The protocols that a server may choose from (ALPN).
    enum Offer: Hashable {
        case http2OrHTTP1
        case http1

        fileprivate var names: [String] { self == .http1 ? ["http/1.1"] : ["h2", "http/1.1"] }
    }

    private struct Kind: Hashable {
        /// The host with its own client certificate; `nil` for all others.
        let host: WebHost?
        let offer: Offer
        let isLegacy: Bool
    }

    /// A trusted certificate is for another host.
    struct OtherHost: Error {}

    private let configuration: TLSConfiguration
    /// Whether the certificate has to match the host.
    private let checksHosts: Bool
    private let certificates: [WebHost: ClientCertificate]
    /// The servers that may speak TLS 1.0 and 1.1, which RFC 8996 forbids.
    private let legacyHosts: [HostPattern]
    private let contexts = Mutex<[Kind: NIOSSLContext]>([:])

    init(_ frame: GatewayFrame) {
        var configuration = frame.environment.tls
        checksHosts = configuration.certificateVerification == .fullVerification
        if checksHosts { configuration.certificateVerification = .noHostnameVerification }
        self.configuration = configuration
        certificates = frame.environment.clientCertificates
        legacyHosts = frame.settings.legacyTLS
    }

    /// Adds TLS to a connection to a host, and verifies the server before anything is sent to it.
    ///
    /// NIOSSL compares the addresses of a certificate with the peer's address, which may be that of a proxy, and
    /// accepts such an address for any name. So the host is checked here.
    ///
    /// - Parameter isIdentified: Whether the server gets the host's client certificate if it asks for one.
    /// - Throws: ``OtherHost``; the errors of the handshake.
    func secure(
        _ stream: ByteStream, to host: WebHost, offering offer: Offer, identified isIdentified: Bool,
        within limit: TimeAmount
    ) async throws {
        // SNI must not contain an address (RFC 6066, section 3).
        let name = host.isIPAddress ? nil : host.description
        let context = try context(for: host, offering: offer, identified: isIdentified)
        try await stream.startTLS(NIOSSLClientHandler(context: context, serverHostname: name), within: limit)
        guard checksHosts else { return }
        guard let certificate = await stream.serverCertificate, try certificate.isFor(host) else { throw OtherHost() }
    }

    /// Returns the TLS context for a connection to a host.
    private func context(
        for host: WebHost, offering offer: Offer, identified isIdentified: Bool
    ) throws -> NIOSSLContext {
        let certificate = isIdentified ? certificates[host] : nil
        let isLegacy = legacyHosts.contains(host)
        return try contexts.withLock { contexts in
            let kind = Kind(host: certificate == nil ? nil : host, offer: offer, isLegacy: isLegacy)
            if let context = contexts[kind] { return context }
            var configuration = configuration
            configuration.applicationProtocols = offer.names
            if isLegacy {
                configuration.minimumTLSVersion = .tlsv1
            } else if [.tlsv1, .tlsv11].contains(configuration.minimumTLSVersion) {
                configuration.minimumTLSVersion = .tlsv12
            }
            if let certificate { configuration = try configuration.showing(certificate.pem.exposedBytes) }
            let context = try NIOSSLContext(configuration: configuration)
            contexts[kind] = context
            return context
        }
    }
}

extension TLSConfiguration {
    /// The configuration with a client certificate.
    ///
    /// - Parameter pem: The certificate, its issuers' certificates, and the private key, in PEM.
    /// - Throws: `NIOSSLError` if one of them cannot be read.
    package func showing(_ pem: [UInt8]) throws -> TLSConfiguration {
        var configuration = self
        configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(pem).map { .certificate($0) }
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: pem, format: .pem))
        return configuration
    }
}

extension NIOSSLCertificate {
    /// Whether the certificate is valid for a host (RFC 9525, sections 6.3 to 6.5). The common name does not count.
    func isFor(_ host: WebHost) throws -> Bool {
        let address = host.addressOctets
        let names = try Certificate(derEncoded: toDERBytes()).extensions.subjectAlternativeNames
        return names?.contains { name in
            switch name {
            case .ipAddress(let octets): !address.isEmpty && Array(octets.bytes) == address
            case .dnsName(let pattern): address.isEmpty && NIOSSLCertificate.matches(pattern, host)
            default: false
            }
        } ?? false
    }

    /// Whether a name in a certificate matches a host. A wildcard stands for the complete first label.
    ///
    /// As in browsers, no wildcard matches the hosts below a registry's suffix or an unknown top-level domain. The
    /// hosts below a suffix such as `github.io` have one owner.
    private static func matches(_ pattern: String, _ host: WebHost) -> Bool {
        let name = host.description.hasSuffix(".") ? String(host.description.dropLast()) : host.description
        let pattern = pattern.lowercased()
        guard pattern.hasPrefix("*."), let dot = name.firstIndex(of: ".") else { return pattern == name }
        let parent = String(name[name.index(after: dot)...])
        let suffixes = PublicSuffixList.bundled
        return dot > name.startIndex && pattern.dropFirst(2) == parent
            && (!suffixes.isPublicSuffix(parent) || suffixes.section(of: parent) == .private)
    }
}
