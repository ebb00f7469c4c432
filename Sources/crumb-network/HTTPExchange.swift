import AsyncHTTPClient
import CookieModel
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NetworkHelper
import Synchronization

/// Sends requests to authorization servers with AsyncHTTPClient: no redirects, bounded in time and size.
struct HTTPExchange {
    /// How long one request may take, with all of its answer, unless it says otherwise.
    private static let timeout = TimeAmount.seconds(30)

    /// How many bytes of a body are passed on.
    private let bodyLimit: Int
    private let clients: NetworkClients
    /// Whether somebody still waits for the answer.
    private let isAwaited: @Sendable () -> Bool

    init(bodyLimit: Int, by clients: NetworkClients, isAwaited: @escaping @Sendable () -> Bool = { true }) {
        self.bodyLimit = bodyLimit
        self.clients = clients
        self.isAwaited = isAwaited
    }

    /// The answer to a request, or why there is none.
    func answer(_ request: HelperMessage<ExchangeQuestion>) async -> HelperMessage<HelperAnswer> {
        do {
            let (client, proxy) = try clients.client(for: request.head.request.url)
            do {
                return try await exchange(request, by: client)
            } catch {
                return HelperMessage(HelperAnswer(error, by: proxy))
            }
        } catch {
            return HelperMessage(HelperAnswer(error))
        }
    }

    private func exchange(
        _ question: HelperMessage<ExchangeQuestion>, by client: HTTPClient
    ) async throws -> HelperMessage<HelperAnswer> {
        var message = HTTPClientRequest(question.head.request)
        // Without this field any encoding would do (RFC 9110, section 12.5.3).
        if !message.headers.contains(name: "Accept-Encoding") {
            message.headers.add(name: "Accept-Encoding", value: "identity")
        }
        if question.head.request.method != "GET" {
            message.body =
                question.body.isEmpty
                ? .bytes(ByteBuffer())
                : .stream(
                    LastMomentBody(bytes: question.body, mayBeSent: mayBeSent(question.head)),
                    length: .known(Int64(question.body.count)))
        }
        if let certificate = question.head.clientCertificate {
            message.tlsConfiguration = try configuration(showing: certificate)
        }
        let timeout = question.head.timeoutMilliseconds.map { TimeAmount.milliseconds($0) } ?? HTTPExchange.timeout
        let end = NIODeadline.now() + timeout
        let response = try await client.execute(message, deadline: end)
        var body = try await self.body(of: response, until: end)
        let encoding = response.headers.first(name: "Content-Encoding")
        body = ContentDecoder.decoded(body, encoding: encoding, limit: bodyLimit)
        return HelperMessage(HelperAnswer(response), body: Array(body.prefix(bodyLimit)))
    }

    /// The body as far as it has come by a moment, or by an error: a new refresh token in it is nowhere else, and the old
    /// one is over.
    ///
    /// - Throws: why nothing has come.
    private func body(of response: HTTPClientResponse, until end: NIODeadline) async throws -> [UInt8] {
        let (received, limit) = (ReceivedBody(), bodyLimit)
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
        var tls = try clients.settings.tlsConfiguration(trusting: [])
        do {
            tls.certificateChain = try NIOSSLCertificate.fromPEMBytes(pem).map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: pem, format: .pem))
        } catch {
            throw UnusableCertificate()
        }
        return tls
    }

    /// Asked when the connection is there and the body is about to be written.
    private func mayBeSent(_ question: ExchangeQuestion) -> @Sendable () -> Bool {
        { [isAwaited] in
            isAwaited() && question.latestSending.map { Timestamp.now.microseconds < $0 } ?? true
        }
    }
}

/// The part of an answer's body that has come.
private final class ReceivedBody: Sendable {
    let bytes = Mutex<[UInt8]>([])
}

/// A body that is held back until the connection is there, and then looked at once more whether it may still go: without
/// its body, a request is none.
private struct LastMomentBody: AsyncSequence, Sendable {
    let bytes: [UInt8]
    let mayBeSent: @Sendable () -> Bool

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: [UInt8]?
        let mayBeSent: @Sendable () -> Bool

        mutating func next() async throws -> ByteBuffer? {
            guard let bytes = rest else { return nil }
            guard mayBeSent() else { throw TooLate() }
            rest = nil
            return ByteBuffer(bytes: bytes)
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(rest: bytes, mayBeSent: mayBeSent)
    }
}

/// The client's certificate or its key cannot be read.
struct UnusableCertificate: Error {}

/// The time to send a request was over when the connection was there, or nobody waits for the answer.
struct TooLate: Error {}

extension HTTPClientRequest {
    /// A request without its body.
    init(_ request: HelperRequest) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.method)
        for field in request.fields { headers.add(name: field.name, value: field.value) }
    }
}

extension HelperAnswer {
    /// Why there is no answer.
    ///
    /// - Parameters:
    ///   - proxy: The proxy that the connection was to be made through.
    ///   - advice: What to do if the certificate is not trusted; `nil` for the advice for an authorization server.
    init(_ error: any Error, by proxy: Proxy? = nil, advice: String? = nil) {
        if let error = error as? NetworkSettingsError {
            self = .settingsInvalid(error.reason)
        } else if let advice {
            self = .failure(HTTPExchange.reason(error, by: proxy, advice: advice))
        } else {
            self = .failure(HTTPExchange.reason(error, by: proxy))
        }
    }

    /// An answer without its body.
    init(_ response: HTTPClientResponse) {
        self = .response(
            status: Int(response.status.code),
            fields: response.headers.map { HelperRequest.Field(name: $0.name, value: $0.value) })
    }
}

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
            return "the proxy \(proxy.address) requires a user name and password, or different ones; name a file with "
                + "`--proxy-credentials-file`"
        case let error as HTTPClientError where error == .invalidProxyResponse:
            return
                "the proxy \(proxy.address) does not allow requests to it; check the proxy's rules, and NO_PROXY"
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
        case is CancellationError: "the request was cancelled"
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
        return "its name cannot be resolved; check the name and the network"
    }

    private static func reason(_ number: CInt) -> String {
        switch number {
        case ECONNREFUSED:
            "no server listens there (connection refused); check the address, and whether the server runs"
        case ENOENT: "the socket does not exist; check the address, and whether the server runs"
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
