import CookieModel
import HTTPMessages
import NIOCore
import RequestDecoration
import WebPrimitives

/// One connection of a client: the requests that come through it, one after the other, or a tunnel.
actor ClientConnection {
    typealias Destination = ForwardedRequest.Destination

    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let client: ByteStream
    let gate: JarGate
    let settings: GatewaySettings
    let servers: UpstreamConnections
    private let observe: @Sendable (GatewayRecord) -> Void
    /// The connection that a tunnel has opened, for the first request in it.
    var spare: ByteStream?
    /// Whether that connection needs no TLS, or has it.
    var isSpareSecured = true
    /// Whether it waits for a request, so that nothing is lost if it closes.
    private var isIdle = false
    private var isStopping = false
    /// The connection to a server that is used now.
    private var server: ByteStream?

    init(
        _ client: ByteStream, gate: JarGate, settings: GatewaySettings, servers: UpstreamConnections,
        observing observe: @escaping @Sendable (GatewayRecord) -> Void
    ) {
        self.client = client
        self.gate = gate
        self.settings = settings
        self.servers = servers
        self.observe = observe
        executor = client.channel.eventLoop.executor
    }

    /// Serves the client until the connection ends. Closes it.
    func run() async {
        do {
            let isAllowed = PeerUser.mayUse(client.channel)
            isIdle = true
            let hasBegun = try await client.hasOctets(within: settings.limits.idle)
            isIdle = false
            guard isAllowed else {
                return try await refuse(
                    GatewayFailure(
                        .httpRequestDenied, 403, "the gateway belongs to another user of this machine",
                        nextStep: "Run a gateway of your own: crumb gateway run."),
                    method: "GET")
            }
            switch hasBegun ? await client.firstOctet : nil {
            case nil: break
            case SOCKSHandshake.version: try await serveSOCKS()
            case SOCKSHandshake.formerVersion:
                try await client.write(ByteBuffer(bytes: SOCKSHandshake.formerRefusal))
            case let octet? where !ASCII.isTokenCharacter(octet) && octet != ASCII.carriageReturn:
                try await refuse(.requestInvalid(.startLineInvalid), method: "GET")
            default:
                try await serveRequests(through: nil)
            }
        } catch {
            // The client has gone, or takes too long.
        }
        if let spare { await spare.close() }
        await client.close()
    }

    /// Ends after the request that is served now.
    func stop() async {
        isStopping = true
        if isIdle { await client.close() }
    }

    /// Ends at once.
    func abort() async {
        await client.abort()
        await server?.abort()
    }

    /// Notes the connection to a server that is used now, so that it can be aborted.
    func use(_ server: ByteStream?) {
        self.server = server
    }

    // MARK: - Requests

    /// Serves one request after the other.
    ///
    /// - Parameter tunnel: Where the tunnel goes that they come through; `nil` outside of one.
    func serveRequests(through tunnel: Destination?) async throws {
        while !isStopping {
            isIdle = true
            let octets: [UInt8]?
            do {
                octets = try await client.head(idle: settings.limits.idle, within: settings.limits.head)
            } catch let error as MessageError {
                return try await refuse(.requestInvalid(error), method: "GET")
            }
            guard let octets else { return }
            isIdle = false
            guard try await serve(octets, through: tunnel) else { return }
        }
    }

    /// Serves one request.
    ///
    /// - Returns: Whether the connection can be used for another one.
    private func serve(_ octets: [UInt8], through tunnel: Destination?) async throws -> Bool {
        var method = "GET"
        var record = GatewayRecord(time: gate.now())
        do {
            let head: MessageHead
            let line: RequestLine
            let request: ForwardedRequest?
            do {
                head = try MessageHead(octets, from: .client)
                line = try RequestLine(head.octets.span.extracting(head.startLine))
                method = String(decoding: head.octets[head.startLine][inside: line.method], as: UTF8.self)
                record.method = method
                if case .authority = line.form {
                    request = nil
                } else {
                    request = try ForwardedRequest(head, line, through: tunnel)
                }
            } catch {
                throw GatewayFailure.requestInvalid(error)
            }
            guard let request else {
                record.url = String(decoding: head.octets[head.startLine][inside: line.target], as: UTF8.self)
                record.isDecorated = false
                try await openTunnel(head, line, isNested: tunnel != nil)
                return false
            }
            record.url = String(decoding: request.url.withoutQuery, as: UTF8.self)
            guard !["TRACE", "TRACK"].contains(method.uppercased()) else {
                throw GatewayFailure(
                    .httpRequestDenied, 405, "the gateway does not pass on TRACE, whose answer would show the cookies",
                    nextStep: "Use another method.")
            }
            let decision = try await gate.decision(on: request)
            record.isDecorated = decision.context != nil
            record.verdict = decision.verdict
            let keepsConnection = try await exchange(request, decision, &record)
            observe(record)
            return keepsConnection
        } catch let failure as GatewayFailure {
            record.fail(failure)
            observe(record)
            try await refuse(failure, method: method)
            return false
        } catch {
            observe(record)
            throw error
        }
    }

    /// Reports a tunnel.
    ///
    /// - Parameter failure: Why it was not opened; `nil` if it was, and its octets pass unread.
    func observeTunnel(_ method: String, to destination: Destination, _ failure: GatewayFailure?) {
        var record = GatewayRecord(time: gate.now())
        record.method = method
        record.url = destination.description
        record.isDecorated = false
        if let failure { record.fail(failure) } else { record.status = 200 }
        observe(record)
    }

    /// Answers in the server's place, and closes the connection.
    private func refuse(_ failure: GatewayFailure, method: String) async throws {
        try await client.write(ByteBuffer(bytes: failure.response(to: method)))
        await client.closeLingering(within: .seconds(2))
    }

    // MARK: - One exchange

    /// Sends a request on and its response back.
    private func exchange(
        _ request: ForwardedRequest, _ decision: GatewayDecision, _ record: inout GatewayRecord
    ) async throws -> Bool {
        let route = route(to: request.destination, isTunnel: request.isTunnelled)
        let head = request.octets(
            with: decision.decoration, toProxy: route.isToProxy,
            proxyAuthorization: route.isToProxy ? route.proxy?.authorization : nil)
        var isFresh = !request.mayBeRepeated
        while true {
            let (server, isReused) = try await connection(route, fresh: isFresh)
            self.server = server
            defer { self.server = nil }
            record.cookiesSent = decision.decoration?.cookies.cookies.map(\.name) ?? []
            do {
                return try await exchange(request, head, decision, with: server, route, &record)
            } catch let error as UnansweredError where isReused && error.mayBeRepeated {
                // RFC 9112, section 9.3.1: the server has closed the connection while the request was on its way.
                await server.abort()
                isFresh = true
            } catch let error as UnansweredError {
                await server.abort()
                throw error.failure(request.destination.description)
            } catch {
                await server.abort()
                throw error
            }
        }
    }

    /// How requests get to a server.
    ///
    /// - Parameter isTunnel: Whether they come through a tunnel. The proxy for a tunnel is the one for https, whatever
    ///   goes through it.
    func route(to destination: Destination, isTunnel: Bool) -> UpstreamConnections.Route {
        let url = try? RequestURL("\(isTunnel ? "https" : "http")://\(destination.description)/")
        return UpstreamConnections.Route(
            destination: destination, proxy: url.flatMap(settings.proxy), isTunnel: isTunnel)
    }

    /// A connection to a server: an idle one for requests that may be repeated, otherwise a new one.
    private func connection(
        _ route: UpstreamConnections.Route, fresh isFresh: Bool
    ) async throws(GatewayFailure) -> (server: ByteStream, isReused: Bool) {
        if let spare {
            self.spare = nil
            if !isSpareSecured { try await servers.secure(spare, to: route.destination) }
            return (spare, false)
        }
        if !isFresh, let server = await servers.takeIdle(route) { return (server, true) }
        return (try await servers.open(route), false)
    }

    /// Sends a request through a connection and passes the response on.
    ///
    /// - Throws: ``UnansweredError`` if the connection ends before the response begins, `GatewayFailure` if the client can
    ///   be told, other errors if it cannot be.
    private func exchange(
        _ request: ForwardedRequest, _ head: [UInt8], _ decision: GatewayDecision, with server: ByteStream,
        _ route: UpstreamConnections.Route, _ record: inout GatewayRecord
    ) async throws -> Bool {
        do {
            try await server.write(ByteBuffer(bytes: head))
        } catch {
            throw UnansweredError(cause: error)
        }
        guard request.framing != .none else {
            let response = try await finalResponse(to: request, from: server)
            let kept = try await deliver(response, to: request, decision, from: server, route, &record)
            if kept.server { await servers.put(server, route) } else { await server.close() }
            return kept.client
        }
        await client.beginBody(request.framing)
        async let upload = sendBody(of: request, to: server)
        do {
            let response = try await finalResponse(to: request, from: server)
            guard response.status != 101 else {
                throw GatewayFailure(
                    .httpUpgradeFailed, 502,
                    "\(request.destination.description) changes the protocol of a request with a body",
                    nextStep: "Send the request without a body.")
            }
            let kept = try await deliver(response, to: request, decision, from: server, route, &record)
            // A server may answer before it has read the body. The rest is not sent.
            if !kept.client || !kept.server {
                await client.stopReading()
                await server.abort()
            }
            let isSent = if case .sent = await upload { true } else { false }
            await client.resumeReading()
            if isSent, kept.server { await servers.put(server, route) } else { await server.abort() }
            if !isSent { await client.closeLingering(within: .seconds(2)) }
            return isSent && kept.client
        } catch {
            await client.stopReading()
            await server.abort()
            let end = await upload
            await client.resumeReading()
            if case .invalid(let fault) = end, error is UnansweredError { throw GatewayFailure.requestInvalid(fault) }
            throw error
        }
    }

    /// How the body of a request ended.
    private enum UploadEnd {
        case sent
        case interrupted
        case invalid(MessageError)
    }

    /// Sends the body of a request.
    private func sendBody(of request: ForwardedRequest, to server: ByteStream) async -> UploadEnd {
        do {
            while true {
                switch try await client.nextPiece(within: settings.limits.body) {
                case .data(let data): try await server.write(request.framing == .chunked ? data.asChunk : data)
                case .end(let trailers):
                    if request.framing == .chunked { try await server.write(.lastChunk(trailers)) }
                    return .sent
                }
            }
        } catch {
            // Stopped, because the response is there. Otherwise, what the server has of it is not a request: it must not
            // wait for the rest.
            if case StreamError.stopped? = error as? StreamError { return .interrupted }
            await server.abort()
            return (error as? MessageError).map { .invalid($0) } ?? .interrupted
        }
    }

    /// Reads responses up to the final one. Those before it pass on at once.
    private func finalResponse(
        to request: ForwardedRequest, from server: ByteStream
    ) async throws -> ForwardedResponse {
        for count in 0..<32 {
            let octets: [UInt8]?
            do {
                octets = try await server.head(idle: settings.limits.response, within: settings.limits.head)
            } catch let error as MessageError {
                throw GatewayFailure.responseInvalid(error, from: request.destination.description)
            } catch StreamError.endedEarly {
                throw GatewayFailure(
                    .httpResponseIncomplete, 502,
                    "\(request.destination.description) ends the connection in the head of its response",
                    nextStep: "Check that an HTTP server listens on this port.")
            } catch {
                throw UnansweredError(cause: error, isFirst: count == 0)
            }
            guard let octets else { throw UnansweredError(cause: StreamError.endedEarly, isFirst: count == 0) }
            let response: ForwardedResponse
            do {
                response = try ForwardedResponse(MessageHead(octets, from: .server), toHead: request.method == "HEAD")
            } catch {
                throw GatewayFailure.responseInvalid(error, from: request.destination.description)
            }
            guard response.isInterim else { return response }
            if request.line.minorVersion > 0 {
                let head = response.octets(chunked: false, closes: false) { _ in false }
                try await client.write(ByteBuffer(bytes: head))
            }
        }
        throw GatewayFailure(
            .httpProtocolError, 502, "\(request.destination.description) sends interim responses only",
            nextStep: "Report it to the people who run the server.")
    }

    /// Stores the cookies of a response, then passes it on.
    ///
    /// - Returns: Which of the two connections can be used for another request.
    private func deliver(
        _ response: ForwardedResponse, to request: ForwardedRequest, _ decision: GatewayDecision,
        from server: ByteStream, _ route: UpstreamConnections.Route, _ record: inout GatewayRecord
    ) async throws -> (client: Bool, server: Bool) {
        record.status = response.status
        guard response.status != 407 || route.isToProxy else {
            throw GatewayFailure(
                .httpProtocolError, 502,
                "\(request.destination.description) asks for credentials for a proxy, which it is not",
                nextStep: "Report it to the people who run the server.")
        }
        let isUpgrade = response.status == 101
        guard !isUpgrade || request.isUpgrade else {
            throw GatewayFailure(
                .httpUpgradeFailed, 502,
                "\(request.destination.description) changes the protocol, which the request does not ask for",
                nextStep: "Report it to the people who run the server.")
        }
        if let context = decision.context {
            record.cookiesStored = try await gate.store(response, in: context).count { $0.outcome.changesJar }
        }
        // A body that ends with the connection is sent in chunks, so that the client's connection goes on.
        let isChunked =
            response.framing == .chunked || response.framing == .untilClose
        let writesChunks = isChunked && request.line.minorVersion > 0
        let keepsClient = request.keepsConnection && (writesChunks || !isChunked) && !isStopping
        let head = response.octets(
            chunked: writesChunks, closes: !keepsClient, intercepted: request.destination.isEncrypted,
            adding: decision.lines
        ) { line in
            decision.context == nil || gate.passes(line)
        }
        await client.enqueue(ByteBuffer(bytes: head))
        if isUpgrade {
            await client.flush()
            await join(client, server)
            return (client: false, server: false)
        }
        await server.beginBody(response.framing)
        try await sendBody(of: response, from: server, inChunks: writesChunks, &record)
        return (client: keepsClient, server: response.keepsConnection)
    }

    /// Sends the body of a response.
    private func sendBody(
        of response: ForwardedResponse, from server: ByteStream, inChunks writesChunks: Bool,
        _ record: inout GatewayRecord
    ) async throws {
        do {
            while true {
                if await server.available.readableBytes == 0 { await client.flush() }
                switch try await server.nextPiece(within: settings.limits.body) {
                case .data(let data): try await client.write(writesChunks ? data.asChunk : data)
                case .end(let trailers):
                    if writesChunks { try await client.write(.lastChunk(trailers)) } else { await client.flush() }
                    return
                }
            }
        } catch {
            // The head has gone: only the end of the connection tells the client that the body is not complete. Where the
            // end of the connection is that of the body, it has to be a reset.
            record.failure = GatewayFailure.Kind.connectionTerminated.rawValue
            if response.framing == .untilClose, !writesChunks { await client.abort() }
            throw error
        }
    }
}

/// The connection has ended, or failed, before a response has begun.
private struct UnansweredError: Error {
    let cause: any Error
    /// Whether no other response has come before.
    var isFirst = true

    /// Whether the server cannot have answered yet, and has not just been slow.
    var mayBeRepeated: Bool {
        if case StreamError.timedOut? = cause as? StreamError { false } else { isFirst }
    }

    func failure(_ server: String) -> GatewayFailure {
        if case StreamError.timedOut? = cause as? StreamError {
            return GatewayFailure(
                .connectionReadTimeout, 504, "\(server) does not answer in time", nextStep: "Try again later.")
        }
        return GatewayFailure(
            .connectionTerminated, 502, "\(server) closes the connection without an answer",
            nextStep: "Try again; if it happens each time, report it to the people who run the server.")
    }
}

extension StorageDecision.Outcome {
    /// Whether the cookie is in the jar now, or was removed from it.
    fileprivate var changesJar: Bool {
        switch self {
        case .rejected: false
        default: true
        }
    }
}

extension ByteBuffer {
    /// The octets as one chunk (RFC 9112, section 7.1).
    var asChunk: ByteBuffer {
        guard readableBytes > 0 else { return self }
        let size = String(readableBytes, radix: 16)
        var chunk = ByteBuffer()
        chunk.reserveCapacity(readableBytes + size.utf8.count + 4)
        chunk.writeString(size)
        chunk.writeStaticString("\r\n")
        chunk.writeImmutableBuffer(self)
        chunk.writeStaticString("\r\n")
        return chunk
    }

    /// The chunk that ends a body, with its trailer section.
    static func lastChunk(_ trailers: [UInt8]) -> ByteBuffer {
        var chunk = ByteBuffer(string: "0\r\n")
        chunk.writeBytes(trailers)
        chunk.writeStaticString("\r\n")
        return chunk
    }
}
