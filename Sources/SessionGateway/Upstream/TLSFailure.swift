import NIOCore
import NIOSSL

/// The reason why no TLS connection to a server can be made, for advice to the user.
package enum TLSFailure {
    /// No known authority has signed the certificate, or it has expired.
    case untrustedCertificate
    /// The certificate is for another host.
    case otherHost
    /// The server does not use TLS on this port.
    case notTLS
    /// The server supports only versions of TLS that are older than the minimum.
    case oldVersion
    /// The server refuses the handshake with an alert (RFC 8446, section 6), such as one for a missing client certificate.
    case refused
    /// The server does not finish the handshake in time.
    case timedOut
    /// The connection ends, or breaks, before the handshake does.
    case disconnected
    /// Any other reason, such as no common cipher suite.
    case other

    /// Whether a client has ended the handshake because of the gateway's certificate: it has sent an alert about it
    /// (RFC 8446, section 6.2), or has stopped sending.
    ///
    /// - Parameter mayGoAway: Whether the client may close the connection for other reasons.
    static func isDistrust(_ error: any Error, mayGoAway: Bool) -> Bool {
        guard case NIOSSLError.handshakeFailed(let failure) = error else {
            return !mayGoAway && TLSFailure(error) == .disconnected
        }
        // The library distinguishes its reasons only in text.
        let text = "\(failure)"
        return !mayGoAway && text.lowercased().contains("eof") || certificateAlerts.contains(where: text.contains)
    }

    /// The library's names for the alerts of a client that rejects a certificate.
    ///
    /// With TLS 1.3, OpenSSL and GnuTLS send theirs unencrypted. The library, which expects an encrypted record, only
    /// reports that it is too short.
    private static let certificateAlerts = [
        "ALERT_UNKNOWN_CA", "ALERT_BAD_CERTIFICATE", "ALERT_CERTIFICATE_", "ALERT_UNSUPPORTED_CERTIFICATE",
        "BAD_PACKET_LENGTH",
    ]

    package init(_ error: any Error) {
        switch error {
        case is NIOSSLExtraError, is ServerTLS.OtherHost: self = .otherHost
        case StreamError.timedOut: self = .timedOut
        case StreamError.endedEarly, is IOError, is ChannelError: self = .disconnected
        case NIOSSLError.handshakeFailed(let failure):
            // The library distinguishes its reasons only in text.
            let text = "\(failure)"
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                self = .untrustedCertificate
            } else if ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "EOF"].contains(where: text.contains) {
                self = .notTLS
            } else if ["UNSUPPORTED_PROTOCOL", "ALERT_PROTOCOL_VERSION"].contains(where: text.contains) {
                self = .oldVersion
            } else if ["SSLV3_ALERT_", "TLSV1_"].contains(where: text.contains) {
                self = .refused
            } else {
                self = .other
            }
        default: self = .other
        }
    }
}
