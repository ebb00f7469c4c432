import HTTPMessages
import NIOCore

extension ClientConnection {
    /// Reads responses up to the final one. Earlier ones are passed on at once.
    ///
    /// - Parameter patience: How long the network may take for the request and its confirmation; `nil` for the limit of
    ///   the response.
    func finalResponse(
        to request: ForwardedRequest, from server: ByteStream, within patience: TimeAmount? = nil
    ) async throws -> ForwardedResponse {
        for count in 0..<limits.interimResponses {
            let octets: [UInt8]?
            let start = await server.consumed
            do {
                octets =
                    try await hasAnswer(from: server, within: count == 0 ? patience : nil)
                    ? await server.head(idle: limits.response, within: limits.head) : nil
            } catch let error as MessageError {
                throw GatewayFailure.responseInvalid(error, from: request.destination.description)
            } catch StreamError.endedEarly {
                if let response = await cutResponse(to: request, from: server) { return response }
                throw GatewayFailure(
                    .httpResponseIncomplete, 502,
                    "\(request.destination.description) ends the connection in the head of its response",
                    nextStep: "Check that an HTTP server listens on this port.")
            } catch {
                throw UnansweredError(cause: error, isFirst: count == 0)
            }
            guard let octets else { throw UnansweredError(cause: StreamError.endedEarly, isFirst: count == 0) }
            var response: ForwardedResponse
            do {
                response = try ForwardedResponse(MessageHead(octets, from: .server), toHead: request.method == "HEAD")
            } catch {
                throw GatewayFailure.responseInvalid(error, from: request.destination.description)
            }
            response.start = start
            guard response.isInterim else { return response }
            if requestEnd != nil { requestEnd = time }
            if request.line.minorVersion > 0 {
                let head = response.octets(chunked: false, closes: false, mapping: request.mapping) { _ in nil }
                try await client.write(ByteBuffer(bytes: head))
            }
        }
        throw GatewayFailure(
            .httpProtocolError, 502, "\(request.destination.description) sends interim responses only",
            nextStep: "Report it to the people who run the server.")
    }

    /// Waits for the first octet of a response. The time for it begins when the request is complete.
    ///
    /// - Returns: `false` at the end of the connection.
    /// - Throws: ``StreamError/unacknowledged`` if the server's system has not confirmed the request after half of
    ///   `patience`. The other half is for a new connection.
    private func hasAnswer(from server: ByteStream, within patience: TimeAmount?) async throws -> Bool {
        if let patience {
            let time = TimeAmount.nanoseconds(patience.nanoseconds / 2)
            do {
                return try await server.hasOctets(within: time)
            } catch StreamError.timedOut {
                let socket = server.channel.parent.flatMap { server.isStream ? $0 : nil } ?? server.channel
                guard await frame.environment.isAcknowledged(socket, time) else { throw StreamError.unacknowledged }
            }
        }
        while true {
            do {
                let deadline = (requestEnd ?? time) + limits.response
                return try await server.hasOctets(within: deadline - time)
            } catch StreamError.timedOut where requestEnd.map({ time < $0 + limits.response }) ?? true {
                // The body of the request is under way, or has ended meanwhile.
            }
        }
    }

    /// The response whose head has no empty line, because the server has closed the connection; `nil` if it is not a
    /// response.
    ///
    /// Browsers accept it over http, so the client gets it as it is. Over https, an attacker may have cut it to remove
    /// the attributes of a cookie.
    private func cutResponse(to request: ForwardedRequest, from server: ByteStream) async -> ForwardedResponse? {
        guard !request.destination.isEncrypted,
            let head = try? MessageHead(await server.takeCutHead(), from: .server),
            let response = try? ForwardedResponse(head, toHead: request.method == "HEAD", cut: true)
        else { return nil }
        return response.isInterim || response.status == 101 ? nil : response
    }
}
