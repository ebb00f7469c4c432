import Foundation
import SessionClient
import Synchronization
import Testing
import WebPrimitives

@Suite("The client of the service")
struct SessionClientTests {
    /// Answers every request in the same way, and keeps the last one.
    private final class StubTransport: SessionTransport {
        private struct Unreachable: Error, CustomStringConvertible {
            let description = "connection refused"
        }

        private let status: Int?
        private let pieces: [String]
        private let last = Mutex<TransportRequest?>(nil)

        var request: TransportRequest? { last.withLock { $0 } }

        /// - Parameter status: The status of the response; `nil` if no response comes.
        init(status: Int?, _ pieces: String...) {
            self.status = status
            self.pieces = pieces
        }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            last.withLock { $0 = request }
            guard let status else { throw Unreachable() }
            let pieces = pieces
            let body = AsyncThrowingStream<[UInt8], any Error> { continuation in
                for piece in pieces { continuation.yield(Array(piece.utf8)) }
                continuation.finish()
            }
            return TransportResponse(status: status, body: body)
        }
    }

    private func client(_ transport: StubTransport, _ address: String = "http://127.0.0.1:8722") throws -> SessionClient
    {
        SessionClient(try SessionAddress(address), token: "token-secret", over: transport)
    }

    @Test("A request has the document, the access token and the accepted types; the response may arrive in pieces")
    func answered() async throws {
        let transport = StubTransport(
            status: 200, #"{"excluded":[],"fields":[{"name":"cookie","#, #""value":"sid=1"}],"included":["sid"]}"#)
        let answer = try await client(transport).answer(
            to: .decorate(DecorateDocument(url: "https://a.test/"), in: "my jar"))
        #expect(answer.cookieString == "sid=1" && answer.included == ["sid"])
        let request = try #require(transport.request)
        #expect(request.method == "POST" && request.url == "http://127.0.0.1:8722/v1/jars/my%20jar/decorate")
        #expect(
            request.exposedFields.map { "\($0.name): \($0.value)" } == [
                "Accept: application/json", "Content-Type: application/json", "Authorization: Bearer token-secret",
            ])
        guard case .bytes(let body) = request.body else {
            Issue.record("The request has no body")
            return
        }
        #expect(String(decoding: body, as: UTF8.self).replacing("\\/", with: "/") == #"{"url":"https://a.test/"}"#)
    }

    @Test("A socket's path is percent-encoded, and its requests name a host")
    func socket() async throws {
        let transport = StubTransport(status: 204)
        try await client(transport, "unix:/run/a b/crumb.sock").send(.cancelLogin("../x"))
        let request = try #require(transport.request)
        #expect(request.url == "http+unix://%2Frun%2Fa%20b%2Fcrumb.sock/v1/logins/..%2Fx")
        #expect(request.exposedFields.contains { $0 == ("Host", "localhost") })
    }

    @Test("A problem keeps its stable code")
    func refused() async throws {
        let transport = StubTransport(
            status: 404,
            #"{"type":"about:blank","title":"Not Found","status":404,"detail":"x: no such jar","code":"jar-not-found"}"#
        )
        let error = await #expect(throws: SessionClientError.self) {
            try await client(transport).answer(to: .jar("x"))
        }
        #expect(error?.code == .refused && error?.problem?.code == "jar-not-found")
        #expect(error?.description == "http://127.0.0.1:8722: x: no such jar")
    }

    @Test(
        "A server that is not a service, and one that does not respond, are different errors",
        arguments: [(200, .incompatible), (502, .incompatible), (nil, .unreachable)]
            as [(Int?, SessionClientError.Code)])
    func failed(status: Int?, code: SessionClientError.Code) async throws {
        let transport = StubTransport(status: status, "<html>")
        let error = await #expect(throws: SessionClientError.self) {
            try await client(transport).answer(to: .tokens())
        }
        #expect(error?.code == code)
    }

    @Test("Neither a client nor its requests print the access token")
    func secrets() async throws {
        let transport = StubTransport(status: 200, "{}")
        let client = try client(transport)
        _ = try? await client.answer(to: .tokens())
        let request = try #require(transport.request)
        for text in ["\(client)", String(reflecting: client), "\(request)", String(reflecting: request)] {
            #expect(!text.contains("token-secret"))
        }
        var dumped = ""
        dump(client, to: &dumped)
        dump(request, to: &dumped)
        #expect(!dumped.contains("token-secret"))
    }

    @Test(
        "An address that sends sessions unencrypted to another machine, or is none, is rejected",
        arguments: ["http://a.test", "ftp://a.test", "/run/crumb.sock", "unix:crumb.sock", "https://u:p@a.test", "a b"])
    func address(text: String) {
        let error = #expect(throws: SessionClientError.self) { try SessionAddress(text) }
        #expect(error?.code == .addressInvalid)
    }
}
