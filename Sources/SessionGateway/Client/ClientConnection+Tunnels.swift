import HTTPMessages
import NIOCore
import NIOSSL
import WebPrimitives

extension ClientConnection {
    /// Answers a CONNECT request and serves the tunnel (RFC 9110, section 9.3.6).
    ///
    /// - Parameter isNested: Whether the request itself came through a tunnel. Tunnels in tunnels are refused.
    func openTunnel(_ head: MessageHead, _ line: RequestLine, isNested: Bool) async throws {
        let target = head.octets[head.startLine][inside: line.target]
        guard !isNested, let authority = Authority(Octets(Array(target))), let port = authority.port
        else { throw GatewayFailure.requestInvalid(.targetInvalid) }
        // The request has no body, whatever its fields state. Octets after it belong to the tunnel.
        guard !head.has("content-length"), !head.has("transfer-encoding") else {
            throw GatewayFailure.requestInvalid(.framingContradictory)
        }
        passed = PassedGateways(head)
        let destination = Destination(host: authority.host, port: port)
        guard !frame.settings.isOffline || frame.authority(for: destination.host) != nil else {
            throw GatewayFailure.offline(tunnel: destination)
        }
        let server = try await openServer(destination)
        try await client.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
        guard let server else { return try await serveUnopenedTunnel("CONNECT", to: destination) }
        try await serveTunnel("CONNECT", to: destination, server)
    }

    /// Serves a connection that a SOCKS client requests, as that of the user whom the client signs in as.
    func serveSOCKS() async throws {
        let deadline = time + limits.head
        guard let (isPermitted, place) = try await SOCKSHandshake.signIn(client, by: deadline, as: users)
        else { return }
        guard isPermitted else { return observeRefusedSOCKS() }
        guard let place else { return try await serveSOCKSRequest(by: deadline) }
        try await guest(at: place).serveSOCKSRequest(by: deadline)
    }

    /// Reports a SOCKS client that has not signed in as the gateway requires.
    private func observeRefusedSOCKS() {
        guard users != nil else { return }
        var record = GatewayRecord(time: gate.now())
        record.method = "SOCKS"
        record.isDecorated = false
        record.failure = GatewayFailure.Kind.httpRequestDenied.rawValue
        frame.observe(record)
    }

    private func serveSOCKSRequest(by deadline: NIODeadline) async throws {
        guard let destination = try await SOCKSHandshake.destination(from: client, by: deadline)
        else { return }
        let server: ByteStream?
        do {
            server = try await openServer(destination)
        } catch let failure as GatewayFailure {
            observeTunnel("SOCKS", to: destination, failure)
            return try await client.write(ByteBuffer(bytes: SOCKSHandshake.Reply(failure).octets))
        }
        try await client.write(ByteBuffer(bytes: SOCKSHandshake.Reply.succeeded.octets))
        guard let server else { return try await serveUnopenedTunnel("SOCKS", to: destination) }
        try await serveTunnel("SOCKS", to: destination, server)
    }

    /// Opens the connection for a tunnel; `nil` if it may not be needed, because the gateway reads the requests in the
    /// tunnel or is offline.
    ///
    /// Browsers open tunnels that they may not need. A server that accepts one handshake after the other would wait for
    /// the handshake of a connection without a request.
    private func openServer(_ destination: Destination) async throws -> ByteStream? {
        guard !frame.settings.isOffline, frame.authority(for: destination.host) == nil else { return nil }
        return try await openTunnelled(destination)
    }

    /// Opens the connection of a tunnel. It is closed at the end, unless it is in use.
    private func openTunnelled(_ destination: Destination) async throws -> ByteStream {
        let route = route(to: destination, isTunnel: true, ConnectionPartition(client: number))
        let server = try await open { [passed] () throws(GatewayFailure) in
            (try await self.servers.open(route, after: passed), false)
        }.server
        spare = server
        return server
    }

    /// Serves a tunnel that is not connected to a server yet.
    private func serveUnopenedTunnel(_ method: String, to destination: Destination) async throws {
        do {
            let limit = frame.settings.isOffline ? limits.idle : limits.hesitation
            guard try await client.hasOctets(within: limit) else { return }
        } catch StreamError.timedOut where !frame.settings.isOffline {
            return try await serveTunnel(method, to: destination, try await openTunnelled(destination))
        }
        if await client.firstOctet == 0x16, let authority = frame.authority(for: destination.host) {
            return try await intercept(destination, authority)
        }
        if await beginsRequest() { return try await serveRequests(through: destination) }
        guard !frame.settings.isOffline else {
            return observeTunnel(method, to: destination, .offline(tunnel: destination))
        }
        let server = try await openTunnelled(destination)
        observeTunnel(method, to: destination, nil)
        await join(client, server)
    }

    /// Serves a tunnel.
    ///
    /// Browsers open tunnels also for WebSockets without TLS, and SOCKS clients for everything. So unencrypted requests
    /// are served as outside of a tunnel. Anything else passes unread.
    private func serveTunnel(_ method: String, to destination: Destination, _ server: ByteStream) async throws {
        if let authority = frame.authority(for: destination.host), try await isTLS(server) {
            return try await intercept(destination, authority)
        }
        // The first side to send decides: a server that sends first is not an HTTP server.
        async let isServerFirst = waitForServer(server)
        let isHTTP = await beginsRequest()
        await server.stopReading()
        let hasServerBegun = await isServerFirst
        await server.resumeReading()
        await client.resumeReading()
        guard isHTTP, !hasServerBegun else {
            observeTunnel(method, to: destination, nil)
            return await join(client, server)
        }
        try await serveRequests(through: destination)
    }

    /// Whether the client begins with a TLS handshake.
    private func isTLS(_ server: ByteStream) async throws -> Bool {
        async let isServerFirst = waitForServer(server)
        let hasBegun = (try? await client.hasOctets(within: limits.idle)) == true
        await server.stopReading()
        _ = await isServerFirst
        await server.resumeReading()
        await client.resumeReading()
        guard hasBegun else { return false }
        return await client.firstOctet == 0x16
    }

    /// Serves the requests in a tunnel to a host whose requests the gateway reads.
    private func intercept(_ destination: Destination, _ authority: CertificateAuthority) async throws {
        var destination = destination
        destination.isEncrypted = true
        // TLS to the server begins with the first request, so that its response can report a failure.
        do {
            try await client.startTLS(
                NIOSSLServerHandler(
                    context: authority.context(
                        for: destination.host, acceptingLegacyTLS: frame.settings.legacyTLS.contains(destination.host),
                        now: gate.now())),
                within: limits.head)
        } catch {
            guard TLSFailure.isDistrust(error, mayGoAway: mayConnectInAdvance || isStopping) else { throw error }
            return observeDistrust(of: destination)
        }
        guard await client.applicationProtocol != "h2" else { return try await serveHTTP2(to: destination) }
        // Node, and programs that pin certificates, look at the certificate after the handshake.
        if !mayConnectInAdvance, try await !hasRequest(within: limits.idle) {
            if !isStopping { observeDistrust(of: destination) }
            return
        }
        try await serveRequests(through: destination)
    }

    /// Whether the client may open connections in advance without a request, as browsers do. Such a connection then
    /// shows no distrust.
    var mayConnectInAdvance: Bool { gate.profile != nil }

    /// Waits for octets of the server, and then stops waiting for those of the client.
    private func waitForServer(_ server: ByteStream) async -> Bool {
        guard await server.waitForOctets() else { return false }
        await client.stopReading()
        return true
    }

    /// Waits for the client's first octets. Returns whether they begin an HTTP/1.1 request in origin form.
    func beginsRequest() async -> Bool {
        while true {
            switch RequestStart(await client.available.readableBytesUInt8Span) {
            case .yes: return true
            case .no: return false
            case .undecided: break
            }
            guard (try? await client.more(within: limits.idle)) == true else { return false }
        }
    }

    /// Passes octets both ways until both sides have ended, or one has failed.
    func join(_ client: ByteStream, _ server: ByteStream) async {
        spare = nil
        use(server)
        defer { use(nil) }
        noteProgress()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.copy(client, to: server) }
            group.addTask { await self.copy(server, to: client) }
        }
        // Either side may read slowly.
        async let serverEnd: Void = server.close()
        await client.close()
        await serverEnd
    }

    private func copy(_ source: ByteStream, to target: ByteStream) async {
        do {
            while true {
                let octets = await source.takeAvailable()
                if octets.readableBytes > 0 {
                    try await target.send(octets)
                    try await whileBusy { try await target.waitUntilWritable(within: $0) }
                } else if try await !whileBusy({ try await source.more(within: $0) }) {
                    return await target.endWriting()
                }
            }
        } catch {
            // A failed connection must not look like one that has ended regularly.
            await source.abort()
            await target.abort()
        }
    }
}

/// Checks whether octets are the beginning of an HTTP/1.1 request in origin form.
enum RequestStart {
    case yes
    case no
    case undecided

    /// The maximum length of a method.
    private static let methodLimit = 32

    init(_ bytes: Span<UInt8>) {
        var index = 0
        while index < bytes.count, bytes[index] != ASCII.space {
            guard index < RequestStart.methodLimit, ASCII.isTokenCharacter(bytes[index]) else {
                self = .no
                return
            }
            index += 1
        }
        guard index + 1 < bytes.count else {
            self = .undecided
            return
        }
        self = index > 0 && (bytes[index + 1] == ASCII.slash || bytes[index + 1] == UInt8(ascii: "*")) ? .yes : .no
    }
}
