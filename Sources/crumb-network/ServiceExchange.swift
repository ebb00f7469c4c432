import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NetworkHelper

/// Sends a request to a running service: bodies of any length pass through both ways as they come.
enum ServiceExchange {
    /// How long the service may take for an answer: it reads a whole capture, or a whole jar, before it says a word.
    private static let patience = TimeAmount.minutes(10)

    /// Sends a request, and writes the answer to standard output.
    static func run(_ call: ServiceCall, body input: StandardInput) async throws {
        var message = HTTPClientRequest(call.request)
        switch call.body {
        case .none: break
        case .whole(let byteCount): message.body = .stream(input, length: .known(Int64(byteCount)))
        case .streamed: message.body = .stream(input, length: .unknown)
        }
        let response: HTTPClientResponse
        do {
            response = try await HTTPExchange.client.execute(message, timeout: patience)
        } catch {
            return try StandardStreams.write(
                HelperMessage(HelperAnswer.failure(HTTPExchange.reason(error))).bytes)
        }
        try StandardStreams.write(HelperMessage(HelperAnswer(response)).bytes)
        for try await chunk in response.body { try StandardStreams.write(Array(chunk.readableBytesView)) }
    }
}
