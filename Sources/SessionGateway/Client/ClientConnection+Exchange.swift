import CookieModel
import HTTPMessages
import NIOCore
import RequestDecoration
import ResponseStore
import WebPrimitives

/// A source of responses to requests: servers, a cache, or a recording.
protocol ResponseSource: Sendable {
    /// Answers a request with ``ClientConnection/deliver(_:from:to:closing:_:)``.
    ///
    /// - Returns: Whether the client's connection can be used for another request; `nil` if this source has no response, so
    ///   that the next source is asked.
    /// - Throws: `GatewayFailure` if the client can be told, other errors if it cannot be.
    func answer(
        _ pending: inout PendingRequest, of connection: isolated ClientConnection, _ record: inout GatewayRecord
    ) async throws -> Bool?
}

/// The body of a response that is being passed on.
protocol ResponseBody: Sendable {
    /// Whether a part of the body has already arrived.
    var isHere: Bool { get async }

    /// Returns the next piece of the body, or its end.
    ///
    /// - Parameter limit: the maximum time to wait for it.
    mutating func nextPiece(within limit: TimeAmount?) async throws -> BodyReader.Piece
}

extension ByteStream: ResponseBody {
    var isHere: Bool { available.readableBytes > 0 }
}

extension ClientConnection {
    /// Answers a request from the first source that has a response.
    ///
    /// - Parameter counts: The numbers of logins before the decision.
    /// - Returns: Whether the client's connection can be used for another request.
    func exchange(
        _ request: ForwardedRequest, _ decision: GatewayDecision, after counts: [LoginRule: Int],
        _ record: inout GatewayRecord
    ) async throws -> Bool {
        var request = request
        request.needsReadableCoding = frame.environment.recording?.redaction != nil
        let login: RequestLogin? =
            if let logins = frame.logins { try await RequestLogin(logins, request, decision, after: counts) } else {
                nil
            }
        var pending = PendingRequest(request, decision, login)
        if request.framing != .none { await client.beginBody(request.framing) }
        do {
            for source in frame.sources {
                guard let keepsConnection = try await source.answer(&pending, of: self, &record) else { continue }
                await pending.entry?.end()
                return keepsConnection
            }
            if pending.entry == nil { recordWithoutServer(&pending) }
            throw GatewayFailure.offline(request, in: frame)
        } catch {
            await pending.entry?.end(error)
            throw error
        }
    }

    /// Begins the recording's entry for a request that is not sent to a server.
    func recordWithoutServer(_ pending: inout PendingRequest) {
        let request = pending.request
        pending.entry = frame.environment.recording.map { RecordedExchange($0, replaying: request, now: gate.now) }
    }

    /// Passes on a response whose cookies are stored.
    ///
    /// - Parameters:
    ///   - body: The source of its body.
    ///   - closes: Whether the client's connection ends with it in any case.
    /// - Returns: Whether the client's connection can be used for another request.
    func deliver(
        _ response: ForwardedResponse, from body: any ResponseBody, to pending: PendingRequest,
        closing closes: Bool = false, _ record: inout GatewayRecord
    ) async throws -> Bool {
        let (writesChunks, keepsClient) = await deliverHead(of: response, to: pending, closing: closes, &record)
        var body = body
        let storing = pending.cached.flatMap { $0.takesBody ? $0 : nil }
        // A server may have nothing to send for a while, so the gateway has to notice meanwhile that the client is
        // gone.
        var isWatched = client.isStream
        noteProgress()
        do {
            while true {
                if await !body.isHere {
                    await client.flush()
                    if !isWatched { await watchClient(after: nil) }
                    isWatched = true
                }
                let piece = try await whileBusy { try await body.nextPiece(within: $0) }
                await pending.entry?.append(toResponse: piece)
                switch piece {
                case .data(let data):
                    await storing?.append(Array(data.readableBytesView), now: gate.now())
                    try await client.write(writesChunks ? data.asChunk : data)
                case .end(let trailers):
                    await storing?.finish(now: gate.now())
                    if writesChunks { try await client.write(.lastChunk(trailers)) } else { await client.flush() }
                    await client.forgetAbsence()
                    return keepsClient
                }
            }
        } catch {
            await client.forgetAbsence()
            await storing?.breakOff(now: gate.now())
            // The head was sent, so only the end of the connection can tell the client that the body is incomplete. If
            // the connection's end normally ends the body, it has to be a reset.
            let isLate = if case StreamError.timedOut? = error as? StreamError { true } else { false }
            let kind: GatewayFailure.Kind =
                isLate ? .connectionReadTimeout : error is MessageError ? .httpProtocolError : .connectionTerminated
            record.failure = kind.rawValue
            if response.hasUnknownLength, !writesChunks { await client.abort() }
            throw error
        }
    }

    /// Passes on the head of a response.
    ///
    /// - Returns: Whether its body is sent in chunks, and whether the client's connection can be used for another request.
    func deliverHead(
        of response: ForwardedResponse, to pending: PendingRequest, closing closes: Bool, _ record: inout GatewayRecord
    ) async -> (writesChunks: Bool, keepsClient: Bool) {
        let (request, decision) = (pending.request, pending.decision)
        record.status = response.status
        let cacheStatus = pending.statusField
        record.cacheStatus = cacheStatus.map { String(decoding: $0, as: UTF8.self) }
        // A body that ends with the connection is sent in chunks, so that the client's connection stays open.
        let writesChunks = response.hasUnknownLength && request.line.minorVersion > 0 && !response.isCut
        let keepsClient =
            request.keepsConnection && (writesChunks || !response.hasUnknownLength) && !isStopping && !response.isCut
            && !closes
        var head = response.octets(
            chunked: writesChunks, closes: !keepsClient, intercepted: request.destination.isEncrypted,
            mapping: request.mapping,
            before: pending.withheld.compactMap { gate.line(for: request, inPlaceOf: $0) },
            clearing: pending.clearing, adding: gate.lines(decision), hint: decision.hint,
            cacheStatus: cacheStatus
        ) { line in
            guard !response.isOfProxy, !pending.isOutdated else { return nil }
            return decision.context == nil ? line : gate.line(for: request, inPlaceOf: line)
        }
        // The client sees the same as without the gateway.
        if response.isCut { head.removeLast(2) }
        await client.enqueue(ByteBuffer(bytes: head))
        return (writesChunks, keepsClient)
    }
}
