import HTTPMessages
import NIOCore
import NIOHPACK
import NIOHTTP2
import Synchronization
import Testing

@testable import SessionGateway

@Suite("Clients that speak HTTP/2", .timeLimit(.minutes(10)))
struct HTTP2ClientTests {
    @Test(
        "A malformed request ends alone, and the requests beside it go on",
        arguments: [
            [("X-A", "1")], [("te", "gzip")], [("connection", "close")], [(":method", "GET")], [(":other", "1")],
            [("content-length", "1")], [("content-length", "x")], [("a b", "1")], [("host", "other.example")],
        ] as [[(String, String)]])
    func malformed(fields: [(String, String)]) async throws {
        let server = try await HTTP2Server.start { request, _ in
            request.isComplete ? [.headers([":status": "200"])] : nil
        }
        try await server.runWithClient { client, host in
            let request = try #require(await client.open().stream)
            try await request.write(
                ByteBuffer(string: "POST / HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 5\r\n\r\n"))
            await server.requested()
            let other = try #require(await client.open().stream)
            var headers: HPACKHeaders = [":method": "GET", ":scheme": "https", ":authority": host, ":path": "/"]
            for (name, value) in fields { headers.add(name: name, value: value) }
            try await other.channel.pipeline.context(handlerType: HTTP2RequestCodec.self).flatMap { [headers] codec in
                codec.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.headers(.init(headers: headers, endStream: true))))
            }.get()
            #expect((try? await other.head(idle: nil, within: nil)) == nil)
            try await request.write(ByteBuffer(string: "hello"))
            let response = String(decoding: try await request.head(idle: nil, within: nil) ?? [], as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 200 "), "\(response)")
        }
        #expect(server.requests.withLock { $0.count } == 1)
    }
}
