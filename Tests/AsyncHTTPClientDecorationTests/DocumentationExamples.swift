import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import NIOCore
import RequestDecoration

/// The example of docs/decorating.md for AsyncHTTPClient, which is held against it. It is compiled, not run.
enum DocumentationExamples {
    static func client(_ decorator: RequestDecorator, _ request: HTTPClientRequest) async throws -> ByteBuffer {
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let exchange = try await client.exchange(request, by: decorator, timeout: .seconds(30))
        let body = try await exchange.payload.body.collect(upTo: 1 << 20)
        return body
    }
}
