import NIOSSL

/// The reason why no TLS connection to a server can be made, as far as a person can act on it.
package enum TLSFailure {
    /// No known authority has signed the certificate, or it has expired.
    case untrustedCertificate
    /// The certificate is for another host.
    case otherHost
    /// The server does not speak TLS at this port.
    case notTLS
    /// Any other reason, such as no common version.
    case other

    package init(_ error: any Error) {
        switch error {
        case is NIOSSLExtraError, is ServerTLS.OtherHost: self = .otherHost
        case NIOSSLError.handshakeFailed(let failure):
            // The library tells its reasons apart in text only.
            let text = "\(failure)"
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                self = .untrustedCertificate
            } else if ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "EOF"].contains(where: text.contains) {
                self = .notTLS
            } else {
                self = .other
            }
        default: self = .other
        }
    }
}
