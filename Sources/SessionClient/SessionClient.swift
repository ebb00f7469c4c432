public import SessionWire
public import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A client of a running service.
///
/// It sends a ``SessionRequest`` over a transport that you choose, and decodes the response:
///
/// ```swift
/// let client = SessionClient(try SessionAddress("http://127.0.0.1:8722"), token: token, over: HTTPClientTransport())
/// let request = DecorateDocument(url: "https://www.example.com/")
/// let answer = try await client.answer(to: .decorate(request, in: "work"))
/// for field in answer.fields { print(field.name) }
/// ```
///
/// A client has no state of its own: use one for many requests, from any task.
public struct SessionClient: Sendable {
    /// The most bytes of an error that are read.
    private static let problemLimit = 1 << 20

    /// Where the service listens.
    public let address: SessionAddress
    private let transport: any SessionTransport
    /// The value of the Authorization field; a function, so that nothing prints it.
    private let exposedCredential: @Sendable () -> String?

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - token: An access token of the service; `nil` on a private socket.
    ///   - transport: The transport that sends the requests.
    public init(_ address: SessionAddress, token: String? = nil, over transport: any SessionTransport) {
        self.address = address
        self.transport = transport
        let credential = token.map { "Bearer \($0)" }
        exposedCredential = { credential }
    }

    /// Sends a request.
    ///
    /// - Returns: The answer.
    /// - Throws: ``SessionClientError``, or `CancellationError`.
    public func answer<Answer: Decodable>(to request: SessionRequest<Answer>) async throws -> Answer {
        var bytes: [UInt8] = []
        do {
            for try await piece in try await response(to: request, nil) { bytes += piece }
        } catch {
            throw unreachable(error)
        }
        return try SessionRequest<Answer>.decode(bytes, from: address)
    }

    /// Sends a request whose answer is empty.
    ///
    /// - Throws: ``SessionClientError``, or `CancellationError`.
    public func send(_ request: SessionRequest<Void>) async throws {
        _ = try await response(to: request, nil)
    }

    /// Sends a request and streams its response.
    ///
    /// - Returns: The bytes of the response. An error while you read them comes from the transport.
    /// - Throws: ``SessionClientError``, or `CancellationError`.
    public func stream(_ request: SessionRequest<SessionBytes>) async throws -> SessionBytes {
        try await response(to: request, nil)
    }

    /// Sends a request with a body of its own, and streams its response.
    ///
    /// - Parameter body: The body; `nil` for the request's own.
    package func stream(_ request: SessionRequest<SessionBytes>, body: SessionBytes?) async throws -> SessionBytes {
        try await response(to: request, body)
    }

    /// Returns the octets of the Cookie field of a request; empty if no cookie is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the request: absolute, http or https.
    ///   - details: What else the cookie rules need; by default, the user navigates to the URL.
    public func cookieString(
        for url: String, in jar: String, _ details: RequestDetails = RequestDetails()
    ) async throws -> Octets {
        try await answer(to: .decorate(DecorateDocument(url: url, details), in: jar)).cookieString
    }

    /// The body of an answer with a status of success.
    private func response<Answer>(
        to request: SessionRequest<Answer>, _ body: SessionBytes?
    ) async throws -> SessionBytes {
        var fields = [(name: "Accept", value: request.accept)]
        let content: TransportRequest.Body
        if let body {
            content = .stream(body)
            fields.append(("Content-Type", "application/octet-stream"))
        } else if let bytes = try request.encodedBody() {
            content = .bytes(bytes)
            fields.append(("Content-Type", "application/json"))
        } else {
            content = .none
        }
        if let host = address.host { fields.append(("Host", host)) }
        if let credential = exposedCredential() { fields.append(("Authorization", credential)) }
        let response: TransportResponse
        do {
            response = try await transport.send(
                TransportRequest(
                    method: request.method, url: address.base + request.target, fields: fields, body: content))
        } catch {
            throw unreachable(error)
        }
        guard !(200..<300).contains(response.status) else { return response.body }
        var problem: [UInt8] = []
        do {
            for try await piece in response.body where problem.count < SessionClient.problemLimit { problem += piece }
        } catch {
            throw unreachable(error)
        }
        throw SessionClientError(problem: problem, from: address)
    }

    private func unreachable(_ error: any Error) -> any Error {
        error is CancellationError || error is SessionClientError
            ? error : SessionClientError(.unreachable, "\(address): \(error)")
    }
}

/// Sends requests of a ``SessionClient`` over HTTP.
///
/// `HTTPClientTransport` in the library `AsyncHTTPClientTransport` conforms. Write another to use a different HTTP
/// client.
public protocol SessionTransport: Sendable {
    /// Sends a request, and returns when the head of the response has come.
    ///
    /// - Throws: An error whose description has no secret, if no response comes.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request as a transport sends it.
public struct TransportRequest: Sendable {
    /// The body of a request.
    public enum Body: Sendable {
        /// No body.
        case none
        /// A body of known length.
        case bytes([UInt8])
        /// A body that ends when the sequence ends.
        case stream(SessionBytes)
    }

    /// The method.
    public let method: String
    /// The URL: `http`, `https`, or `http+unix` with the percent-encoded path of a socket as its host.
    public let url: String
    /// The body. It may contain secrets.
    public let body: Body
    private let fields: @Sendable () -> [(name: String, value: String)]

    init(method: String, url: String, fields: [(name: String, value: String)], body: Body) {
        self.method = method
        self.url = url
        self.fields = { fields }
        self.body = body
    }

    /// The header fields, with the access token: keep them out of logs.
    public var exposedFields: [(name: String, value: String)] { fields() }
}

/// A response as a transport received it.
public struct TransportResponse: Sendable {
    /// The status.
    public let status: Int
    /// The body, as it arrives.
    public let body: SessionBytes

    /// Creates a response.
    public init(status: Int, body: SessionBytes) {
        self.status = status
        self.body = body
    }
}

/// Why a request to the service failed.
public struct SessionClientError: DescribedError, Sendable {
    /// The kind of failure.
    public enum Code: Sendable {
        /// The address is not valid.
        case addressInvalid
        /// The service sent no response, or an incomplete one.
        case unreachable
        /// The service answered with a problem.
        case refused
        /// The response does not belong to this version of the service.
        case incompatible
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence, without secrets.
    public let description: String
    /// The service's problem, with its stable code; `nil` unless the service refused the request.
    public let problem: ProblemReport?
    /// The service's address; `nil` unless the service refused the request.
    package let address: SessionAddress?

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
        problem = nil
        address = nil
    }

    /// The service answered with a problem.
    package init(_ problem: ProblemReport, from address: SessionAddress) {
        code = .refused
        description = "\(address): \(problem.detail)"
        self.problem = problem
        self.address = address
    }

    /// The answer is no service's, or one of another version.
    package init(incompatible address: SessionAddress) {
        self.init(.incompatible, "\(address): this is not a Crumb service, or one of another version")
    }

    /// The body of an answer without a status of success.
    package init(problem bytes: [UInt8], from address: SessionAddress) {
        guard let report = try? JSONDecoder().decode(ProblemReport.self, from: Data(bytes)) else {
            self.init(incompatible: address)
            return
        }
        self.init(report, from: address)
    }
}
