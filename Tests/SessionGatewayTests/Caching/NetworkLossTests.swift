import CookieModel
import GatewayModel
import NIOCore
import NIOHPACK
import NIOPosix
import Synchronization
import Testing

@testable import SessionGateway

@Suite("A network that does not answer", .timeLimit(.minutes(10)))
struct NetworkLossTests {
    private let home: CachingGateway
    private let clock = ManualClock()

    init() throws {
        home = try CachingGateway()
    }

    /// One event loop, so that requests share connections.
    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private static func isStored(_ response: String) -> Bool {
        response.hasSuffix("v1") && response.contains("detail=offline")
    }

    @Test(
        "Over http, a stored response answers after a moment, and the attempt to connect goes on for the next request")
    func connecting() async throws {
        let server = try await RecordingServer.start(versions(of: .init(repeating: true, count: 3)))
        _ = try await home.responses(to: ["GET /"], from: server, host: "localhost")
        let (clock, resolver, place) = (clock, HeldResolver(), "localhost:\(server.port)")
        try await home.run(setup(clock, resolver)) { address in
            async let first = CachingGateway.response(to: "GET /", of: place, through: address)
            await clock.advance(when: .milliseconds(900))
            #expect(try await Self.isStored(first))
            // For one second, the next request does not try the network.
            let second = try await CachingGateway.response(to: "GET /", of: place, through: address)
            #expect(Self.isStored(second))
            #expect(resolver.count == 1)
            // The connection is made later, and the next request uses it.
            let connections = server.connections.withLock { $0 }
            resolver.release()
            while server.connections.withLock({ $0 }) == connections { try await Task.sleep(for: .milliseconds(1)) }
            var third = ""
            while !third.hasSuffix("v2") {
                try Task.checkCancellation()
                third = try await CachingGateway.response(to: "GET /", of: place, through: address)
            }
            #expect(third.contains("fwd=") && server.connections.withLock { $0 } == connections + 1)
        }
    }

    @Test("A stored response that cannot answer, since a part is missing, does not shorten the wait")
    func incomplete() async throws {
        let count = Mutex(0)
        let server = try await RecordingServer.start(closing: true) { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"v\"\r\nCache-Control: max-age=60\r\n\r\n"
            return Array("\(head)\(isFirst ? "hel" : "hello")".utf8)
        }
        _ = try await home.responses(to: ["GET /"], from: server, host: "localhost")
        let (clock, resolver, place) = (clock, HeldResolver(), "localhost:\(server.port)")
        try await home.run(setup(clock, resolver)) { address in
            async let response = CachingGateway.response(to: "GET /", of: place, through: address)
            while resolver.count < 1 { try await Task.sleep(for: .milliseconds(1)) }
            clock.advance(by: .milliseconds(900))
            resolver.release()
            let text = try await response
            #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("hello"), "\(text)")
        }
    }

    @Test("Over https, other requests go on waiting for the same attempt, and the next request makes one of its own")
    func negotiating() async throws {
        let server = try await HTTP2Server.start { _, number in page(number) }
        try await home.run(server.settings) { address in
            _ = try await CachingGateway.response(to: "GET /", through: address)
        }
        let (clock, resolver) = (clock, HeldResolver())
        var setup = try server.settings
        setup.group = Self.loop
        setup.clock = clock
        setup.resolver = { HeldResolver.Part(resolver, $0) }
        try await home.run(setup) { address in
            async let other = CachingGateway.response(to: "GET /other", through: address)
            while resolver.count < 1 { try await Task.sleep(for: .milliseconds(1)) }
            async let first = CachingGateway.response(to: "GET /", through: address)
            await clock.advance(when: .milliseconds(900))
            #expect(try await Self.isStored(first))
            #expect(resolver.count == 1)
            clock.advance(by: .seconds(1))
            async let next = CachingGateway.response(to: "GET /", through: address)
            while resolver.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
            resolver.release()
            let responses = try await [other, next]
            #expect(responses.allSatisfy { $0.hasPrefix("HTTP/1.1 200") && !$0.contains("offline") }, "\(responses)")
        }
    }

    @Test("If nothing confirms a request on an open connection, it is sent on a new one", arguments: [true, false])
    func unconfirmed(isBack: Bool) async throws {
        let server = try await RecordingServer.start(versions(of: [true, false, isBack]))
        var setup = setup(clock)
        setup.isAcknowledged = { _, _ in false }
        let (clock, place) = (clock, "127.0.0.1:\(server.port)")
        try await home.run(setup) { address in
            _ = try await CachingGateway.response(to: "GET /", of: place, through: address)
            async let second = CachingGateway.response(to: "GET /", of: place, through: address)
            await clock.advance(when: .milliseconds(450))
            // The time for the new connection may be over, or that for its request.
            let advancing = Task { if !isBack { await clock.keepAdvancing(when: .milliseconds(450)) } }
            let text = try await second
            advancing.cancel()
            #expect(isBack ? text.hasSuffix("v3") : Self.isStored(text), "\(text)")
        }
    }

    @Test("If the server's system has confirmed the request, the server is slow, and the gateway waits for it")
    func slow() async throws {
        let server = try await RecordingServer.start(versions(of: [true, false, false]))
        var setup = setup(clock)
        setup.isAcknowledged = { _, _ in true }
        let (clock, place) = (clock, "127.0.0.1:\(server.port)")
        try await home.run(setup) { address in
            _ = try await CachingGateway.response(to: "GET /", of: place, through: address)
            async let second = CachingGateway.response(to: "GET /", of: place, through: address)
            await clock.advance(when: .milliseconds(450))
            await clock.advance(when: .minutes(5) - .milliseconds(450))
            let text = try await second
            #expect(text.hasPrefix("HTTP/1.1 504") && text.contains("error=connection_read_timeout"), "\(text)")
        }
    }

    @Test("The system of the other side confirms what a program does not read")
    func confirmed() async throws {
        let server = try await RecordingServer.start { _ in nil }
        let stream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: server.port) { channel in
                channel.eventLoop.makeCompletedFuture { try ByteStream.add(to: channel) }
            }
        try await stream.write(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        while await !Acknowledgement.hasArrived(stream.channel, within: .zero) {
            try await Task.sleep(for: .milliseconds(1))
        }
        await stream.close()
    }

    @Test("An HTTP/2 connection on which nothing confirms a request gets no further ones")
    func unconfirmedStream() async throws {
        let server = try await HTTP2Server.start { _, number in number == 2 ? nil : page(number) }
        var setup = try server.settings
        setup.group = Self.loop
        setup.clock = clock
        setup.isAcknowledged = { _, _ in false }
        let clock = clock
        try await home.run(setup) { address in
            _ = try await CachingGateway.response(to: "GET /", through: address)
            async let second = CachingGateway.response(to: "GET /", through: address)
            await clock.advance(when: .milliseconds(450))
            let text = try await second
            #expect(text.contains("v3"), "\(text)")
        }
        #expect(server.requests.withLock { $0.map(\.connection) } == [1, 1, 2])
    }

    @Test("On a slow link, requests wait longer than the last connection took, until the network is missing again")
    func slowLink() throws {
        let network = NetworkWatch()
        let server = try destination("https://shop.example/")
        let start = NIODeadline.uptimeNanoseconds(1)
        #expect(network.patience(with: server) == .milliseconds(900))
        network.noteConnection(to: server, after: .milliseconds(300), at: start)
        #expect(network.patience(with: server) == .milliseconds(900))
        network.noteLoss(of: server, at: start)
        #expect(network.isLost(server, at: start) && !network.isLost(server, at: start + .seconds(1)))
        network.noteConnection(to: server, after: .seconds(2), at: start)
        #expect(!network.isLost(server, at: start))
        #expect(network.patience(with: server) == .seconds(6))
        network.noteConnection(to: server, after: .seconds(9), at: start)
        #expect(network.patience(with: server) == .seconds(10))
        #expect(network.patience(with: try destination("https://other.example/")) == .milliseconds(900))
        network.noteLoss(of: server, at: start)
        #expect(network.patience(with: server) == .milliseconds(900))
    }

    private func destination(_ url: String) throws -> ForwardedRequest.Destination {
        ForwardedRequest.Destination(host: try RequestURL(url).host, port: 443, isEncrypted: true)
    }

    private func setup(_ clock: ManualClock, _ resolver: HeldResolver? = nil) -> GatewaySetup {
        var setup = GatewaySetup.forTools
        setup.clock = clock
        setup.group = Self.loop
        if let resolver { setup.resolver = { HeldResolver.Part(resolver, $0) } }
        return setup
    }
}

/// A server's answers: to the request with each number, a page with that number, or nothing.
private func versions(of answers: [Bool]) -> @Sendable ([UInt8]) -> [UInt8]? {
    let count = Mutex(0)
    return { _ in
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number > answers.count || answers[number - 1] else { return nil }
        return Array(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=60, no-cache\r\n\r\nv\(number)".utf8)
    }
}

/// The same over HTTP/2.
private func page(_ number: Int) -> [HTTP2Server.Step] {
    let head: HPACKHeaders = [":status": "200", "content-length": "2", "cache-control": "max-age=60, no-cache"]
    return [.headers(head, ends: false), .data("v\(number)")]
}

/// A resolver that answers when a test wants it to: this machine.
private final class HeldResolver: Sendable {
    struct Part: Resolver, Sendable {
        let resolver: HeldResolver
        let loop: any EventLoop

        init(_ resolver: HeldResolver, _ loop: any EventLoop) {
            self.resolver = resolver
            self.loop = loop
        }

        func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            resolver.answer(port, on: loop)
        }

        func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
            loop.makeSucceededFuture([])
        }

        func cancelQueries() {}
    }

    private struct State {
        var answers: [@Sendable () -> Void] = []
        var count = 0
        var isReleased = false
    }

    private let state = Mutex(State())

    /// How often it was asked.
    var count: Int { state.withLock { $0.count } }

    /// Answers every question, now and later.
    func release() {
        let answers = state.withLock { state in
            state.isReleased = true
            defer { state.answers = [] }
            return state.answers
        }
        for answer in answers { answer() }
    }

    private func answer(_ port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        let promise = loop.makePromise(of: [SocketAddress].self)
        let answer = { @Sendable in
            promise.completeWith(Result { [try SocketAddress(ipAddress: "127.0.0.1", port: port)] })
        }
        let isReleased = state.withLock { state in
            state.count += 1
            if !state.isReleased { state.answers.append(answer) }
            return state.isReleased
        }
        if isReleased { answer() }
        return promise.futureResult
    }
}
