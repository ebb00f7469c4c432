import HTTPMessages
import NIOCore
import WebPrimitives

extension TrafficReplay: ResponseSource {
    func answer(
        _ pending: inout PendingRequest, of connection: isolated ClientConnection, _ record: inout GatewayRecord
    ) async throws -> Bool? {
        let request = pending.request
        connection.recordWithoutServer(&pending)
        var body: [UInt8]?
        var isRead = request.framing == .none
        if needsBody(of: request) { (body, isRead) = try await connection.readBody(of: &pending, spools: spools) }
        guard let index = choose(for: request, body: body) else { return nil }
        let replayed: ReplayedResponse
        do {
            replayed = try await response(index, toHead: request.method == "HEAD")
        } catch {
            throw GatewayFailure(
                .proxyInternalError, 500, "the recording cannot be read: \(error)",
                nextStep: "Start the gateway again.")
        }
        // It is not the request that a server got, and has nothing of the jar.
        await pending.entry?.respond(replayed.response, from: .recording)
        record.isReplayed = true
        if let context = pending.decision.context {
            record.note(try await connection.gate.store(replayed.response, in: context))
        }
        if !isRead { isRead = try await connection.discardBody(of: pending) }
        return try await connection.deliver(
            replayed.response, from: ReplayedBody(self, replayed), to: pending, closing: !isRead, &record)
    }
}

/// The body of a response in a recording.
private struct ReplayedBody: ResponseBody {
    private let replay: TrafficReplay
    /// Where the rest of its text is in the file; `nil` if it has none.
    private var position: Int?
    private var text: HARBodyText

    init(_ replay: TrafficReplay, _ response: ReplayedResponse) {
        self.replay = replay
        position = response.text
        text = HARBodyText(isBase64: response.isBase64)
    }

    var isHere: Bool { true }

    mutating func nextPiece(within limit: TimeAmount?) async throws -> BodyReader.Piece {
        while let position, !text.isComplete {
            let octets = try await replay.octets(at: position)
            self.position = position + octets.count
            guard !octets.isEmpty, let data = text.decode(octets) else { throw StreamError.endedEarly }
            if !data.isEmpty { return .data(ByteBuffer(bytes: data)) }
        }
        return .end(trailers: [])
    }
}

extension ClientConnection {
    /// Reads the body of a request, up to the length that is compared with entries. The octets are kept for a server.
    ///
    /// - Returns: The body, `nil` if it is too long, and whether all of it was read.
    fileprivate func readBody(
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
                piece = try await client.nextPiece(within: limits.body)
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

    /// Reads the body of a request that is not sent to a server.
    ///
    /// - Returns: Whether all of it was read.
    fileprivate func discardBody(of pending: PendingRequest) async throws -> Bool {
        // The client waits for permission to send it.
        guard !pending.request.head.has("expect") else { return false }
        while true {
            do {
                let piece = try await client.nextPiece(within: limits.body)
                await pending.entry?.append(toRequest: piece)
                if case .end = piece { return true }
            } catch let error as MessageError {
                throw GatewayFailure.requestInvalid(error)
            }
        }
    }
}
