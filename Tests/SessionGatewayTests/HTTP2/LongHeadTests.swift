import CookieModel
import HTTPMessages
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import SessionGateway

@Suite("Heads that are longer than a frame of HTTP/2", .timeLimit(.minutes(10)))
struct LongHeadTests {
    private static let value = String(repeating: "v", count: 4000)

    private static func headers(_ first: HPACKHeaders, length: Int) -> HPACKHeaders {
        var headers = first
        for number in 0..<(length / 4000) { headers.add(name: "x-\(number)", value: value) }
        return headers
    }

    /// A head as HTTP/1.1 has it, of about that length.
    private static func head(_ line: String, _ host: String, length: Int) -> ByteBuffer {
        let fields = (0..<(length / 4000)).map { "X-\($0): \(value)\r\n" }.joined()
        return ByteBuffer(string: "\(line) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n")
    }

    private static func isWhole(_ head: String, length: Int) -> Bool {
        let lines = head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("x-") }
        return lines.count == length / 4000 && lines.allSatisfy { $0.hasSuffix(": \(value)") }
    }

    private static func answer(of stream: ByteStream) async throws -> String {
        String(decoding: try await stream.head(idle: nil, within: nil) ?? [], as: UTF8.self)
    }

    @Test("Long heads pass from client to server, and back", arguments: [20_000, 200_000])
    func pass(length: Int) async throws {
        let server = try await HTTP2Server.start(sendingLongHeads: true) { request, _ in
            request.isComplete ? [.headers(Self.headers([":status": "200"], length: length))] : nil
        }
        try await server.runWithClient { client, host in
            let request = try #require(await client.open().stream)
            try await request.write(Self.head("GET /", host, length: length))
            #expect(try await Self.answer(of: request).hasPrefix("HTTP/1.1 200 "))
            let response = try #require(await client.open().stream)
            try await response.write(Self.head("GET /", host, length: 0))
            #expect(Self.isWhole(try await Self.answer(of: response), length: length))
        }
        let requests = server.requests.withLock { $0 }
        #expect(requests.map(\.isHTTP1) == [true, false])
        #expect(Self.isWhole(requests.first?.lines.joined(separator: "\r\n") ?? "", length: length))
    }

    @Test("A head that is too long ends only its own exchange", arguments: [true, false])
    func tooLong(isRequest: Bool) async throws {
        let server = try await HTTP2Server.start(sendingLongHeads: true) { request, _ in
            request.headers.first(name: ":path") == "/long"
                ? [.headers(Self.headers([":status": "200"], length: 300_000))]
                : [.headers([":status": "200", "content-length": "5"], ends: false), .mirror]
        }
        try await server.runWithClient { client, host in
            let other = try #require(await client.open().stream)
            try await other.write(
                ByteBuffer(string: "POST / HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 5\r\n\r\n"))
            #expect(try await Self.answer(of: other).hasPrefix("HTTP/1.1 200 "))
            let stream = try #require(await client.open().stream)
            try await stream.write(Self.head("GET /long", host, length: isRequest ? 300_000 : 0))
            let answer = try await Self.answer(of: stream)
            #expect(answer.hasPrefix("HTTP/1.1 \(isRequest ? 431 : 502) "), "\(answer)")
            try await other.write(ByteBuffer(string: "hello"))
            await other.beginBody(.length(5))
            guard case .data(let octets) = try await other.nextPiece(within: nil) else {
                Issue.record("no body")
                return
            }
            #expect(String(buffer: octets) == "hello")
        }
    }
}
