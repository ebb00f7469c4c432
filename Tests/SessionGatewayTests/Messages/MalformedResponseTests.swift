import CookieModel
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport
import Testing

@testable import SessionGateway

@Suite("Responses that are malformed or incomplete", .timeLimit(.minutes(10)))
struct MalformedResponseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [HTTP2Server.Step]
    }

    private static func get(_ address: GatewayAddress) async throws -> String {
        let client = try await RawClient.connect(to: address)
        try await client.send("GET / HTTP/1.1\r\nHost: \(address)\r\n\r\n")
        return await client.response()
    }

    @Test(
        "A malformed head of HTTP/2 is an error",
        arguments: [
            Case(testDescription: "an interim one that ends", steps: [.headers([":status": "103"])]),
            Case(testDescription: "two of status", steps: [.headers([":status": "200", ":status": "204"])]),
            Case(testDescription: "a status behind a field", steps: [.headers(["x-a": "1", ":status": "200"])]),
            Case(testDescription: "a request's field", steps: [.headers([":status": "200", ":path": "/"])]),
            Case(testDescription: "a sign in the status", steps: [.headers([":status": "+20"])]),
            Case(testDescription: "a name in upper case", steps: [.headers([":status": "200", "X-A": "1"])]),
            Case(testDescription: "no number", steps: [.headers([":status": "200", "content-length": "x"])]),
            Case(
                testDescription: "two lengths",
                steps: [.headers([":status": "200", "content-length": "1", "content-length": "2"], ends: false)]),
            Case(testDescription: "no body", steps: [.headers([":status": "200", "content-length": "1"])]),
            Case(testDescription: "a body without a head", steps: [.data("hi")]),
        ])
    func heads(row: Case) async throws {
        let server = try await HTTP2Server.start { _, _ in row.steps }
        let fixture = try GatewayFixture()
        try await fixture.run(server.settings) { address in
            let response = try await Self.get(address)
            #expect(response.hasPrefix("HTTP/1.1 502 "), "\(response)")
        }
    }

    @Test(
        "A body that is longer or shorter than its length, or does not end, does not look complete",
        arguments: [
            Case(
                testDescription: "longer",
                steps: [
                    .headers([":status": "200", "content-length": "5"], ends: false), .data("hello", ends: false),
                    .data("!"),
                ]),
            Case(
                testDescription: "shorter",
                steps: [.headers([":status": "200", "content-length": "6"], ends: false), .data("hello")]),
            Case(
                testDescription: "reset at its end",
                steps: [
                    .headers([":status": "200", "content-length": "5"], ends: false), .data("hello", ends: false),
                    .reset(.internalError),
                ]),
            Case(
                testDescription: "a trailer section with a status",
                steps: [
                    .headers([":status": "200"], ends: false), .data("hello", ends: false),
                    .headers([":status": "200"]),
                ]),
            Case(
                testDescription: "a trailer section that does not end",
                steps: [
                    .headers([":status": "200"], ends: false), .data("hello", ends: false),
                    .headers(["x-a": "1"], ends: false),
                ]),
        ])
    func bodies(row: Case) async throws {
        let server = try await HTTP2Server.start { _, _ in row.steps }
        try await GatewayFixture().run(server.settings) { address in
            let response = try await Self.get(address)
            let isWhole =
                response.contains("content-length: 5\r\n")
                ? response.hasSuffix("hello") : response.hasSuffix("0\r\n\r\n")
            #expect(!isWhole && !response.hasSuffix("x-a: 1\r\n\r\n"), "\(response)")
        }
    }

    @Test("A body is whole with the end of the stream", arguments: [true, false])
    func whole(hasLength: Bool) async throws {
        let server = try await HTTP2Server.start { _, _ in
            [
                .headers(hasLength ? [":status": "200", "content-length": "5"] : [":status": "200"], ends: false),
                .data("hello", ends: false), .data(""),
            ]
        }
        try await GatewayFixture().run(server.settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET / HTTP/1.1\r\nHost: \(address)\r\n\r\n")
            _ = await client.response { $0.hasSuffix(hasLength ? "hello" : "5\r\nhello\r\n0\r\n\r\n") }
        }
    }

    /// A server that sends octets for each request and ends.
    ///
    /// - Parameter isClean: Whether TLS says so.
    private static func start(_ octets: String, tls: NIOSSLContext?, endingCleanly isClean: Bool) async throws
        -> any Channel
    {
        final class Ending: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            let octets: String
            let isClean: Bool

            init(_ octets: String, _ isClean: Bool) { (self.octets, self.isClean) = (octets, isClean) }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let context = NIOLoopBound(context, eventLoop: context.eventLoop)
                let written = context.value.writeAndFlush(wrapOutboundOut(ByteBuffer(string: octets)))
                written.assumeIsolated().whenComplete { [isClean] _ in
                    let pipeline = context.value.pipeline.syncOperations
                    let tls = try? pipeline.context(handlerType: NIOSSLServerHandler.self)
                    (isClean ? context.value : tls ?? context.value).close(promise: nil)
                }
            }
        }
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Ending(octets, isClean))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    @Test(
        "A body that TLS does not end is complete for browsers only",
        arguments: GatewaySettings.Client.allCases, [true, false])
    func withoutNotice(client: GatewaySettings.Client, isClean: Bool) async throws {
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMBytes(Array(SampleCertificate.pem.utf8)).map {
                    .certificate($0)
                },
                privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(SampleCertificate.keyPEM.utf8), format: .pem))))
        let server = try await Self.start("HTTP/1.1 200 OK\r\n\r\nhello", tls: tls, endingCleanly: isClean)
        let port = try #require(server.localAddress?.port)
        var settings = GatewaySetup()
        settings.client = client
        settings.cookies = .strip
        settings.origins = [GatewaySettings.Origin(try RequestURL("https://localhost:\(port)"))]
        settings.tls.certificateVerification = .none
        let isComplete = isClean || client == .browser
        try await GatewayFixture().run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET / HTTP/1.1\r\nHost: \(address)\r\n\r\n")
            let response = await client.response { $0.hasSuffix("0\r\n\r\n") }
            #expect(response.contains("hello"), "\(response)")
            #expect(response.hasSuffix("0\r\n\r\n") == isComplete, "\(response)")
        }
        try await server.close()
    }

    @Test("A client of HTTP/1.0 can tell a body in chunks that is cut off", arguments: [true, false])
    func version10(isWhole: Bool) async throws {
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n\(isWhole ? "0\r\n\r\n" : "")"
        let server = try await Self.start(chunks, tls: nil, endingCleanly: true)
        let port = try #require(server.localAddress?.port)
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET http://127.0.0.1:\(port)/ HTTP/1.0\r\n\r\n")
            _ = await client.response()
            #expect(client.isReset != isWhole)
        }
        try await server.close()
    }
}
