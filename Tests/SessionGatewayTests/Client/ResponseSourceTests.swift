import HTTPMessages
import NIOCore
import Synchronization
import TestSupport
import Testing
import WebPrimitives

@testable import SessionGateway

/// Answers with the responses that it was given, each for a path: a third source beside servers and a recording.
private struct Shelf: ResponseSource {
    let responses: [String: String]

    func answer(
        _ pending: inout PendingRequest, of connection: isolated ClientConnection, _ record: inout GatewayRecord
    ) async throws -> Bool? {
        guard pending.request.framing == .none, let text = responses[pending.request.url.path.description],
            let head = try? MessageHead(
                Array("HTTP/1.1 200 OK\r\nSet-Cookie: kept=1; HttpOnly\r\n\r\n".utf8), from: .server),
            let response = try? ForwardedResponse(head, toHead: pending.request.method == "HEAD")
        else { return nil }
        connection.recordWithoutServer(&pending)
        await pending.entry?.respond(response)
        return try await connection.deliver(response, from: Text(rest: [text]), to: pending, &record)
    }

    private struct Text: ResponseBody {
        var rest: [String]
        var isHere: Bool { true }

        mutating func nextPiece(within limit: TimeAmount?) async throws -> BodyReader.Piece {
            rest.popLast().map { .data(ByteBuffer(string: $0)) } ?? .end(trailers: [])
        }
    }
}

@Suite("Sources of responses")
struct ResponseSourceTests {
    @Test("The first source that has a response answers, and its responses are recorded as those of servers are")
    func order() async throws {
        let folder = RecordingFolder()
        let server = try await RecordingServer.start { _ in
            Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthree".utf8)
        }
        let fixture = try GatewayFixture()
        let url = "http://127.0.0.1:\(server.port)"
        var settings = GatewaySetup.forTools
        settings.sources = [Shelf(responses: ["/first": "one"]), Shelf(responses: ["/first": "no", "/second": "two"])]
        settings.recording = try folder.recording("shelf.har", withSecrets: false)
        try await fixture.run(settings) { address in
            let client = try await RawClient.connect(to: address)
            for (path, body) in [
                ("first", "3\r\none\r\n0\r\n\r\n"), ("second", "3\r\ntwo\r\n0\r\n\r\n"), ("third", "three"),
            ] {
                try await client.send("GET \(url)/\(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                let answers = await client.response { $0.hasSuffix(body) }
                // A program gets no HttpOnly cookie.
                #expect(answers.hasSuffix(body) && !answers.contains("kept=1"), "\(answers)")
            }
            client.close()
        }
        #expect(server.requests.withLock { $0.count } == 1)
        let entries = try HARFile(folder.path("shelf.har")).entries
        #expect(entries.map { $0.content["text"] as? String } == ["one", "two", "three"])
    }
}
