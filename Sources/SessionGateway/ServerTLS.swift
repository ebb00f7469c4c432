package import NIOSSL
import OAuth2
import WebPrimitives

/// How servers are verified, and which certificate is shown to each.
struct ServerTLS: Sendable {
    private let common: Result<NIOSSLContext, any Error>
    private let byHost: [WebHost: Result<NIOSSLContext, any Error>]

    init(_ settings: GatewaySettings) {
        var configuration = settings.tls
        configuration.applicationProtocols = ["http/1.1"]
        let base = configuration
        common = Result { try NIOSSLContext(configuration: base) }
        byHost = settings.clientCertificates.mapValues { certificate in
            Result { try NIOSSLContext(configuration: base.showing(certificate.pem.exposedBytes)) }
        }
    }

    /// What a connection to a host is made with.
    func context(for host: WebHost) throws -> NIOSSLContext {
        try (byHost[host] ?? common).get()
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
