import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import NetworkHelper

/// Sends a request to a running service: bodies of any length pass through both ways as they come.
enum ServiceExchange {
    /// How long the service may take for an answer: it reads a whole capture, or a whole jar, before it says a word.
    private static let patience = TimeAmount.minutes(10)

    /// How long a stream of events may pause: several of the service's signs of life.
    private static let streamPause = TimeAmount.seconds(60)

    /// Sends a request, and writes the answer to standard output.
    static func run(_ call: ServiceCall, body input: StandardInput) async throws {
        var authorities: [NIOSSLCertificate] = []
        if let text = call.authorities {
            authorities = NetworkSettings.certificates(inPEM: Array(text.utf8))
            guard !authorities.isEmpty else {
                return try fail(
                    NetworkSettingsError("the certificates of `--service-ca` cannot be read; check the file"))
            }
        }
        let isStream = call.request.fields.contains { $0.name == "Accept" && $0.value == "text/event-stream" }
        let settings = NetworkSettings(environment: ProcessInfo.processInfo.environment)
        let made: (client: HTTPClient, proxy: Proxy?)
        do {
            let route = try settings.route(to: call.request.url)
            let configuration = try settings.configuration(
                of: route, readTimeout: isStream ? streamPause : patience, trusting: authorities)
            made = (NetworkClients.makeClient(configuration), route.proxy)
        } catch {
            return try fail(error)
        }
        do {
            try await run(call, body: input, by: made.client, through: made.proxy)
        } catch {
            try? await made.client.shutdown()
            throw error
        }
        try await made.client.shutdown()
    }

    private static func run(
        _ call: ServiceCall, body input: StandardInput, by client: HTTPClient, through proxy: Proxy?
    ) async throws {
        var message = HTTPClientRequest(call.request)
        switch call.body {
        case .none: break
        case .whole(let byteCount): message.body = .stream(input, length: .known(Int64(byteCount)))
        case .streamed: message.body = .stream(input, length: .unknown)
        }
        let response: HTTPClientResponse
        do {
            response = try await client.execute(message, timeout: patience)
        } catch {
            return try fail(error, by: proxy)
        }
        try StandardStreams.write(HelperMessage(HelperAnswer(response)).bytes)
        for try await chunk in response.body { try StandardStreams.write(Array(chunk.readableBytesView)) }
    }

    /// Answers why there is no answer.
    private static func fail(_ error: any Error, by proxy: Proxy? = nil) throws {
        let answer = HelperAnswer(error, by: proxy, advice: "add its authority with `--service-ca`")
        try StandardStreams.write(HelperMessage(answer).bytes)
    }
}
