import NIOSSL

/// The certificate that the service shows, out of its files.
enum TLSFiles {
    static func context(_ configuration: ServiceConfiguration) throws(ServiceStartError) -> NIOSSLContext? {
        guard configuration.certificateFile != nil || configuration.privateKeyFile != nil else { return nil }
        guard let certificateFile = configuration.certificateFile, let keyFile = configuration.privateKeyFile else {
            throw ServiceStartError(
                .configurationInvalid, "TLS needs a certificate and its key: name both, or neither")
        }
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
        } catch {
            throw ServiceStartError(.certificateInvalid, "\(certificateFile): this is no certificate in PEM")
        }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
        } catch {
            throw ServiceStartError(.certificateInvalid, "\(keyFile): this is no private key in PEM")
        }
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        settings.minimumTLSVersion = .tlsv12
        settings.applicationProtocols = ["http/1.1"]
        do {
            return try NIOSSLContext(configuration: settings)
        } catch {
            throw ServiceStartError(
                .certificateInvalid, "\(certificateFile): the key in \(keyFile) does not belong to it, or neither works"
            )
        }
    }
}
