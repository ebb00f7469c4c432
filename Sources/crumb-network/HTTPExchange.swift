import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NetworkHelper

/// Sends requests to authorization servers with AsyncHTTPClient: no redirects, no proxy, bounded in time and size.
struct HTTPExchange {
    /// Made with the first request: what needs none starts no threads.
    static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(10), read: .seconds(20))
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
    }()

    /// How long one request may take.
    private static let timeout = TimeAmount.seconds(30)

    /// How many bytes of a body are passed on.
    let bodyLimit: Int

    /// The answer to a request, or why there is none.
    func answer(_ request: HelperMessage<HelperRequest>) async -> HelperMessage<HelperAnswer> {
        do {
            return try await exchange(request)
        } catch {
            return HelperMessage(.failure(HTTPExchange.reason(error)))
        }
    }

    private func exchange(_ request: HelperMessage<HelperRequest>) async throws -> HelperMessage<HelperAnswer> {
        var message = HTTPClientRequest(request.head)
        if request.head.method != "GET" { message.body = .bytes(ByteBuffer(bytes: request.body)) }
        let response = try await HTTPExchange.client.execute(message, timeout: HTTPExchange.timeout)
        var body: [UInt8] = []
        do {
            for try await chunk in response.body {
                body += chunk.readableBytesView
                if body.count >= bodyLimit { break }
            }
        } catch {
            // What has come counts: a new refresh token among it is nowhere else, and the old one is over.
            if body.isEmpty { throw error }
        }
        return HelperMessage(HelperAnswer(response), body: Array(body.prefix(bodyLimit)))
    }

    /// What a user can make something of; errors of the client may quote what was sent.
    static func reason(_ error: any Error) -> String {
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

extension HTTPClientRequest {
    /// A request without its body.
    init(_ request: HelperRequest) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.method)
        for field in request.fields { headers.add(name: field.name, value: field.value) }
    }
}

extension HelperAnswer {
    /// An answer without its body.
    init(_ response: HTTPClientResponse) {
        self = .response(
            status: Int(response.status.code),
            fields: response.headers.map { HelperRequest.Field(name: $0.name, value: $0.value) })
    }
}
