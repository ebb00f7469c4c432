import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NetworkHelper

extension HTTPExchange {
    /// What a user can make something of; errors of the client may quote what was sent.
    ///
    /// - Parameters:
    ///   - proxy: the proxy that the connection was to be made through.
    ///   - advice: what to do if the certificate is not trusted.
    static func reason(
        _ error: any Error, by proxy: Proxy? = nil,
        advice: String = "check the host, or add its authority with `--ca-file`"
    ) -> String {
        guard let proxy else { return directReason(error, advice) }
        switch error {
        case let error as HTTPClientError where error == .proxyAuthenticationRequired:
            return "the proxy \(proxy.address) wants a user name and password, or others; name a file with "
                + "`--proxy-credentials-file`"
        case let error as HTTPClientError where error == .invalidProxyResponse:
            return
                "the proxy \(proxy.address) does not let requests through to it; check the proxy's rules, and NO_PROXY"
        case let error as HTTPClientError where error == .connectTimeout || error == .httpProxyHandshakeTimeout:
            return "the proxy \(proxy.address) did not answer in time"
        // What is behind the proxy is connected by that, and fails with one of those above.
        case let error as NIOConnectionError: return "the proxy \(proxy.address): \(reason(error))"
        default: return "\(directReason(error, advice)) (through the proxy \(proxy.address))"
        }
    }

    private static func directReason(_ error: any Error, _ advice: String) -> String {
        switch error {
        case let error as HTTPClientError where error == .connectTimeout || error == .readTimeout:
            "it did not answer in time"
        case let error as HTTPClientError where error == .deadlineExceeded: "it did not answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "it closed the connection without an answer"
        case let error as NIOConnectionError: reason(error)
        case let error as IOError: reason(error.errnoCode)
        case let error as NIOSSLError: reason(error, advice)
        case is NIOSSLExtraError: "its certificate is for another host; check the name"
        case is UnusableCertificate: "the client's certificate or its key cannot be read; log in with other files"
        case is CancellationError: "the request was given up"
        case is TooLate: "making the connection took too long, and nothing was sent"
        case is HTTPParserError: "its answer is not HTTP; check the scheme, the host and the port"
        case is HTTPClientError: "the connection broke, or its answer is not HTTP; check the address, and try again"
        default: "the connection broke; check the address, and try again"
        }
    }

    private static func reason(_ error: NIOConnectionError) -> String {
        // A name has several addresses: what one of them said is as good as what the others did.
        let failures = error.connectionErrors.map(\.error)
        if let failure = failures.lazy.compactMap({ $0 as? IOError }).first { return reason(failure.errnoCode) }
        if failures.contains(where: { $0 is ChannelError }) { return "it did not answer in time" }
        return "its name is not known here; check the name and the network"
    }

    private static func reason(_ number: CInt) -> String {
        switch number {
        case ECONNREFUSED: "nobody listens there (connection refused); check the address, and whether it runs"
        case ENOENT: "there is no such socket; check the address, and whether it runs"
        default: "the connection failed (\(String(cString: strerror(number))))"
        }
    }

    private static func reason(_ error: NIOSSLError, _ advice: String) -> String {
        guard case .handshakeFailed(let failure) = error else { return "the connection failed (TLS: \(error))" }
        // The library tells its reasons apart in text only.
        let text = "\(failure)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return "the certificate is not trusted: \(advice)"
        }
        if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") || text.contains("EOF") {
            return "it does not speak TLS there; check the port"
        }
        return "no secure connection can be made (TLS)"
    }
}
