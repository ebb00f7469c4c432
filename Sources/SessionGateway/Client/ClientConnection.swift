import CookieModel
import HTTPMessages
import NIOCore
import RequestDecoration
import Synchronization
import WebPrimitives

/// One connection of a client: its requests, one after the other, or a tunnel.
actor ClientConnection {
    typealias Destination = ForwardedRequest.Destination

    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let client: ByteStream
    /// The unique number of the client's connection. The streams of an HTTP/2 connection share it.
    let number: UInt64
    let frame: GatewayFrame
    let servers: UpstreamConnections
    /// The sites that are offered to clients that use no proxy; `nil` in a proxy.
    let origins: ReverseOrigins?
    /// The users, one of whom the client has to be; `nil` if the gateway has none, or for the connection of one user.
    let users: ClientUsers?
    /// The connection as that of the user who has sent the present request, if the gateway has users. Only it uses a jar.
    var guest: ClientConnection?
    /// The gateways that the tunnel has passed through which the requests come.
    var passed = PassedGateways()
    /// The connection that a tunnel has opened, without TLS, for the first request in it.
    var spare: ByteStream?
    /// Whether the connection waits for a request, so that nothing is lost if it closes.
    private var isIdle = false
    private(set) var isStopping = false
    private(set) var isAborted = false
    /// The streams of an HTTP/2 connection; `nil` for other connections.
    var streams: [ObjectIdentifier: ClientConnection]?
    /// How many requests of an HTTP/2 connection are in progress. The work for a request may end after its stream.
    var work = 0
    /// Closes an HTTP/2 connection after a while without a stream.
    var idleTimer: GatewayTimer?
    /// When the last octet of the present exchange, or of a tunnel, passed in either direction.
    private var lastProgress = NIODeadline.uptimeNanoseconds(0)
    /// When the last octet of the present request was sent; `nil` while its body is being sent.
    var requestEnd: NIODeadline?
    /// The connection to a server that is in use.
    private var server: ByteStream?
    /// The attempt to open such a connection.
    var opening: ConnectionOpening?

    private static let numbers = Atomic<UInt64>(0)

    init(
        _ client: ByteStream, number: UInt64? = nil, _ frame: GatewayFrame, servers: UpstreamConnections,
        origins: ReverseOrigins? = nil, users: ClientUsers? = nil
    ) {
        self.client = client
        self.number = number ?? Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
        self.frame = frame
        self.servers = servers
        self.origins = origins
        self.users = users
        executor = client.channel.eventLoop.executor
    }

    nonisolated var gate: JarRequestPolicy { frame.gate }
    nonisolated var limits: GatewayEnvironment.Limits { frame.environment.limits }

    /// Serves the client until the connection ends. Closes it.
    func run() async {
        // A connection may be accepted just when the gateway stops.
        guard !isStopping, !Task.isCancelled else { return await client.close() }
        do {
            let access = PeerUser.access(client.channel)
            isIdle = true
            let hasBegun = try await client.hasOctets(within: firstLimit)
            isIdle = false
            switch access {
            case .permitted: break
            case .denied:
                return try await refuse(
                    GatewayFailure(
                        .httpRequestDenied, 403, "the gateway belongs to another user of this machine",
                        nextStep: "Run a gateway of your own: crumb gateway run."),
                    method: "GET")
            case .unknown:
                return try await refuse(
                    GatewayFailure(
                        .proxyInternalError, 503,
                        "the gateway cannot find out which user of this machine the connection belongs to",
                        nextStep: "Try again: the system may have no descriptor left for it."),
                    method: "GET")
            }
            switch hasBegun ? await client.firstOctet : nil {
            case nil: break
            case _ where origins != nil: try await serveRequests(through: nil)
            case SOCKSHandshake.version: try await serveSOCKS()
            case SOCKSHandshake.formerVersion:
                try await client.write(ByteBuffer(bytes: SOCKSHandshake.formerRefusal))
            case let octet? where !ASCII.isTokenCharacter(octet) && octet != ASCII.carriageReturn:
                try await refuse(.requestInvalid(.startLineInvalid), method: "GET")
            default:
                try await serveRequests(through: nil)
            }
        } catch {
            // The client has disconnected, or takes too long.
        }
        if let spare { await spare.close() }
        if let spare = await guest?.spare { await spare.close() }
        await client.close()
        await servers.release(client: number)
        await guest?.servers.release(client: number)
    }

    /// Ends the connection after the present request.
    func stop() async {
        isStopping = true
        await guest?.stop()
        for stream in streams?.values ?? [:].values { await stream.stop() }
        if streams != nil {
            // The client gets a GOAWAY frame, and sends further requests elsewhere.
            client.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        } else if isIdle {
            await client.close()
        }
    }

    /// Ends the connection at once.
    func abort() async {
        isAborted = true
        await guest?.abort()
        for stream in streams?.values ?? [:].values { await stream.abort() }
        opening?.cancel()
        await client.abort()
        await server?.abort()
    }

    /// Waits for a server's answer. Aborts the server's connection if the client disconnects meanwhile.
    func waiting<Answer: Sendable>(for answer: () async throws -> Answer) async throws -> Answer {
        guard !client.isStream else { return try await answer() }
        await watchClient(after: limits.ended)
        let result: Result<Answer, any Error>
        do { result = .success(try await answer()) } catch { result = .failure(error) }
        await client.forgetAbsence()
        return try result.get()
    }

    /// Aborts the connection if the client disconnects, until ``ByteStream/forgetAbsence()``.
    func watchClient(after limit: TimeAmount?) async {
        await client.whenGone(after: limit) { [weak self] in Task { await self?.abort() } }
    }

    /// Sets the connection to a server that is in use, so that it can be aborted.
    func use(_ server: ByteStream?) {
        self.server = server
    }

    // MARK: - Limits

    /// How long the first octet of the next request may take. A client that has to sign in first gets less time.
    private var firstLimit: TimeAmount { users != nil && guest == nil ? min(limits.head, limits.idle) : limits.idle }

    /// How long a client that has not signed in may keep a connection open that the gateway closes.
    private static let refusedLimit = TimeAmount.seconds(2)

    /// The present time of the clock for the limits.
    var time: NIODeadline { client.clock.now }

    /// Records that octets have passed.
    func noteProgress() { lastProgress = time }

    /// Waits for octets, or for room for them, as long as octets pass in either direction.
    func whileBusy<Value: Sendable>(_ action: (TimeAmount) async throws -> Value) async throws -> Value {
        while true {
            do {
                let value = try await action(lastProgress + limits.body - time)
                noteProgress()
                return value
            } catch StreamError.timedOut where time < lastProgress + limits.body {
                // The other direction has gone on.
            }
        }
    }

    // MARK: - Requests

    /// Serves one request after the other.
    ///
    /// Tasks keep the memory of their deepest calls until they end. So a separate task serves requests, and ends when
    /// the connection becomes idle.
    ///
    /// - Parameter tunnel: The destination of the tunnel that the requests come through; `nil` outside of a tunnel.
    func serveRequests(through tunnel: Destination?) async throws {
        while !isStopping, try await hasRequest(within: limits.idle) {
            let goesOn = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask { try await self.serveBurst(through: tunnel) }
                return try await group.next() ?? false
            }
            guard goesOn else { return }
        }
    }

    /// The time after which a connection without a request counts as idle.
    private static let pause = TimeAmount.milliseconds(100)

    /// Serves requests until the connection becomes idle.
    ///
    /// - Returns: Whether the connection can be used for another one.
    private func serveBurst(through tunnel: Destination?) async throws -> Bool {
        repeat {
            guard try await serveRequest(through: tunnel), !isStopping else { return false }
        } while try await hasRequest(within: ClientConnection.pause)
        return true
    }

    /// Waits for the first octet of a request.
    func hasRequest(within limit: TimeAmount) async throws -> Bool {
        isIdle = true
        defer { isIdle = false }
        do {
            return try await client.hasOctets(within: limit)
        } catch StreamError.timedOut {
            return false
        }
    }

    /// Reads and serves one request.
    ///
    /// - Returns: Whether the connection can be used for another one.
    private func serveRequest(through tunnel: Destination?) async throws -> Bool {
        let octets: [UInt8]?
        do {
            octets = try await client.head(idle: firstLimit, within: limits.head)
        } catch let error as MessageError {
            try await refuse(.requestInvalid(error), method: "GET")
            return false
        } catch StreamError.timedOut {
            guard await client.firstOctet != nil else { return false }
            try await refuse(.requestTooSlow("head"), method: "GET")
            return false
        }
        guard let octets else { return false }
        guard let users else { return try await serve(octets, through: tunnel) }
        guard let guest = try await guest(for: octets, of: users) else { return false }
        return try await guest.serve(octets, through: tunnel)
    }

    /// Serves one request.
    ///
    /// - Returns: Whether the connection can be used for another one.
    private func serve(_ octets: [UInt8], through tunnel: Destination?) async throws -> Bool {
        var method = "GET"
        var record = GatewayRecord(time: gate.now())
        do {
            var head: MessageHead
            let line: RequestLine
            let request: ForwardedRequest?
            do {
                head = try MessageHead(octets, from: .client)
                line = try RequestLine(head.octets.span.extracting(head.startLine))
                method = String(decoding: head.octets[head.startLine][inside: line.method], as: UTF8.self)
                record.method = method
                record.url = shownURL(head, line)
                if let origins {
                    let mapping: OriginMapping
                    (head, mapping) = try origins.request(head, line)
                    request = try ForwardedRequest(
                        head, line, through: origins.site.destination, mapping: mapping)
                } else if case .authority = line.form {
                    request = nil
                } else {
                    request = try ForwardedRequest(head, line, through: tunnel)
                }
            } catch let error as MessageError {
                throw GatewayFailure.requestInvalid(error)
            }
            guard !PassedGateways(head).names.contains(servers.gateway) else { throw GatewayFailure.loop }
            guard let request else {
                record.isDecorated = false
                try await openTunnel(head, line, isNested: tunnel != nil)
                return false
            }
            record.url = shown(request.url)
            record.host = request.url.host
            guard !["TRACE", "TRACK"].contains(method.uppercased()) else {
                throw GatewayFailure(
                    .httpRequestDenied, 405, "the gateway does not pass on TRACE, whose answer would show the cookies",
                    nextStep: "Use another method.")
            }
            if request.forwardsLeft == 0 { return try await answerLastForward(request, record) }
            let logins = await frame.logins?.counts ?? [:]
            let decision = try await gate.decision(on: request)
            record.isDecorated = decision.context != nil
            record.verdict = decision.verdict
            record.cookiesDeleted = decision.deleted
            record.hint = decision.hint
            if let events = gate.events, events.contains(request.url) {
                return try await take(events, request, decision.verdict)
            }
            let keepsConnection = try await exchange(request, decision, after: logins, &record)
            frame.observe(record)
            return keepsConnection
        } catch let failure as GatewayFailure {
            record.fail(failure)
            frame.observe(record)
            try await refuse(failure, method: method, cacheStatus: record.cacheStatus)
            return false
        } catch {
            frame.observe(record)
            throw error
        }
    }

    /// Answers an OPTIONS request that must not be forwarded (RFC 9110, section 7.6.2).
    ///
    /// - Returns: Whether the connection can be used for another request.
    private func answerLastForward(_ request: ForwardedRequest, _ record: GatewayRecord) async throws -> Bool {
        var record = record
        record.status = 200
        record.isDecorated = false
        frame.observe(record)
        let keepsConnection = request.keepsConnection && request.framing == .none
        try await client.write(
            ByteBuffer(
                string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(keepsConnection ? "" : "Connection: close\r\n")\r\n")
        )
        if !keepsConnection { await client.closeLingering() }
        return keepsConnection
    }

    /// The URL of a request in its record, before the request is checked.
    func shownURL(_ head: MessageHead, _ line: RequestLine) -> String {
        let target = Array(head.octets[head.startLine][inside: line.target])
        if let origins, case .origin = line.form,
            let url = try? RequestURL(Octets(Array(origins.site.url.origin.utf8) + target))
        {
            return shown(url)
        }
        // The target of a CONNECT request must not have user information. If it has, that is a secret, too.
        let isAuthority = if case .authority = line.form { true } else { false }
        let user = isAuthority ? target.lastIndex(of: ASCII.at) : nil
        let shown = target[(user.map { $0 + 1 } ?? 0)...]
        return String(decoding: shown.prefix { $0 != ASCII.questionMark }, as: UTF8.self)
    }

    /// The URL of a request in its record.
    private func shown(_ url: RequestURL) -> String {
        // The path of events must not be shown.
        gate.events?.contains(url) == true
            ? "\(url.origin)/.well-known/crumb" : String(decoding: url.withoutQuery, as: UTF8.self)
    }

    /// Reports a tunnel.
    ///
    /// - Parameter failure: The reason why it was not opened; `nil` if it was opened and its octets pass unread.
    func observeTunnel(_ method: String, to destination: Destination, _ failure: GatewayFailure?) {
        var record = GatewayRecord(time: gate.now())
        record.method = method
        record.url = destination.description
        record.isDecorated = false
        record.host = destination.host
        record.isUnread = failure == nil
        if let failure { record.fail(failure) } else { record.status = 200 }
        frame.observe(record)
    }

    /// Reports a client that ended its connection to the gateway after it saw the certificate, before its first request.
    func observeDistrust(of destination: Destination) {
        var record = GatewayRecord(time: gate.now())
        record.method = "CONNECT"
        record.url = destination.description
        record.isDecorated = false
        record.host = destination.host
        record.hint = .authorityNotTrusted
        record.failure = GatewayFailure.Kind.tlsAlertReceived.rawValue
        frame.observe(record)
    }

    /// Answers instead of the server, and closes the connection.
    func refuse(_ failure: GatewayFailure, method: String, cacheStatus: String? = nil) async throws {
        try await client.write(ByteBuffer(bytes: failure.response(to: method, cacheStatus: cacheStatus)))
        await client.closeLingering(within: users == nil ? ByteStream.writeLimit : ClientConnection.refusedLimit)
    }
}
