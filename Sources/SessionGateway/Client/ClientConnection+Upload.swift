import HTTPMessages
import NIOCore

extension ClientConnection {
    /// How the body of a request ended.
    enum UploadEnd {
        case sent
        /// The rest was not read from the client.
        case stopped
        case failed
        /// The body is refused, and the client can be told why.
        case refused(GatewayFailure)

        /// Fails if the client cannot send the rest.
        func check() throws {
            switch self {
            case .sent, .stopped: break
            case .failed: throw StreamError.endedEarly
            case .refused(let failure): throw failure
            }
        }
    }

    /// Sends the body of a request: first the part of an earlier attempt, then the rest.
    func sendBody(
        of request: ForwardedRequest, keptIn spool: BodySpool?, recordedIn entry: RecordedExchange?,
        to server: ByteStream
    ) async -> UploadEnd {
        /// Sends a piece. Returns whether it was the end of the body.
        func send(_ piece: BodyReader.Piece) async throws -> Bool {
            await entry?.append(toRequest: piece)
            switch piece {
            case .data(let data):
                try await server.write(request.framing == .chunked ? data.asChunk : data)
                return false
            case .end(let trailers):
                if request.framing == .chunked { try await server.write(.lastChunk(trailers)) }
                return true
            }
        }
        requestEnd = nil
        noteProgress()
        defer { requestEnd = time }
        do {
            var position = 0
            while let piece = try await spool?.piece(at: position) {
                if try await send(piece) { return .sent }
                if case .data(let data) = piece { position += data.readableBytes }
            }
            while true {
                let piece = try await whileBusy { try await client.nextPiece(within: $0) }
                await spool?.append(piece)
                if try await send(piece) { return .sent }
            }
        } catch let error as MessageError {
            // The server has only part of an invalid request, and must not wait for the rest.
            await server.abort()
            return .refused(.requestInvalid(error))
        } catch StreamError.timedOut {
            await server.abort()
            return .refused(.requestTooSlow("body"))
        } catch {
            // Stopped, because the response has arrived.
            if case StreamError.stopped? = error as? StreamError { return .stopped }
            let isClientGone = await client.hasFailed
            await server.abort()
            return isClientGone ? .failed : .stopped
        }
    }
}
