import HTTPTypes
package import OAuth2

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What `crumb` asks of `crumb-network` where the answer is an authorization server's, on standard input: a line of JSON,
/// and the request's body behind it. The input stays open behind the body for as long as somebody waits for the answer:
/// its end says that nobody does any more, and that nothing is to be sent.
package struct ExchangeQuestion: Codable, Sendable {
    package let request: HelperRequest
    /// How many bytes the body has.
    package let bodyByteCount: Int
    /// The signals that end neither program while an answer is on its way: Control-C, `kill`, a closed terminal, and
    /// Control-\. `crumb` holds them back; `crumb-network` ignores them and ends with its input.
    package static let deferredSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// When it is too late to send the request: ``OAuth2/EndpointRequest/latestSending``.
    package let latestSending: Int64?
    /// How long the whole answer is worth waiting for: ``OAuth2/EndpointRequest/answerTimeout``.
    package let timeoutMilliseconds: Int64?
    /// The certificate that the client shows, and its key, in PEM: ``OAuth2/ClientCertificate/pem``.
    package let clientCertificate: [UInt8]?
}

extension HelperMessage where Head == ExchangeQuestion {
    /// A request to an authorization server.
    package init(_ request: EndpointRequest) {
        let head = request.exposedHead
        let fields = head.headerFields.map { HelperRequest.Field(name: $0.name.rawName, value: $0.value) }
        let body = request.exposedBody
        self.init(
            ExchangeQuestion(
                request: HelperRequest(
                    method: head.method.rawValue, url: request.endpoint.description, fields: fields),
                bodyByteCount: body.count, latestSending: request.latestSending,
                timeoutMilliseconds: request.answerTimeout.map { Int64($0 / .milliseconds(1)) },
                clientCertificate: request.exposedClientCertificate),
            body: body)
    }
}
