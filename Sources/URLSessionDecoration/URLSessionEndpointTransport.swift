import HTTPTypes
public import OAuth2

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests to authorization servers with URLSession: no redirects, bounded in time and size, and without secrets
/// in its errors.
///
/// Each request has a session, and so a connection, of its own. URLSession does not tell when it has connected, so a
/// refresh is cancelled at its last moment if its body has not begun to be sent.
///
/// It cannot show a client's certificate: for a login with one, use `HTTPClientEndpointTransport` of
/// `AsyncHTTPClientDecoration`.
public struct URLSessionEndpointTransport: EndpointTransport {
    /// How long one request may take, with all of its answer, unless it says otherwise.
    private static let timeout = Duration.seconds(30)

    private let configuration: URLSessionConfiguration
    private let clock: any Clock<Duration>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of sessions. Its cookies, credentials and cache are turned off.
    ///   - clock: The clock that measures how long answers take.
    public init(configuration: URLSessionConfiguration = .ephemeral, clock: any Clock<Duration> = ContinuousClock()) {
        let configuration = configuration.withoutClientCookies
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        self.configuration = configuration
        self.clock = clock
    }

    /// Sends a request and returns the response, whatever its status.
    public func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        guard request.exposedClientCertificate == nil else {
            throw OAuth2Error(
                unusableSettings: "URLSession cannot show the client's certificate; use HTTPClientEndpointTransport")
        }
        guard let url = URL(string: request.endpoint.description) else {
            throw OAuth2Error(unreachable: "\(request.endpoint.authority): its address is not a URL")
        }
        let timeout = request.answerTimeout ?? URLSessionEndpointTransport.timeout
        let exchange = EndpointExchange()
        let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: URLSessionEndpointTransport.message(request, to: url, within: timeout))
        do {
            let answer = try await exchange.answer(
                of: task, within: timeout, by: clock, sentBefore: request.latestSending)
            return response(answer, from: request.endpoint)
        } catch {
            let reason = "\(request.endpoint.authority): \(URLSessionEndpointTransport.reason(error))"
            // Only a refresh has a last moment.
            let isRefresh = request.latestSending != nil && exchange.hasBegunSending
            throw isRefresh ? OAuth2Error(unansweredRefresh: reason) : OAuth2Error(unreachable: reason)
        }
    }

    private static func message(_ request: EndpointRequest, to url: URL, within timeout: Duration) -> URLRequest {
        let head = request.exposedHead
        var message = URLRequest(url: url)
        message.httpMethod = head.method.rawValue
        for field in head.headerFields { message.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        if head.method != .get { message.httpBody = Data(request.exposedBody) }
        // The session's own limit is for silence alone, and must not come before that of the whole answer.
        message.timeoutInterval = TimeInterval(timeout.components.seconds + 30)
        return message
    }

    private func response(_ answer: EndpointExchange.Answer, from endpoint: EndpointURL) -> EndpointResponse {
        let fields = answer.head.allHeaderFields.compactMap { name, value -> HTTPField? in
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                return nil
            }
            return HTTPField(name: name, value: value)
        }
        var response = EndpointResponse(
            status: HTTPResponse.Status(code: answer.head.statusCode), fields: HTTPFields(fields), body: answer.body)
        response.endpoint = endpoint
        return response
    }

    /// Describes an error as a clause. Errors of URLSession may quote the request.
    private static func reason(_ error: any Error) -> String {
        if error is CancellationError { return "the request was cancelled" }
        if error is EndpointExchange.TooLate { return "making the connection took too long, and nothing was sent" }
        return switch (error as? URLError)?.code {
        case .timedOut: "it did not answer in time"
        case .cancelled: "the request was cancelled"
        case .cannotFindHost, .dnsLookupFailed: "its name cannot be resolved; check the name and the network"
        case .cannotConnectToHost:
            "no server can be reached there; check the address, and whether the server runs"
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            "this machine has no network"
        case .networkConnectionLost: "it closed the connection without an answer"
        case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            "the certificate is not trusted: check the host"
        case .secureConnectionFailed: "no secure connection can be made (TLS)"
        default: "the connection broke; check the address, and try again"
        }
    }
}
