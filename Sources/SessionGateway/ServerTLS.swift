import NIOCore
package import NIOSSL
import OAuth2
import Synchronization
import WebPrimitives

/// How servers are verified, and which certificate is shown to each.
final class ServerTLS: Sendable {
    /// The protocols that a server may choose from (ALPN).
    enum Offer: Hashable {
        case http2OrHTTP1
        case http1

        fileprivate var names: [String] { self == .http1 ? ["http/1.1"] : ["h2", "http/1.1"] }
    }

    private struct Kind: Hashable {
        /// The host that gets a certificate of its own; `nil` for all others.
        let host: WebHost?
        let offer: Offer
    }

    private let configuration: TLSConfiguration
    private let certificates: [WebHost: ClientCertificate]
    private let contexts = Mutex<[Kind: NIOSSLContext]>([:])

    init(_ settings: GatewaySettings) {
        configuration = settings.tls
        certificates = settings.clientCertificates
    }

    /// Returns the TLS context for a connection to a host.
    func context(for host: WebHost, offering offer: Offer) throws -> NIOSSLContext {
        let certificate = certificates[host]
        return try contexts.withLock { contexts in
            let kind = Kind(host: certificate == nil ? nil : host, offer: offer)
            if let context = contexts[kind] { return context }
            var configuration = configuration
            configuration.applicationProtocols = offer.names
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
