import CookieModel
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SessionGateway
import SessionStore
import Synchronization
import TestSupport
import Testing

/// A gateway with a jar of its own, for one test.
final class GatewayFixture: Sendable {
    let jar: CookieJar
    let records = Mutex<[GatewayRecord]>([])
    /// The path at which the gateway takes events; `nil` if it takes none.
    let eventsPath = Mutex<String?>(nil)
    /// How many seconds the gateway's clock is fast.
    let clockOffset = Mutex<Int64>(0)
    /// The gateway's time.
    var now: Timestamp { .now.advanced(bySeconds: clockOffset.withLock { $0 }) }
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let database = try SessionDatabase(
            path: "\(folder)/crumb.sqlite", keys: .file(KeyFile("\(folder)/key")), now: .now)
        jar = try database.jar(named: "work", now: .now)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Runs `body` while a gateway runs.
    func run(
        _ settings: GatewaySetup = .forTools, of jar: CookieJar? = nil,
        _ body: @escaping @Sendable (GatewayAddress) async throws -> Void
    ) async throws {
        try await runAll(settings, of: jar) { try await body(#require($0.first)) }
    }

    /// Runs `body` while a gateway runs, which may listen on several addresses.
    func runAll(
        _ settings: GatewaySetup, of jar: CookieJar? = nil,
        _ body: @escaping @Sendable ([GatewayAddress]) async throws -> Void
    ) async throws {
        var settings = settings
        settings.limits.stop = .milliseconds(20)
        let gateway = try settings.gateway(of: jar ?? self.jar, now: { self.now }) { record in
            self.records.withLock { $0.append(record) }
        }
        eventsPath.withLock { $0 = gateway.eventsPath }
        let (addresses, continuation) = AsyncStream<[GatewayAddress]>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await gateway.run { continuation.yield($0) } }
            group.addTask {
                for await address in addresses {
                    try await body(address)
                    return
                }
            }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Sets a cookie as a response of a server would.
    func set(_ line: String, at url: String) throws {
        try jar.receive(
            ReceivedResponse(context: RequestContext(url: RequestURL(url)), setCookie: [Octets(line)]), now: .now)
    }
}

/// A server that answers each connection with given octets and keeps what it was sent.
final class RecordingServer: Sendable {
    /// What it got, a text for each connection, in the order in which they ended their requests.
    let requests = Mutex<[[UInt8]]>([])
    /// How many connections there were.
    let connections = Mutex(0)
    let port: Int
    private let channel: any Channel
    private let arrivals = AsyncStream<Void>.makeStream()
    private let ends = AsyncStream<Void>.makeStream()

    /// Starts a server on a free port.
    ///
    /// - Parameters:
    ///   - tls: The certificate that it shows; `nil` for a server without TLS.
    ///   - closes: Whether it closes each connection after an answer.
    ///   - answer: What is sent for the octets that have arrived on a connection; `nil` while more are to come.
    static func start(
        on host: String = "127.0.0.1", tls: NIOSSLContext? = nil, closing closes: Bool = false,
        _ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) async throws -> RecordingServer {
        let box = Mutex<RecordingServer?>(nil)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                box.withLock { $0 }?.connections.withLock { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(
                        Answering(answer, closes) { octets in
                            guard let server = box.withLock({ $0 }) else { return }
                            if let octets {
                                server.requests.withLock { $0.append(octets) }
                                server.arrivals.continuation.yield()
                            } else {
                                server.ends.continuation.yield()
                            }
                        })
                }
            }
            .bind(host: host, port: 0).get()
        let server = RecordingServer(channel, port: channel.localAddress?.port ?? 0)
        box.withLock { $0 = server }
        return server
    }

    private init(_ channel: any Channel, port: Int) {
        self.channel = channel
        self.port = port
    }

    deinit {
        channel.close(promise: nil)
    }

    /// Waits for the next request.
    func requested() async { for await _ in arrivals.stream { return } }

    /// Waits for the end of the next connection.
    func ended() async { for await _ in ends.stream { return } }

    /// Closes the port.
    func stop() async throws { try await channel.close() }

    /// What the server got first, as text.
    var firstRequest: String { requests.withLock { String(decoding: $0.first ?? [], as: UTF8.self) } }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var octets: [UInt8] = []
        private let answer: @Sendable ([UInt8]) -> [UInt8]?
        private let closes: Bool
        /// Gets each request, and `nil` at the end of the connection.
        private let record: @Sendable ([UInt8]?) -> Void

        init(
            _ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?, _ closes: Bool,
            _ record: @escaping @Sendable ([UInt8]?) -> Void
        ) {
            self.answer = answer
            self.closes = closes
            self.record = record
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            octets += Array(buffer: unwrapInboundIn(data))
            guard let answer = answer(octets) else { return }
            record(octets)
            octets = []
            let sent = context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)))
            if closes { sent.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        }

        func channelInactive(context: ChannelHandlerContext) { record(nil) }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            // What is still on its way to the other side gets there.
            if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        }
    }
}

/// A client that sends octets and reads what comes back.
struct RawClient {
    private let channel: any Channel
    private let received: Received

    private final class Received: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        let octets = Mutex<[UInt8]>([])
        let isReset = Mutex(false)
        let pieces: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (pieces, continuation) = AsyncStream<Void>.makeStream() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let piece = Array(buffer: unwrapInboundIn(data))
            octets.withLock { $0 += piece }
            continuation.yield()
        }

        func channelInactive(context: ChannelHandlerContext) { continuation.finish() }
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed? = event as? ChannelEvent { continuation.finish() }
        }
        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            isReset.withLock { $0 = true }
            continuation.finish()
        }
    }

    /// - Parameter reads: Whether it reads from the beginning, not only after ``read()``.
    static func connect(to address: GatewayAddress, reading reads: Bool = true) async throws -> RawClient {
        let received = Received()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelOption(.allowRemoteHalfClosure, value: !reads)
            .channelInitializer { $0.pipeline.addHandler(received) }
            .connect(host: address.host, port: address.port).get()
        return RawClient(channel: channel, received: received)
    }

    func send(_ octets: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: octets)).get()
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Reads what comes from now on.
    func read() async throws { try await channel.setOption(.autoRead, value: true).get() }

    /// Whether the connection has ended with an error, and not by its end.
    var isReset: Bool { received.isReset.withLock { $0 } }

    /// Says that nothing more is sent.
    func end() async { try? await channel.close(mode: .output).get() }

    /// What came back until `isComplete` holds, or the connection has ended.
    func octets(until isComplete: ([UInt8]) -> Bool) async -> [UInt8] {
        let now = { received.octets.withLock { $0 } }
        if isComplete(now()) { return now() }
        for await _ in received.pieces where isComplete(now()) { break }
        return now()
    }

    /// What came back as text.
    func response(until isComplete: (String) -> Bool = { _ in false }) async -> String {
        String(decoding: await octets { isComplete(String(decoding: $0, as: UTF8.self)) }, as: UTF8.self)
    }

    func close() { channel.close(promise: nil) }
}

/// The settings of a gateway in a test, with its environment.
@dynamicMemberLookup
struct GatewaySetup: Sendable {
    private var settings = GatewaySettings()
    private var environment = GatewayEnvironment()
    /// The users; none for a gateway that any client of this machine may use.
    var users: [GatewayUser] = []
    /// The event loops of the gateway. Each has connections to servers of its own.
    var group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

    /// A setup under which the jar alone decides.
    static var forTools: GatewaySetup {
        var setup = GatewaySetup()
        setup.client = .tool
        return setup
    }

    subscript<Value>(dynamicMember member: WritableKeyPath<GatewaySettings, Value>) -> Value {
        get { settings[keyPath: member] }
        set { settings[keyPath: member] = newValue }
    }

    subscript<Value>(dynamicMember member: WritableKeyPath<GatewayEnvironment, Value>) -> Value {
        get { environment[keyPath: member] }
        set { environment[keyPath: member] = newValue }
    }

    /// Decrypts the requests of a host.
    mutating func intercept(_ host: WebHost, by authority: CertificateAuthority) {
        settings.intercepted = [HostPattern(only: host)]
        environment.authority = authority
    }

    /// The gateway.
    func gateway(
        of jar: CookieJar, now: @escaping @Sendable () -> Timestamp = { .now },
        observing observe: @escaping @Sendable (GatewayRecord) -> Void = { _ in }
    ) throws(GatewayError) -> Gateway {
        guard users.isEmpty else {
            return try Gateway(
                users: users, settings: settings, environment: environment, on: group, now: now, observing: observe)
        }
        return Gateway(jar: jar, settings: settings, environment: environment, on: group, now: now, observing: observe)
    }
}
