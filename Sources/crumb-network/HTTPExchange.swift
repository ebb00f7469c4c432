import AsyncHTTPClient
import AsyncHTTPClientDecoration
import NIOPosix
import NIOSSL
import OAuth2
import SessionGateway

/// Sends requests to authorization servers with the clients of this process, through the proxies that are set.
struct HTTPExchange: EndpointTransport {
    private let clients: @Sendable () -> NetworkClients

    /// - Parameter clients: Gives the clients when there is a request to send.
    init(by clients: @escaping @Sendable () -> NetworkClients) {
        self.clients = clients
    }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        try await transport(for: request).send(request)
    }

    private func transport(for request: EndpointRequest) throws(OAuth2Error) -> HTTPClientEndpointTransport {
        do {
            let clients = clients()
            let made = try clients.client(for: request.endpoint.description)
            let tls =
                request.exposedClientCertificate == nil
                ? .makeClientConfiguration() : try clients.settings.tlsConfiguration(trusting: [])
            return HTTPClientEndpointTransport(made.client, tls: tls) { HTTPExchange.reason($0, by: made.proxy) }
        } catch {
            if let error = error as? NetworkSettingsError { throw OAuth2Error(unusableSettings: error.reason) }
            throw OAuth2Error(unreachable: "\(request.endpoint.authority): \(HTTPExchange.reason(error))")
        }
    }
}

extension HTTPExchange {
    /// Describes an error in a way that helps a user. Errors of the client may quote the request.
    ///
    /// - Parameters:
    ///   - proxy: the proxy that the connection should have used.
    ///   - advice: the next step if the certificate is not trusted.
    static func reason(
        _ error: any Error, by proxy: Proxy? = nil,
        advice: String = "check the host, or add its authority with `--ca-file` or CRUMB_CA_FILE"
    ) -> String {
        guard let proxy else { return directReason(error, advice) }
        switch error {
        case let error as HTTPClientError where error == .proxyAuthenticationRequired:
            return "the proxy \(proxy.address) requires a user name and password, or different ones; name a file with "
                + "`--proxy-credentials-file`"
        case let error as HTTPClientError where error == .invalidProxyResponse:
            return
                "the proxy \(proxy.address) does not allow requests to it; check the proxy's rules, and NO_PROXY"
        case let error as HTTPClientError where error == .connectTimeout || error == .httpProxyHandshakeTimeout:
            return "the proxy \(proxy.address) did not answer in time"
        // The proxy itself connects to the server. A failure of that is one of the errors above.
        case let error as NIOConnectionError: return "the proxy \(proxy.address): \(HTTPClientFailure.reason(error))"
        default: return "\(directReason(error, advice)) (through the proxy \(proxy.address))"
        }
    }

    private static func directReason(_ error: any Error, _ advice: String) -> String {
        switch error {
        case is NIOSSLError, is NIOSSLExtraError: reason(TLSFailure(error), advice)
        default: HTTPClientFailure.reason(error)
        }
    }

    private static func reason(_ failure: TLSFailure, _ advice: String) -> String {
        switch failure {
        case .untrustedCertificate: "the certificate is not trusted: \(advice)"
        case .otherHost: "its certificate is for another host; check the name"
        case .notTLS: "it does not speak TLS there; check the port"
        case .oldVersion: "it speaks only versions of TLS before 1.2, which are not secure any more"
        case .refused: "it refuses the TLS handshake; check whether it requires a client's certificate"
        case .timedOut: "it did not finish the TLS handshake in time"
        case .disconnected: "it closed the connection in the TLS handshake"
        case .other: "no secure connection can be made (TLS)"
        }
    }
}
