import CookieModel
import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization
import Testing

@testable import SessionGateway

/// A server with TLS that speaks HTTP/2 and HTTP/1.1, and keeps what it was sent.
final class HTTP2Server: Sendable {
    /// A request, as far as it has come.
    struct Request: Sendable {
        /// The fields; of HTTP/1.1, a value for each line.
        var headers = HPACKHeaders()
        var body: [UInt8] = []
        var trailers: HPACKHeaders?
        /// Whether all of it has come.
        var isComplete = false
        /// The number of its connection, from 1 on.
        var connection = 0
        var isHTTP1 = false

        /// The fields as lines.
        var lines: [String] { headers.map { isHTTP1 ? $0.value : "\($0.name): \($0.value)" } }
    }

    /// What the server does for a request.
    enum Step: Sendable {
        case headers(HPACKHeaders, ends: Bool = true)
        case data(String, ends: Bool = true)
        /// The body of the request.
        case echo
        /// What comes from then on, until it ends.
        case mirror
        case reset(HTTP2ErrorCode)
        case goAway(last: HTTP2StreamID)
        case close
        /// Ends the connection with a reset.
        case abort
    }

    let requests = Mutex<[Request]>([])
    let authority: CertificateAuthority
    let port: Int
    private let channel: any Channel
    private let resets = AsyncStream<Void>.makeStream()
    private let arrivals = AsyncStream<Void>.makeStream()

    /// Starts a server on a free port.
    ///
    /// - Parameters:
    ///   - settings: What it sends as its settings.
    ///   - sendsLongHeads: Whether it can send heads that are longer than one frame.
    ///   - answer: What it does for a request with that number, from 1 on, whose head or end has come; `nil` to wait.
    static func start(
        _ settings: HTTP2Settings = [], sendingLongHeads sendsLongHeads: Bool = false,
        _ answer: @escaping @Sendable (Request, _ number: Int) -> [Step]?
    ) async throws -> HTTP2Server {
        let host = try #require(WebHost("localhost"))
        let authority = try CertificateAuthority(for: [host], now: .now)
        let tls = try authority.context(for: host, now: .now)
        let box = Mutex<HTTP2Server?>(nil)
        let connections = Mutex(0)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = connections.withLock { count in
                        count += 1
                        return count
                    }
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    let choice = ApplicationProtocolNegotiationHandler { result, channel in
                        channel.eventLoop.makeCompletedFuture {
                            guard let server = box.withLock({ $0 }) else { return }
                            let pipeline = channel.pipeline.syncOperations
                            guard result == .negotiated("h2") else {
                                return try pipeline.addHandler(PlainHandler(server, number))
                            }
                            var configuration = NIOHTTP2Handler.Configuration()
                            configuration.connection.initialSettings = settings
                            // Servers are not always exact.
                            configuration.connection.headerBlockValidation = .disabled
                            configuration.connection.contentLengthValidation = .disabled
                            if sendsLongHeads { try pipeline.addHandler(HTTP2FrameAdapter(.server)) }
                            try pipeline.addHandler(
                                NIOHTTP2Handler(
                                    mode: .server, eventLoop: channel.eventLoop,
                                    connectionConfiguration: configuration.connection,
                                    streamConfiguration: configuration.stream
                                ) { stream in
                                    stream.eventLoop.makeCompletedFuture {
                                        try stream.pipeline.syncOperations.addHandler(
                                            StreamHandler(server, number, answer))
                                    }
                                })
                            try pipeline.addHandler(NIOCloseOnErrorHandler())
                        }
                    }
                    try channel.pipeline.syncOperations.addHandler(choice)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = HTTP2Server(channel, authority, port: channel.localAddress?.port ?? 0)
        box.withLock { $0 = server }
        return server
    }

    private init(_ channel: any Channel, _ authority: CertificateAuthority, port: Int) {
        self.channel = channel
        self.authority = authority
        self.port = port
    }

    deinit {
        channel.close(promise: nil)
    }

    /// A gateway for programs that offers the server at an address.
    var settings: GatewaySetup {
        get throws {
            var settings = GatewaySetup.forTools
            settings.cookies = .strip
            settings.origins = [GatewaySettings.Origin(try RequestURL("https://localhost:\(port)"))]
            settings.tls.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMBytes(Array(authority.certificatePEM.utf8)))
            return settings
        }
    }

    /// Takes no further connections.
    func stop() async throws { try await channel.close() }

    /// Waits until a client has reset a stream.
    func hasReset() async { for await _ in resets.stream { return } }

    /// Waits for the head of the next request.
    func requested() async { for await _ in arrivals.stream { return } }

    private func add(_ request: Request) -> Int {
        arrivals.continuation.yield()
        return requests.withLock { requests in
            requests.append(request)
            return requests.count
        }
    }

    private final class StreamHandler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundOut = HTTP2Frame.FramePayload

        private let server: HTTP2Server
        private let answer: @Sendable (Request, Int) -> [Step]?
        private var request = Request()
        private var number = 0
        private var isAnswered = false
        private var isMirror = false

        init(_ server: HTTP2Server, _ connection: Int, _ answer: @escaping @Sendable (Request, Int) -> [Step]?) {
            self.server = server
            self.answer = answer
            request.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .headers(let frame) where number == 0:
                request.headers = frame.headers
                request.isComplete = frame.endStream
                number = server.add(request)
            case .headers(let frame):
                request.trailers = frame.headers
                request.isComplete = true
            case .data(let frame):
                guard case .byteBuffer(let octets) = frame.data else { return }
                request.body += Array(buffer: octets)
                request.isComplete = frame.endStream
                if isMirror { send(octets, frame.endStream, context) }
            default: return
            }
            server.requests.withLock { $0[number - 1] = request }
            guard !isAnswered, let steps = answer(request, number) else { return }
            isAnswered = true
            for step in steps { take(step, context) }
        }

        private func take(_ step: Step, _ context: ChannelHandlerContext) {
            switch step {
            case .headers(let headers, let ends):
                context.writeAndFlush(
                    wrapOutboundOut(.headers(.init(headers: headers, endStream: ends))), promise: nil)
            case .data(let text, let ends): send(ByteBuffer(string: text), ends, context)
            case .mirror: isMirror = true
            case .echo: send(ByteBuffer(bytes: request.body), true, context)
            case .reset(let code): context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
            case .goAway(let last):
                let frame = HTTP2Frame(
                    streamID: .rootStream, payload: .goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil))
                context.channel.parent?.writeAndFlush(frame, promise: nil)
            case .close: context.channel.parent?.close(promise: nil)
            case .abort:
                guard let parent = context.channel.parent else { return }
                let provider = parent as? any SocketOptionProvider
                provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in
                    parent.close(promise: nil)
                }
            }
        }

        private func send(_ octets: ByteBuffer, _ ends: Bool, _ context: ChannelHandlerContext) {
            let frame = HTTP2Frame.FramePayload.Data(data: .byteBuffer(octets), endStream: ends)
            context.writeAndFlush(wrapOutboundOut(.data(frame)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if error is NIOHTTP2Errors.StreamClosed { server.resets.continuation.yield() }
        }
    }

    /// Answers each head over HTTP/1.1.
    private final class PlainHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: HTTP2Server
        private let connection: Int
        private var octets: [UInt8] = []

        init(_ server: HTTP2Server, _ connection: Int) {
            self.server = server
            self.connection = connection
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            octets += Array(buffer: unwrapInboundIn(data))
            guard octets.firstRange(of: Array("\r\n\r\n".utf8)) != nil else { return }
            var request = Request()
            request.isHTTP1 = true
            request.connection = connection
            for line in octets.split(separator: UInt8(ascii: "\n")) {
                let text = String(line.dropLast().map { Character(UnicodeScalar($0)) })
                request.headers.add(name: "line", value: text)
            }
            octets = []
            _ = server.add(request)
            context.writeAndFlush(
                wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nover")), promise: nil)
        }
    }
}

extension HTTP2ServerConnection {
    /// Connects as a client that speaks HTTP/2 with a host whose requests a gateway decrypts.
    ///
    /// - Parameter fields: Field lines of the CONNECT request.
    static func connect(
        to host: WebHost, _ port: Int, through address: GatewayAddress, trusting authority: CertificateAuthority,
        _ fields: String = ""
    ) async throws -> HTTP2ServerConnection {
        let stream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture { try ByteStream.add(to: channel) }
            }
        try await stream.write(
            ByteBuffer(string: "CONNECT \(host):\(port) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(fields)\r\n"))
        _ = try await stream.head(idle: nil, within: nil)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.applicationProtocols = ["h2"]
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.certificatePEM.utf8)))
        try await stream.startTLS(
            NIOSSLClientHandler(context: NIOSSLContext(configuration: tls), serverHostname: host.description),
            within: .seconds(30))
        return try await HTTP2ServerConnection(on: stream, idle: .minutes(5))
    }
}

extension HTTP2Server {
    /// Runs `body` with a client that speaks HTTP/2 with a gateway that decrypts the requests to this server.
    func runWithClient(
        _ body: @escaping @Sendable (HTTP2ServerConnection, _ authority: String) async throws -> Void
    ) async throws {
        let host = try #require(WebHost("localhost"))
        let authority = try CertificateAuthority(for: [host], now: .now)
        var settings = GatewaySetup.forTools
        settings.intercept(host, by: authority)
        settings.tls = try self.settings.tls
        try await GatewayFixture().run(settings) { [port] address in
            let client = try await HTTP2ServerConnection.connect(
                to: host, port, through: address, trusting: authority)
            try await body(client, "localhost:\(port)")
            client.close()
        }
    }
}
