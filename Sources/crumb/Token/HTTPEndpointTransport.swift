import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import OAuth2

/// Sends requests to authorization servers with AsyncHTTPClient: no redirects, no proxy, bounded in time and size.
struct HTTPEndpointTransport: EndpointTransport {
    /// Made with the first request: a command that needs none starts no threads.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(10), read: .seconds(20))
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }()

    /// How long one request may take.
    private static let timeout = TimeAmount.seconds(30)

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        do {
            return try await exchange(request)
        } catch {
            throw OAuth2Error(unreachable: "\(request.endpoint.authority): \(HTTPEndpointTransport.reason(error))")
        }
    }

    private func exchange(_ request: EndpointRequest) async throws -> EndpointResponse {
        let head = request.exposedHead
        var message = HTTPClientRequest(url: request.endpoint.description)
        message.method = HTTPMethod(rawValue: head.method.rawValue)
        for field in head.headerFields { message.headers.add(name: field.name.rawName, value: field.value) }
        if head.method == .post { message.body = .bytes(ByteBuffer(bytes: request.exposedBody)) }
        let response = try await HTTPEndpointTransport.client.execute(message, timeout: HTTPEndpointTransport.timeout)
        var body: [UInt8] = []
        for try await chunk in response.body {
            body += chunk.readableBytesView
            if body.count > EndpointResponse.maximumBodySize { break }
        }
        var fields = HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        return EndpointResponse(
            status: HTTPResponse.Status(code: Int(response.status.code)), fields: fields,
            body: Array(body.prefix(EndpointResponse.maximumBodySize + 1)))
    }

    /// What a user can make something of; errors of the client may quote what was sent.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error == .connectTimeout || error == .readTimeout:
            "it did not answer in time"
        case let error as HTTPClientError where error == .deadlineExceeded: "it did not answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "it closed the connection without an answer"
        case is NIOConnectionError: "no connection can be made; check the name, the port and the network"
        case is CancellationError: "the request was given up"
        default: "the connection failed (\(type(of: error)))"
        }
    }
}
