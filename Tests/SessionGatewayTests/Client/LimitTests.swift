import CookieModel
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import SessionGateway

@Suite("How long a gateway waits", .timeLimit(.minutes(10)))
struct LimitTests {
    private static let ok = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)
    private let clock = ManualClock()

    private var settings: GatewaySetup {
        var settings = GatewaySetup.forTools
        settings.clock = clock
        return settings
    }

    /// A server that answers after that many octets of a body, and tells how many have come.
    private static func server(
        after count: Int, _ answer: [UInt8]? = ok
    ) async throws -> (server: RecordingServer, counts: AsyncStream<Int>) {
        let (counts, continuation) = AsyncStream<Int>.makeStream()
        let server = try await RecordingServer.start { octets in
            let body = octets.firstRange(of: Array("\r\n\r\n".utf8)).map { octets.count - $0.upperBound } ?? -1
            continuation.yield(body)
            return body == count ? answer : nil
        }
        return (server, counts)
    }

    /// Moves the clock on until the client's connection has brought something, or has ended.
    private func untilAnswered(_ client: RawClient, _ isComplete: @escaping @Sendable (String) -> Bool) async -> String
    {
        let moving = Task {
            while !Task.isCancelled {
                clock.advance(by: .seconds(10))
                await Task.yield()
            }
        }
        defer { moving.cancel() }
        return await client.response(until: isComplete)
    }

    @Test("An upload may take longer than a response, as long as octets flow")
    func upload() async throws {
        let (server, counts) = try await Self.server(after: 12)
        let (clock, host) = (clock, "127.0.0.1:\(server.port)")
        try await GatewayFixture().run(settings) { address in
            var arrivals = counts.makeAsyncIterator()
            let client = try await RawClient.connect(to: address)
            try await client.send("POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 12\r\n\r\n")
            for count in 0..<12 {
                while let arrived = await arrivals.next(), arrived < count {}
                clock.advance(by: .minutes(1))
                try await client.send("x")
            }
            #expect(await client.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
        }
        #expect(clock.now >= .uptimeNanoseconds(0) + .minutes(12))
    }

    @Test("The time for a response begins when the request is complete")
    func response() async throws {
        let (server, counts) = try await Self.server(after: 2, nil)
        let (clock, host) = (clock, "127.0.0.1:\(server.port)")
        try await GatewayFixture().run(settings) { address in
            var arrivals = counts.makeAsyncIterator()
            let client = try await RawClient.connect(to: address)
            try await client.send("POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 2\r\n\r\n")
            while let arrived = await arrivals.next(), arrived < 0 {}
            clock.advance(by: .minutes(4))
            try await client.send("xx")
            while let arrived = await arrivals.next(), arrived < 2 {}
            let start = clock.now
            let response = await untilAnswered(client) { $0.contains("</html>") }
            #expect(response.hasPrefix("HTTP/1.1 504 "), "\(response)")
            #expect(clock.now - start >= .minutes(5))
        }
    }

    @Test("A tunnel is idle if nothing passes in either direction")
    func tunnel() async throws {
        let (counts, continuation) = AsyncStream<Int>.makeStream()
        let server = try await RecordingServer.start { octets in
            continuation.yield(octets.count)
            return octets.count == 4 ? Array("done".utf8) : nil
        }
        let (clock, host) = (clock, "127.0.0.1:\(server.port)")
        try await GatewayFixture().run(settings) { address in
            var arrivals = counts.makeAsyncIterator()
            let client = try await RawClient.connect(to: address)
            try await client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            _ = await client.response { $0.hasSuffix("\r\n\r\n") }
            for count in 1...4 {
                try await client.send([0])
                while let arrived = await arrivals.next(), arrived < count {}
                if count < 4 { clock.advance(by: .minutes(6)) }
            }
            #expect(await client.response { $0.hasSuffix("done") }.hasSuffix("done"))
            let start = clock.now
            _ = await untilAnswered(client) { _ in false }
            #expect(clock.now - start >= .minutes(10))
        }
    }

    @Test("A connection that closes waits for a client that reads slowly")
    func slowReader() async throws {
        let (accepted, continuation) = AsyncStream<ByteStream>.makeStream()
        let clock = clock
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    continuation.yield(try ByteStream.add(to: channel, clock: clock))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let client = try await RawClient.connect(to: GatewayAddress(host: "127.0.0.1", port: port), reading: false)
        for await stream in accepted {
            try await stream.send(ByteBuffer(repeating: 0x78, count: 8 << 20))
            async let end: Void = stream.close()
            while clock.waitingCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            clock.advance(by: .minutes(9))
            try await client.read()
            #expect(await client.octets { _ in false }.count == 8 << 20)
            await end
            break
        }
        try await listener.close()
    }

    @Test("A client that still sends gets an early answer")
    func earlyAnswer() async throws {
        let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
        let server = try await RecordingServer.start { octets in
            octets.firstRange(of: Array("\r\n\r\n".utf8)) == nil ? nil : Array(refusal.utf8)
        }
        let host = "127.0.0.1:\(server.port)"
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address, reading: false)
            try await client.send(
                "POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 20000000\r\n\r\n")
            await server.requested()
            try await client.send([UInt8](repeating: 0x78, count: 20_000_000))
            try await client.read()
            #expect(await client.response { $0.hasSuffix("no") }.hasPrefix("HTTP/1.1 413 "))
        }
    }
}
