import HTTPMessages
import NIOCore

extension ClientConnection {
    /// Passes a response on, whose cookies are stored.
    ///
    /// - Parameter closes: Whether the client's connection ends with it in any case.
    /// - Returns: Which of the two connections can be used for another request.
    func deliver(
        _ response: ForwardedResponse, to pending: PendingRequest, from server: ByteStream,
        closing closes: Bool = false, _ record: inout GatewayRecord
    ) async throws -> (client: Bool, server: Bool) {
        let (request, decision) = (pending.request, pending.decision)
        record.status = response.status
        // A body that ends with the connection is sent in chunks, so that the client's connection goes on.
        let isChunked =
            response.framing == .chunked || response.framing == .untilClose
        let writesChunks = isChunked && request.line.minorVersion > 0 && !response.isCut
        let keepsClient =
            request.keepsConnection && (writesChunks || !isChunked) && !isStopping && !response.isCut && !closes
        var head = response.octets(
            chunked: writesChunks, closes: !keepsClient, intercepted: request.destination.isEncrypted,
            mapping: request.mapping,
            before: pending.withheld.compactMap { gate.line(for: request, inPlaceOf: $0) },
            clearing: pending.clearing, adding: gate.lines(decision), hint: decision.hint
        ) { line in
            guard !response.isOfProxy, !pending.isOutdated else { return nil }
            return decision.context == nil ? line : gate.line(for: request, inPlaceOf: line)
        }
        // The client sees the same as without the gateway.
        if response.isCut { head.removeLast(2) }
        await client.enqueue(ByteBuffer(bytes: head))
        if response.status == 101 {
            await client.flush()
            await pending.entry?.end()
            await join(client, server)
            return (client: false, server: false)
        }
        await server.beginBody(response.framing)
        try await sendBody(
            of: response, from: server, recordedIn: pending.entry, inChunks: writesChunks, &record)
        return (client: keepsClient, server: response.keepsConnection)
    }

    /// Sends the body of a response.
    private func sendBody(
        of response: ForwardedResponse, from server: ByteStream, recordedIn entry: RecordedExchange?,
        inChunks writesChunks: Bool, _ record: inout GatewayRecord
    ) async throws {
        // A server may wait for something to tell; a client that has gone does not.
        var isWatched = client.isStream
        noteProgress()
        do {
            while true {
                if await server.available.readableBytes == 0 {
                    await client.flush()
                    if !isWatched { await watchClient(after: nil) }
                    isWatched = true
                }
                let piece = try await whileBusy { try await server.nextPiece(within: $0) }
                await entry?.append(toResponse: piece)
                switch piece {
                case .data(let data): try await client.write(writesChunks ? data.asChunk : data)
                case .end(let trailers):
                    if writesChunks { try await client.write(.lastChunk(trailers)) } else { await client.flush() }
                    await client.forgetAbsence()
                    return
                }
            }
        } catch {
            await client.forgetAbsence()
            // The head has gone: only the end of the connection tells the client that the body is not complete. If the end
            // of the connection is that of the body, it has to be a reset.
            let isLate = if case StreamError.timedOut? = error as? StreamError { true } else { false }
            let kind: GatewayFailure.Kind =
                isLate ? .connectionReadTimeout : error is MessageError ? .httpProtocolError : .connectionTerminated
            record.failure = kind.rawValue
            if [.untilClose, .chunked].contains(response.framing), !writesChunks { await client.abort() }
            throw error
        }
    }
}
