/// What sends requests to authorization servers: an HTTP client, or a test.
///
/// A transport follows no redirects, checks the server's certificate, shows the client's
/// (``EndpointRequest/exposedClientCertificate``) on a connection that no other client uses, gives up after a time of its own, and stops
/// receiving a body after ``EndpointResponse/maximumBodySize`` bytes and one more. It sends no request after its
/// ``EndpointRequest/latestSending``.
public protocol EndpointTransport: Sendable {
    /// Sends a request and gives what was answered, whatever its status.
    ///
    /// - Throws: ``OAuth2Error/init(unreachable:)``: the request may or may not have been received.
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse
}
