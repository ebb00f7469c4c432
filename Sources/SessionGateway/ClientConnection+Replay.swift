import HTTPMessages
import NIOCore
import NIOSSL
import WebPrimitives

extension ClientConnection {
    /// Answers a request from the recording that is replayed.
    ///
    /// - Returns: Whether the client's connection can be used for another request; `nil` if a server has to answer.
    func replay(_ pending: inout PendingRequest, _ record: inout GatewayRecord) async throws -> Bool? {
        let request = pending.request
        guard let replay = settings.replay else {
            guard !settings.isOffline else { throw GatewayFailure.offline(request) }
            return nil
        }
        var body: [UInt8]?
        var isRead = request.framing == .none
        if replay.needsBody(of: request) {
            (body, isRead) = try await readBody(of: &pending, spools: replay.spools)
        }
        guard let index = replay.choose(for: request, body: body) else {
            guard !settings.isOffline else { throw GatewayFailure.offline(request) }
            return nil
        }
        let replayed: ReplayedResponse
        do {
            replayed = try await replay.response(index, toHead: request.method == "HEAD")
        } catch {
            throw GatewayFailure(
                .proxyInternalError, 500, "the recording cannot be read: \(error)",
                nextStep: "Start the gateway again.")
        }
        // It is not what a server got, and has nothing of the jar's.
        await pending.entry?.respond(replayed.response, replayed: true)
        record.isReplayed = true
        if let context = pending.decision.context {
            record.note(try await gate.store(replayed.response, in: context))
        }
        if !isRead { isRead = try await discardBody(of: pending) }
        return try await deliver(replayed, from: replay, to: pending, isRead: isRead, &record)
    }

    /// Reads the body of a request, as far as an entry's can be compared with it. What was read is kept for a server.
    ///
    /// - Returns: The body, `nil` if it is too long, and whether all of it was read.
    private func readBody(
        of pending: inout PendingRequest, spools: BodySpool.Budget
    ) async throws -> (body: [UInt8]?, isRead: Bool) {
        let spool = pending.login?.body ?? BodySpool(spools)
        pending.body = spool
        if pending.request.expectsPermission {
            try await client.write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
        }
        var body: [UInt8] = []
        while body.count <= TrafficReplay.bodyLimit {
            let piece: BodyReader.Piece
            do {
                piece = try await client.nextPiece(within: settings.limits.body)
            } catch let error as MessageError {
                throw GatewayFailure.requestInvalid(error)
            }
            await spool.append(piece)
            await pending.entry?.append(toRequest: piece)
            switch piece {
            case .data(let octets): body += octets.readableBytesView
            case .end: return (body, true)
            }
        }
        return (nil, false)
    }

    /// Reads the body of a request that no server gets.
    ///
    /// - Returns: Whether all of it was read.
    private func discardBody(of pending: PendingRequest) async throws -> Bool {
        // The client waits for leave to send it.
        guard !pending.request.head.has("expect") else { return false }
        while true {
            do {
                let piece = try await client.nextPiece(within: settings.limits.body)
                await pending.entry?.append(toRequest: piece)
                if case .end = piece { return true }
            } catch let error as MessageError {
                throw GatewayFailure.requestInvalid(error)
            }
        }
    }

    /// Sends a response of the recording.
    ///
    /// - Returns: Whether the client's connection can be used for another request.
    private func deliver(
        _ replayed: ReplayedResponse, from replay: TrafficReplay, to pending: PendingRequest, isRead: Bool,
        _ record: inout GatewayRecord
    ) async throws -> Bool {
        let (request, response) = (pending.request, replayed.response)
        record.status = response.status
        let writesChunks = replayed.text != nil && request.line.minorVersion > 0
        let keepsClient =
            request.keepsConnection && (writesChunks || replayed.text == nil) && isRead && !isStopping
        let head = response.octets(
            chunked: writesChunks, closes: !keepsClient, intercepted: request.destination.isEncrypted,
            mapping: request.mapping, adding: gate.lines(pending.decision), hint: pending.decision.hint
        ) { line in
            pending.decision.context == nil ? line : gate.line(for: request, inPlaceOf: line)
        }
        await client.enqueue(ByteBuffer(bytes: head))
        do {
            if var position = replayed.text {
                var text = ReplayedText(isBase64: replayed.isBase64)
                while !text.isComplete {
                    let octets = try await replay.octets(at: position)
                    position += Int64(octets.count)
                    guard !octets.isEmpty, let data = text.decode(octets) else { throw StreamError.endedEarly }
                    guard !data.isEmpty else { continue }
                    let piece = ByteBuffer(bytes: data)
                    await pending.entry?.append(toResponse: .data(piece))
                    try await client.write(writesChunks ? piece.asChunk : piece)
                }
                if writesChunks { await client.enqueue(.lastChunk([])) }
            }
            await client.flush()
        } catch {
            record.failure = GatewayFailure.Kind.connectionTerminated.rawValue
            if !writesChunks { await client.abort() }
            throw error
        }
        return keepsClient
    }

    // MARK: - Tunnels
}

extension GatewayFailure {
    fileprivate static func offline(_ request: ForwardedRequest) -> GatewayFailure {
        offline("\(request.method) \(SecretRedaction.url(request.url.description))")
    }

    /// A tunnel whose requests the gateway does not read.
    static func offline(tunnel destination: ForwardedRequest.Destination) -> GatewayFailure {
        GatewayFailure(
            .destinationUnavailable, 504,
            "the gateway is offline, and does not read the requests to \(destination.description)",
            nextStep: "Name the host with --intercept, so that the recording can answer them.")
    }

    /// - Parameter wanted: What would need a server.
    static func offline(_ wanted: String) -> GatewayFailure {
        GatewayFailure(
            .destinationUnavailable, 504, "the gateway is offline, and no recording answers \(wanted)",
            nextStep: "Record it with 'crumb gateway run --record FILE', or leave out --offline.")
    }
}
