public import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
public import NIOSSL
public import OAuth2
import Synchronization

/// Sends requests to authorization servers with AsyncHTTPClient: bounded in time and size, and without secrets in its
/// errors.
///
/// ```swift
/// let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
/// let transport = HTTPClientEndpointTransport(client)
/// ```
public struct HTTPClientEndpointTransport: EndpointTransport {
    /// How long one request may take, with all of its answer, unless it says otherwise.
    private static let timeout = TimeAmount.seconds(30)
    /// How many bytes of a body are passed on.
    private static let bodyLimit = EndpointResponse.maximumBodySize + 1

    private let client: HTTPClient
    private let tls: TLSConfiguration
    private let reason: @Sendable (any Error) -> String

    /// Creates a transport with a client of your own.
    ///
    /// - Parameters:
    ///   - client: A client that does not follow redirects. One that does so fails at a redirect; a body with secrets
    ///     is never sent twice.
    ///   - tls: The trust of connections on which the client shows a certificate (RFC 8705). Name it if that of the
    ///     client is not the default.
    public init(_ client: HTTPClient, tls: TLSConfiguration = .makeClientConfiguration()) {
        self.init(client, tls: tls) { HTTPClientFailure.reason($0) }
    }

    /// - Parameter reason: Describes an error as a clause.
    package init(
        _ client: HTTPClient, tls: TLSConfiguration, describing reason: @escaping @Sendable (any Error) -> String
    ) {
        self.client = client
        self.tls = tls
        self.reason = reason
    }

    /// Sends a request and returns the response, whatever its status.
    public func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let sending = Sending()
        do {
            return try await exchange(request, sending)
        } catch {
            if let error = error as? ClientRedirectsError { throw OAuth2Error(unusableSettings: error.description) }
            let reason = "\(request.endpoint.authority): \(reason(error))"
            // Only a refresh has a last moment.
            let isRefresh = request.latestSending != nil && sending.hasBegun.load(ordering: .acquiring)
            throw isRefresh ? OAuth2Error(unansweredRefresh: reason) : OAuth2Error(unreachable: reason)
        }
    }

    private func exchange(
        _ request: EndpointRequest, _ sending: Sending
    ) async throws -> EndpointResponse {
        let head = request.exposedHead
        var message = HTTPClientRequest(url: request.endpoint.description)
        message.method = HTTPMethod(rawValue: head.method.rawValue)
        for field in head.headerFields { message.headers.add(name: field.name.rawName, value: field.value) }
        // Without this field any encoding would do (RFC 9110, section 12.5.3).
        if !message.headers.contains(name: "Accept-Encoding") {
            message.headers.add(name: "Accept-Encoding", value: "identity")
        }
        if head.method != .get {
            let bytes = request.exposedBody
            message.body =
                bytes.isEmpty
                ? .bytes(ByteBuffer())
                : .stream(
                    LastMomentBody(bytes: bytes, latestSending: request.latestSending, sending: sending),
                    length: .known(Int64(bytes.count)))
        }
        if let certificate = request.exposedClientCertificate {
            message.tlsConfiguration = try configuration(showing: certificate)
        }
        let timeout =
            request.answerTimeout.map { TimeAmount.milliseconds(Int64($0 / .milliseconds(1))) }
            ?? HTTPClientEndpointTransport.timeout
        let end = NIODeadline.now() + timeout
        let answer = try await client.execute(message, deadline: end)
        guard answer.history.count <= 1 else { throw ClientRedirectsError() }
        let body = ContentDecoder.decoded(
            try await body(of: answer, until: end), encoding: answer.headers.first(name: "Content-Encoding"),
            limit: HTTPClientEndpointTransport.bodyLimit)
        var response = EndpointResponse(
            status: HTTPResponse.Status(code: Int(answer.status.code)),
            fields: HTTPFields(
                answer.headers.compactMap { field in
                    HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) }
                }),
            body: Array(body.prefix(HTTPClientEndpointTransport.bodyLimit)))
        response.endpoint = request.endpoint
        return response
    }

    /// The body as far as it has come by a moment, or by an error: a new refresh token in it is nowhere else, and the old
    /// one is over.
    ///
    /// - Throws: why nothing has come.
    private func body(of response: HTTPClientResponse, until end: NIODeadline) async throws -> [UInt8] {
        let (received, limit) = (ReceivedBody(), HTTPClientEndpointTransport.bodyLimit)
        do {
            // The client's own deadline is for the head alone: a server that stops or trickles would never be done.
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await chunk in response.body {
                        let count = received.bytes.withLock { bytes in
                            bytes += chunk.readableBytesView
                            return bytes.count
                        }
                        if count >= limit { break }
                    }
                }
                group.addTask {
                    try await Task.sleep(for: .nanoseconds((end - .now()).nanoseconds))
                    throw HTTPClientError.deadlineExceeded
                }
                defer { group.cancelAll() }
                _ = try await group.next()
            }
        } catch {
            guard received.bytes.withLock({ !$0.isEmpty }) else { throw error }
        }
        return received.bytes.withLock { $0 }
    }

    /// How a connection is made on which the client shows a certificate (RFC 8705): the client pools it
    /// apart from those without, or with another one.
    private func configuration(showing pem: [UInt8]) throws -> TLSConfiguration {
        var tls = tls
        do {
            tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(pem).map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: pem, format: .pem))
        } catch {
            throw UnusableCertificate()
        }
        return tls
    }
}

/// The part of an answer's body that has come.
private final class ReceivedBody: Sendable {
    let bytes = Mutex<[UInt8]>([])
}

/// Whether the body of a request has been handed to the connection, so that the server may have received it.
private final class Sending: Sendable {
    let hasBegun = Atomic(false)
}

/// A body that is held back until the connection is established, and then checked once more before it is sent: without
/// its body, a request has no effect.
private struct LastMomentBody: AsyncSequence, Sendable {
    let bytes: [UInt8]
    /// The first moment that is too late.
    let latestSending: ContinuousClock.Instant?
    let sending: Sending

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: [UInt8]?
        let latestSending: ContinuousClock.Instant?
        let sending: Sending

        mutating func next() async throws -> ByteBuffer? {
            guard let bytes = rest else { return nil }
            if let latestSending, ContinuousClock.now >= latestSending { throw TooLate() }
            rest = nil
            sending.hasBegun.store(true, ordering: .releasing)
            return ByteBuffer(bytes: bytes)
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(rest: bytes, latestSending: latestSending, sending: sending)
    }
}
