import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import Dispatch
import NIOCore
import NIOHTTP1
import RequestDecoration
import SessionStore
import TestSupport
import Testing

@Suite("AsyncHTTPClient's execute, with a jar")
struct ExecuteTests {
    private func withClient<Result>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        do {
            let result = try await body(client)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private static let octets = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) }

    private func upload(to url: String, _ body: HTTPClientRequest.Body) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Authorization", value: "Bearer own")
        request.body = body
        return request
    }

    @Test("A chain is followed with the cookies that are set in between; a body of 3 MB goes along, Authorization not")
    func chain() async throws {
        let other = try LoopbackServer(address: "127.0.0.2") { request in
            request.target == "/3"
                ? LoopbackServer.Response(302, setCookie: ["b=2"], location: "/4")
                : LoopbackServer.Response(body: "end")
        }
        let place = "http://127.0.0.2:\(other.port)/3"
        let server = try LoopbackServer { request in
            request.target == "/1"
                ? LoopbackServer.Response(307, setCookie: ["a=1"], location: "/2")
                : LoopbackServer.Response(308, location: place)
        }
        let jar = try await SessionDatabase.inMemory().jar()
        let body = try await withClient { client in
            let request = upload(
                to: "http://127.0.0.1:\(server.port)/1", .bytes(ByteBuffer(bytes: ExecuteTests.octets)))
            let response = try await client.execute(request, jar: jar)
            #expect(response.status == .ok)
            return String(buffer: try await response.body.collect(upTo: 100))
        }
        #expect(body == "end")
        let requests = server.requests + other.requests
        #expect(requests.map { "\($0.method) \($0.target)" } == ["POST /1", "POST /2", "POST /3", "GET /4"])
        #expect(requests.map { $0.body == ExecuteTests.octets } == [true, true, true, false])
        #expect(requests.map { $0.text("authorization") } == [["Bearer own"], ["Bearer own"], [], []])
        #expect(requests.map { $0.text("cookie") } == [[], ["a=1"], [], ["b=2"]])
    }

    /// Bodies, and whether AsyncHTTPClient can send them again.
    enum Body: CaseIterable {
        case buffer, array, lazySequence, stream, bytesOfStream

        var isRepeatable: Bool { ![Body.lazySequence, .stream, .bytesOfStream].contains(self) }

        private func stream<Element: Sendable>(of elements: [Element]) -> AsyncStream<Element> {
            AsyncStream { continuation in
                for element in elements { continuation.yield(element) }
                continuation.finish()
            }
        }

        func make() -> HTTPClientRequest.Body {
            switch self {
            case .buffer: .bytes(ByteBuffer(string: "payload"))
            case .array: .bytes(Array("payload".utf8))
            case .lazySequence: .bytes(sequence(first: 0x61) { $0 < 0x67 ? $0 + 1 : nil }, length: .known(Int64(7)))
            case .stream: .stream(stream(of: [ByteBuffer(string: "payload")]), length: .known(Int64(7)))
            case .bytesOfStream: .stream(stream(of: Array("payload".utf8)), length: .unknown)
            }
        }
    }

    @Test("A body in memory is sent again, and a stream is not", arguments: Body.allCases)
    func bodies(_ body: Body) async throws {
        let server = try LoopbackServer { request in
            request.target == "/1" ? LoopbackServer.Response(307, location: "/2") : LoopbackServer.Response()
        }
        let jar = try await SessionDatabase.inMemory().jar()
        let request = upload(to: "http://127.0.0.1:\(server.port)/1", body.make())
        try await withClient { client in
            if body.isRepeatable {
                _ = try await client.execute(request, jar: jar)
                #expect(
                    server.requests.map(\.target) == ["/1", "/2"] && server.requests[0].body == server.requests[1].body)
            } else {
                let error = await #expect(throws: RedirectError.self) { try await client.execute(request, jar: jar) }
                #expect(error?.code == .bodyNotRepeatable && server.requests.map(\.target) == ["/1"])
            }
            // The long form does as the caller says.
            guard body == .lazySequence else { return }
            _ = try await client.exchange(
                request, by: RequestDecorator(jar: jar), timeout: .seconds(600), isBodyRepeatable: true)
            #expect(server.requests.map(\.target) == ["/1", "/1", "/2"])
            #expect(server.requests.allSatisfy { $0.body == Array("abcdefg".utf8) })
        }
    }

    @Test("A cancelled task cancels its request")
    func cancellation() async throws {
        let (arrivals, continuation) = AsyncStream<Void>.makeStream()
        let isOver = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            continuation.yield()
            isOver.wait()
            return LoopbackServer.Response()
        }
        let jar = try await SessionDatabase.inMemory().jar()
        try await withClient { client in
            let task = Task {
                try await client.execute(HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/"), jar: jar).status
            }
            for await _ in arrivals { break }
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            isOver.signal()
        }
    }
}
