import AsyncHTTPClient
import CookieModel
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OAuth2
import Platform
import SessionGateway
import Synchronization

/// Sends requests to authorization servers with AsyncHTTPClient: no redirects, bounded in time and size.
struct HTTPExchange: EndpointTransport {
    /// How long one request may take, with all of its answer, unless it says otherwise.
    private static let timeout = TimeAmount.seconds(30)
    /// How many bytes of a body are passed on.
    private static let bodyLimit = EndpointResponse.maximumBodySize + 1

    private let clients: @Sendable () -> NetworkClients

    /// - Parameter clients: Gives the clients when there is a request to send.
    init(by clients: @escaping @Sendable () -> NetworkClients) {
        self.clients = clients
    }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        var proxy: Proxy?
        let sending = Sending()
        do {
            let clients = clients()
            let made = try clients.client(for: request.endpoint.description)
            proxy = made.proxy
            return try await exchange(request, by: made.client, clients.settings, sending)
        } catch {
            if let error = error as? NetworkSettingsError { throw OAuth2Error(unusableSettings: error.reason) }
            let reason = "\(request.endpoint.authority): \(HTTPExchange.reason(error, by: proxy))"
            // Only a refresh has a last moment.
            let isRefresh = request.latestSending != nil && sending.hasBegun.load(ordering: .acquiring)
            throw isRefresh ? OAuth2Error(unansweredRefresh: reason) : OAuth2Error(unreachable: reason)
        }
    }

    private func exchange(
        _ request: EndpointRequest, by client: HTTPClient, _ settings: NetworkSettings, _ sending: Sending
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
            message.tlsConfiguration = try HTTPExchange.configuration(showing: certificate, settings)
        }
        let timeout =
            request.answerTimeout.map { TimeAmount.milliseconds(Int64($0 / .milliseconds(1))) } ?? HTTPExchange.timeout
        let end = NIODeadline.now() + timeout
        let answer = try await client.execute(message, deadline: end)
        let body = ContentDecoder.decoded(
            try await body(of: answer, until: end), encoding: answer.headers.first(name: "Content-Encoding"),
            limit: HTTPExchange.bodyLimit)
        var response = EndpointResponse(
            status: HTTPResponse.Status(code: Int(answer.status.code)),
            fields: HTTPFields(
                answer.headers.compactMap { field in
                    HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) }
                }),
            body: Array(body.prefix(HTTPExchange.bodyLimit)))
        response.endpoint = request.endpoint
        return response
    }

    /// The body as far as it has come by a moment, or by an error: a new refresh token in it is nowhere else, and the old
    /// one is over.
    ///
    /// - Throws: why nothing has come.
    private func body(of response: HTTPClientResponse, until end: NIODeadline) async throws -> [UInt8] {
        let (received, limit) = (ReceivedBody(), HTTPExchange.bodyLimit)
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
    private static func configuration(showing pem: [UInt8], _ settings: NetworkSettings) throws -> TLSConfiguration {
        let tls = try settings.tlsConfiguration(trusting: [])
        do {
            return try tls.showing(pem)
        } catch {
            throw UnusableCertificate()
        }
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

/// The client's certificate or its key cannot be read.
struct UnusableCertificate: Error {}

/// The time to send a request was over when the connection was there.
struct TooLate: Error {}

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
        case is NIOSSLError, is NIOSSLExtraError: reason(TLSFailure(error), advice)
        case is UnusableCertificate: "the client's certificate or its key cannot be read; log in with other files"
        case is CancellationError: "the request was cancelled"
        case is TooLate: "making the connection took too long, and nothing was sent"
        case is HTTPParserError: "its answer is not HTTP; check the scheme, the host and the port"
        case is HTTPClientError: "the connection broke, or its answer is not HTTP; check the address, and try again"
        default: "the connection broke; check the address, and try again"
        }
    }

    private static func reason(_ error: NIOConnectionError) -> String {
        // A name has several addresses: the failure of one is as informative as those of the others.
        let failures = error.connectionErrors.map(\.error)
        if let failure = failures.lazy.compactMap({ $0 as? IOError }).first { return reason(failure.errnoCode) }
        if failures.contains(where: { $0 is ChannelError }) { return "it did not answer in time" }
        return "its name cannot be resolved; check the name and the network"
    }

    private static func reason(_ number: CInt) -> String {
        switch number {
        case ECONNREFUSED:
            "no server listens there (connection refused); check the address, and whether the server runs"
        case ENOENT: "the socket does not exist; check the address, and whether the server runs"
        default: "the connection failed (\(SystemError(number).message))"
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
