import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@testable import SessionService

@Suite("The monitor of a connection")
struct ConnectionMonitorTests {
    /// A connection whose requests are collected and not answered.
    private final class Connection {
        let channel = EmbeddedChannel()
        var limits = ServiceLimits()

        init(isRefused: Bool = false, _ change: (inout ServiceLimits) -> Void = { _ in }) throws {
            change(&limits)
            let monitor = ConnectionMonitor(limits: limits, isRefused: isRefused, loop: channel.embeddedEventLoop)
            try channel.pipeline.syncOperations.addHandler(ByteHandler(monitor))
            var decoder = NIOHTTPDecoderLimitConfiguration()
            decoder.maxHeaderFieldSize = limits.headerBytes
            decoder.maxHeaderListSize = limits.headerBytes
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: HTTPResponseEncoder.Configuration(), withDecoderLimitConfiguration: decoder)
            try channel.pipeline.syncOperations.addHandler(RequestHeadHandler(monitor))
            try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try channel.pipeline.syncOperations.addHandler(MessageHandler(monitor))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func send(_ text: String) throws {
            try channel.writeInbound(ByteBuffer(string: text))
        }

        /// The requests that got through, by path.
        func requests() throws -> [String] {
            var paths: [String] = []
            while let part = try channel.readInbound(as: HTTPRequestPart.self) {
                if case .head(let head) = part { paths.append(head.path ?? "") }
            }
            return paths
        }

        func answer(_ status: HTTPResponse.Status = .ok) throws {
            let head = HTTPResponse(status: status, headerFields: [.contentLength: "0"])
            try channel.writeOutbound(HTTPResponsePart.head(head))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
        }

        func drain() {
            channel.pipeline.fireUserInboundEventTriggered(MessageHandler.Drain())
        }

        /// Everything that was written.
        func written() throws -> String {
            var text = ""
            while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
            return text.replacing("\r\nConnection: ", with: "\r\nconnection: ")
                .replacing("\r\nRetry-After: ", with: "\r\nretry-after: ")
        }

        func wait(seconds: Int64) {
            channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
        }
    }

    private static let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("A head that arrives too slowly is answered with 408, and the connection is closed")
    func slowLoris() throws {
        let connection = try Connection()
        try connection.send("GET / HTTP/1.1\r\n")
        for _ in 0..<15 {
            connection.wait(seconds: 1)
            try? connection.send("X: y\r\n")
        }
        let text = try connection.written()
        #expect(text.hasPrefix("HTTP/1.1 408 ") && text.contains("connection: close"), "\(text)")
        #expect(text.contains(#""code":"request-late""#))
        connection.wait(seconds: 3)
        #expect(!connection.channel.isActive)
    }

    @Test("A connection without a request is closed without a response")
    func idle() throws {
        let connection = try Connection { $0.idleSeconds = 20 }
        connection.wait(seconds: 19)
        #expect(connection.channel.isActive)
        connection.wait(seconds: 10)
        #expect(try !connection.channel.isActive && connection.written().isEmpty)
    }

    @Test(
        "Bytes that are not a request are answered with a problem",
        arguments: [
            ("GARBAGE\r\n\r\n", 400), ("G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("\u{16}\u{3}\u{1} / x\r\n\r\n", 400),
            // A method, although none that is known here (RFC 9110, section 15.6.2).
            ("FROBNICATE / HTTP/1.1\r\nHost: x\r\n\r\n", 501), ("get / HTTP/1.1\r\nHost: x\r\n\r\n", 501),
            ("GETX /v1/jars HTTP/1.1\r\nHost: x\r\n\r\n", 501),
            // More than any reader waits for.
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: x\r\ncontent-length:99999999999999999999999 \r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999x\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 0x10\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
            // RFC 9112, section 6.1: any coding but one that the service undoes.
            ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked;q=1, chunked\r\n\r\n0\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: , chunked\r\n\r\n0\r\n\r\n", 501),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: \u{B}chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n", 431),
            (
                "GET / HTTP/1.1\r\n" + (0..<4000).map { "X-\($0): 0123456789\r\n" }.joined() + "\r\n", 431
            ),
        ])
    func malformed(text: String, status: Int) throws {
        let connection = try Connection()
        try connection.send(text)
        #expect(try connection.requests().isEmpty)
        let answer = try connection.written()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains("application/problem+json"), "\(answer)")
        connection.wait(seconds: 3)
        #expect(!connection.channel.isActive)
    }

    @Test(
        "The connection ends after a request that asks for it (RFC 9112, section 9.3)",
        arguments: [
            ("HTTP/1.1", "", false), ("HTTP/1.1", "Connection: keep-alive", false),
            ("HTTP/1.1", "Connection: close", true), ("HTTP/1.1", "Connection: TE, Close", true),
            ("HTTP/1.0", "", true), ("HTTP/1.0", "Connection: close", true),
            ("HTTP/1.0", "Connection: keep-alive", false),
        ])
    func persistence(version: String, field: String, isLast: Bool) throws {
        let connection = try Connection()
        try connection.send(ConnectionMonitorTests.request)
        try connection.send("GET /b \(version)\r\nHost: x\r\n\(field.isEmpty ? "" : field + "\r\n")\r\n")
        #expect(try connection.requests() == ["/a", "/b"])
        // The one before is not the last one.
        try connection.answer()
        #expect(try !connection.written().contains("connection: close"))
        try connection.answer()
        #expect(try connection.written().contains("connection: close") == isLast)
        connection.wait(seconds: 3)
        #expect(connection.channel.isActive != isLast)
    }

    @Test("Chunked bodies are accepted, however the name of the coding is written", arguments: ["chunked", "Chunked"])
    func chunked(coding: String) throws {
        let connection = try Connection()
        try connection.send("POST /a HTTP/1.1\r\nTransfer-Encoding: \(coding)\r\n\r\n0\r\n\r\n")
        #expect(try connection.requests() == ["/a"])
    }

    @Test("Requests before invalid bytes are answered first")
    func malformedInTurn() throws {
        let connection = try Connection()
        try connection.send(ConnectionMonitorTests.request + "GARBAGE\r\n\r\n")
        #expect(try connection.requests() == ["/a"])
        #expect(try connection.written().isEmpty)
        try connection.answer()
        let text = try connection.written()
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("HTTP/1.1 400 "), "\(text)")
    }

    @Test("A request that is too large is rejected after earlier ones were answered")
    func largeInTurn() throws {
        let connection = try Connection()
        try connection.send(
            ConnectionMonitorTests.request + "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n")
        #expect(try connection.requests() == ["/a"])
        try connection.answer()
        let text = try connection.written()
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("HTTP/1.1 413 "), "\(text)")
    }

    @Test("A body beyond the limit is an error for its reader")
    func largeBody() throws {
        let connection = try Connection { $0.bodyBytes = 1024 }
        try connection.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n")
        #expect(throws: ServiceFailure.bodyTooLarge) {
            try connection.send(String(repeating: "x", count: 2048))
        }
        try connection.answer(.contentTooLarge)
        #expect(try connection.written().contains("connection: close"))
    }

    private static let asking = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"

    @Test("A client that expects 100 (Continue) gets it once, when its body is read")
    func expectation() throws {
        let connection = try Connection()
        try connection.send(ConnectionMonitorTests.asking)
        #expect(try connection.written().isEmpty)
        for _ in 0..<2 { connection.channel.triggerUserOutboundEvent(MessageHandler.ReadBody(), promise: nil) }
        #expect(try connection.written() == "HTTP/1.1 100 Continue\r\n\r\n")
        try connection.send("x")
        try connection.answer()
        #expect(try connection.written().hasPrefix("HTTP/1.1 200 "))
    }

    @Test("A client that expects 100 (Continue) is rejected without its body, and continued before any other response")
    func expectationAnswered() throws {
        let refused = try Connection()
        try refused.send(ConnectionMonitorTests.asking)
        try refused.answer(.contentTooLarge)
        let refusal = try refused.written()
        #expect(refusal.hasPrefix("HTTP/1.1 413 ") && refusal.contains("connection: close"), "\(refusal)")
        let early = try Connection()
        try early.send(ConnectionMonitorTests.asking)
        try early.answer()
        #expect(try early.written().hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "))
        // Who does not wait is told nothing.
        let hasty = try Connection()
        try hasty.send(ConnectionMonitorTests.asking + "x")
        hasty.channel.triggerUserOutboundEvent(MessageHandler.ReadBody(), promise: nil)
        try hasty.answer()
        #expect(try hasty.written().hasPrefix("HTTP/1.1 200 "))
    }

    @Test("A length that does not fit an integer is too large, even if the head arrives in pieces")
    func hugeLengthInPieces() throws {
        let connection = try Connection()
        for piece in [
            "POST / HT", "TP/1.1\r\nHost: x\r\nContent-Le", "ngth: 9999999999", "99999999999999999", "\r\n\r\n",
        ] {
            try? connection.send(piece)
        }
        let answer = try connection.written()
        #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
    }

    @Test("A rejection does not wait for the rest of the body")
    func refusedBody() throws {
        let connection = try Connection()
        try connection.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        try connection.answer(.unauthorized)
        #expect(try connection.written().contains("connection: close"))
        connection.wait(seconds: 3)
        #expect(!connection.channel.isActive)
    }

    @Test("A connection beyond the limit gets 503 for its request, or is closed without one")
    func refused() throws {
        let asking = try Connection(isRefused: true)
        try asking.send(ConnectionMonitorTests.request)
        let text = try asking.written()
        #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("retry-after: 1"), "\(text)")
        #expect(try asking.requests().isEmpty)
    }

    @Test("When the service stops, pending requests are answered, and the last answer closes the connection")
    func draining() throws {
        let connection = try Connection()
        try connection.send(ConnectionMonitorTests.request + ConnectionMonitorTests.request)
        connection.drain()
        try connection.answer()
        #expect(try !connection.written().contains("connection: close"))
        connection.wait(seconds: 1)
        #expect(connection.channel.isActive)
        try connection.answer()
        #expect(try connection.written().contains("connection: close"))
        connection.wait(seconds: 3)
        #expect(!connection.channel.isActive)
    }

    @Test("When the service stops, an incoming request is answered, and a silent connection is closed")
    func drainingIdle() throws {
        let connection = try Connection()
        connection.drain()
        connection.channel.embeddedEventLoop.advanceTime(by: .milliseconds(200))
        try connection.send(ConnectionMonitorTests.request)
        connection.wait(seconds: 1)
        try connection.answer()
        #expect(try connection.written().contains("HTTP/1.1 200 "))
        let silent = try Connection()
        silent.drain()
        silent.wait(seconds: 3)
        #expect(!silent.channel.isActive)
    }
}
