import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import NIOCore
import RequestDecoration

/// The examples of docs/decorating.md for AsyncHTTPClient, which are held against it. They are compiled, not run.
enum DocumentationExamples {
    static func exchange(
        _ client: HTTPClient, _ decorator: RequestDecorator, _ request: HTTPClientRequest
    ) async throws -> ByteBuffer {
        let exchange = try await client.exchange(request, by: decorator, timeout: .seconds(30), isBodyRepeatable: true)
        for hop in exchange.hops { print(hop.method, hop.url, hop.status, hop.receipt.decisions.count) }
        let body = try await exchange.payload.body.collect(upTo: 1 << 20)
        return body
    }
}
