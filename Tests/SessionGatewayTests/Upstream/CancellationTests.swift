import CookieModel
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import SessionGateway

@Suite("Requests that the client cancels", .timeLimit(.minutes(10)))
struct CancellationTests {
    @Test("A negotiation ends when nothing waits for it any more, and not before")
    func negotiation() async throws {
        let (opens, open) = AsyncStream<Void>.makeStream()
        let dropped = Mutex<[Int]>([])
        func start() -> Negotiation<Int> {
            Negotiation {
                for await _ in opens { return Task.isCancelled ? 0 : 7 }
                return Task.isCancelled ? 0 : 7
            } droppingForFirst: { outcome in
                dropped.withLock { $0.append(outcome) }
            }
        }
        let shared = start()
        let first = Task { await shared.outcome(forFirst: true) }
        let second = Task { await shared.outcome(forFirst: false) }
        while shared.waiterCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
        first.cancel()
        #expect(await first.value == nil)
        #expect(!shared.isAbandoned)
        open.yield()
        #expect(await second.value == 7)
        #expect(dropped.withLock { $0 } == [7])

        let abandoned = start()
        let only = Task { await abandoned.outcome(forFirst: true) }
        while abandoned.waiterCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
        only.cancel()
        #expect(await only.value == nil)
        #expect(abandoned.isAbandoned)
    }

    @Test("If a client's TLS fails, the connection that its tunnel has opened is closed")
    func failedHandshake() async throws {
        let server = try await RecordingServer.start { _ in nil }
        var settings = GatewaySetup.forTools
        settings.limits.hesitation = .milliseconds(1)
        let name = try #require(WebHost("127.0.0.1"))
        settings.intercept(name, by: try CertificateAuthority(for: [name], now: .now))
        try await GatewayFixture().run(settings) { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            try await client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            _ = await client.response { $0.hasSuffix("\r\n\r\n") }
            while server.connections.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
            // A record of TLS that is no ClientHello.
            try await client.send("\u{16}\u{3}\u{1}\u{0}\u{1}\u{0}")
            client.close()
            await server.ended()
        }
    }

    #if os(Linux)
        /// How many connections to a port of `::1` have begun and are not open.
        private static func attempts(at port: Int) throws -> Int {
            let hexadecimal = String(port, radix: 16, uppercase: true)
            let suffix = ":" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
            return try String(contentsOfFile: "/proc/self/net/tcp6", encoding: .utf8).split(separator: "\n")
                .count { line in
                    let columns = line.split(separator: " ")
                    return columns.count > 3 && columns[2].hasSuffix(suffix) && columns[3] == "02"
                }
        }

        private static func settings(_ authority: CertificateAuthority? = nil) -> GatewaySetup {
            var settings = GatewaySetup.forTools
            settings.resolver = { FixedResolver(loop: $0, addresses: ["::1"]) }
            settings.limits.connect = .hours(1)
            (settings.limits.head, settings.limits.hesitation) = (.hours(1), .hours(1))
            if let authority { settings.intercept(WebHost(stored: "localhost"), by: authority) }
            return settings
        }

        private static func expectEnd(
            at port: Int, _ begin: () async throws -> Void, _ cancel: () async throws -> Void
        ) async throws {
            #expect(try attempts(at: port) == 0)
            try await begin()
            while try attempts(at: port) == 0 { try await Task.sleep(for: .milliseconds(5)) }
            try await cancel()
            while try attempts(at: port) > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }

        @Test("A connection that is not open yet is given up", arguments: ["GET http", "CONNECT", "HTTP/2"])
        func connecting(way: String) async throws {
            let server = try await RecordingServer.start { _ in nil }
            let dead = try FullListener(port: server.port)
            defer { dead.close() }
            let port = server.port
            let host = try #require(WebHost("localhost"))
            let authority = try CertificateAuthority(for: [host], now: .now)
            try await GatewayFixture().run(Self.settings(way == "HTTP/2" ? authority : nil)) { address in
                if way == "HTTP/2" {
                    let client = try await HTTP2ServerConnection.connect(
                        to: host, port, through: address, trusting: authority)
                    var streams: [ByteStream] = []
                    for _ in 0..<50 { streams.append(try #require(await client.open().stream)) }
                    try await Self.expectEnd(at: port) {
                        for stream in streams {
                            try await stream.write(
                                ByteBuffer(string: "GET / HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"))
                        }
                    } _: {
                        for stream in streams { await stream.close() }
                    }
                    client.close()
                } else {
                    let client = try await RawClient.connect(to: address)
                    let line = way == "CONNECT" ? "CONNECT localhost:\(port)" : "GET http://localhost:\(port)/"
                    try await Self.expectEnd(at: port) {
                        try await client.send("\(line) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
                    } _: {
                        client.close()
                    }
                }
            }
        }
    #endif

    /// Searches for addresses that find none, and not before they are told.
    private final class HangingSearches: Sendable {
        private let state = Mutex<(promises: [EventLoopPromise<[SocketAddress]>], isOver: Bool)>(([], false))

        /// How many there are.
        var count: Int { state.withLock { $0.promises.count } }

        func add(_ promise: EventLoopPromise<[SocketAddress]>) {
            let isOver = state.withLock { state in
                state.promises.append(promise)
                return state.isOver
            }
            if isOver { promise.fail(ChannelError.eof) }
        }

        func end() {
            let promises = state.withLock { state in
                state.isOver = true
                return state.promises
            }
            for promise in promises { promise.fail(ChannelError.eof) }
        }
    }

    private struct HangingResolver: Resolver, Sendable {
        let loop: any EventLoop
        let searches: HangingSearches

        private func search() -> EventLoopFuture<[SocketAddress]> {
            let promise = loop.makePromise(of: [SocketAddress].self)
            searches.add(promise)
            return promise.futureResult
        }

        func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { search() }
        func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { search() }
        func cancelQueries() {}
    }

    @Test("A cancelled request counts until its work has ended")
    func work() async throws {
        let host = try #require(WebHost("localhost"))
        let authority = try CertificateAuthority(for: [host], now: .now)
        let searches = HangingSearches()
        var settings = GatewaySetup.forTools
        settings.intercept(host, by: authority)
        settings.resolver = { HangingResolver(loop: $0, searches: searches) }
        settings.limits.connect = .hours(1)
        (settings.limits.head, settings.limits.hesitation) = (.hours(1), .hours(1))
        settings.limits.streams = 5
        try await GatewayFixture().run(settings) { address in
            // The gateway waits for them, whatever fails before.
            defer { searches.end() }
            let client = try await HTTP2ServerConnection.connect(to: host, 443, through: address, trusting: authority)
            // A long head goes over HTTP/1.1, so each request looks for the server itself.
            let field = "X: \(String(repeating: "x", count: 20_000))\r\n"
            let head = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n")
            for count in 1...10 {
                let stream = try #require(await client.open(waiting: true).stream)
                try await stream.write(head)
                // Each looks for addresses of both families.
                while searches.count < 2 * count { try await Task.sleep(for: .milliseconds(1)) }
                await stream.close()
            }
            let refused = try #require(await client.open(waiting: true).stream)
            try await refused.write(head)
            await #expect(throws: StreamRefusal.self) { try await refused.head(idle: nil, within: nil) }
            searches.end()
            // The work has ended, so there is room again.
            while true {
                try Task.checkCancellation()
                let stream = try #require(await client.open(waiting: true).stream)
                try await stream.write(head)
                if let answer = try? await stream.head(idle: nil, within: nil) {
                    #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 502 "))
                    break
                }
                await stream.close()
            }
            client.close()
        }
    }
}
