public import AsyncHTTPClient
import NIOCore
import NIOHTTP1
public import SessionClient

/// Sends the requests of a ``SessionClient/SessionClient`` with AsyncHTTPClient.
public struct HTTPClientTransport: SessionTransport {
    private let client: HTTPClient
    private let timeout: TimeAmount

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - client: The client, which stays yours to shut down.
    ///   - timeout: How long the head of a response may take. The service reads a whole capture before it answers.
    public init(_ client: HTTPClient = .shared, timeout: Duration = .seconds(600)) {
        self.client = client
        self.timeout = TimeAmount(timeout)
    }

    /// Sends a request.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method)
        for field in request.exposedFields { message.headers.add(name: field.name, value: field.value) }
        switch request.body {
        case .none: break
        case .bytes(let bytes): message.body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let pieces): message.body = HTTPClientTransport.body(pieces)
        }
        let response = try await client.execute(message, timeout: timeout)
        return TransportResponse(
            status: Int(response.status.code), body: response.body.map { Array($0.readableBytesView) })
    }

    private static func body(
        _ pieces: some AsyncSequence<[UInt8], any Error> & Sendable
    ) -> HTTPClientRequest.Body {
        .stream(pieces.map { ByteBuffer(bytes: $0) }, length: .unknown)
    }
}
