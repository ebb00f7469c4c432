import CookieModel
import HTTPCaching
import HTTPMessages
import NIOCore
import RequestDecoration
import ResponseStore
import SessionStore
import WebPrimitives

/// The servers as a source of responses.
struct ServerSource: ResponseSource {
    func answer(
        _ pending: inout PendingRequest, of connection: isolated ClientConnection, _ record: inout GatewayRecord
    ) async throws -> Bool? {
        guard pending.request.cachePolicy != .returnCacheDataDontLoad else {
            connection.recordWithoutServer(&pending)
            throw GatewayFailure.notStored(pending.request, isOffline: false, isForOthers: false)
        }
        return try await connection.answerFromServer(&pending, &record)
    }
}

extension ClientConnection {
    /// Forwards a request and its response. Sends the request once more if the user has to be signed in.
    ///
    /// - Returns: Whether the client's connection can be used for another request.
    fileprivate func answerFromServer(
        _ pending: inout PendingRequest, _ record: inout GatewayRecord
    ) async throws -> Bool {
        while true {
            let request = pending.request
            try await pending.login?.present(in: &pending.decision, request, now: gate.now())
            let decoration = pending.decision.decoration
            pending.entry = frame.environment.recording.map { recording in
                RecordedExchange(
                    recording, request, head: request.octets(with: decoration),
                    jarFields: decoration?.headerFields.map(\.name) ?? [], now: gate.now)
            }
            if let keepsConnection = try await attempt(&pending, &record) { return keepsConnection }
            await pending.entry?.end()
            await pending.login?.begin()
            pending.decision = try await gate.decision(on: request, after: pending.withheld)
            if var cached = pending.cached {
                cached.restart(pending)
                pending.cached = cached
            }
            pending.request.cacheFields = nil
        }
    }

    /// How often to send a request again that, according to the server, was not processed.
    private static let refusalLimit = 8

    /// Forwards a request and its response.
    ///
    /// - Returns: `nil` if the request has to be sent once more.
    private func attempt(_ pending: inout PendingRequest, _ record: inout GatewayRecord) async throws -> Bool? {
        let request = pending.request
        let partition = ConnectionPartition(
            request, pending.decision, client: number, gate.jar.policy.publicSuffixes)
        let route = route(to: request.destination, isTunnel: request.isTunnelled, partition)
        let decoration = pending.decision.decoration
        let head = request.octets(
            with: decoration, toProxy: route.isToProxy, as: servers.gateway,
            proxyAuthorization: route.isToProxy ? route.proxy?.authorization : nil)
        var demand = UpstreamConnections.Demand()
        demand.isFresh = !request.mayBeRepeated
        demand.passed = passed
        demand.passed.add(PassedGateways(request.head))
        // NIOHPACK accepts values only as text.
        let isText = String(validating: head, as: UTF8.self) != nil
        // A long head makes some servers end the whole connection.
        demand.isHTTP1 = request.isUpgrade || !isText || head.count > HTTP2RequestCodec.headLimit
        // The octets of a WebSocket are the body of its stream, which must not have a stated length.
        demand.isWebSocket =
            isText && request.isUpgrade && request.framing == .none && !request.head.has("content-length")
            && WebSocketHandshake(of: request.head) != nil
        // A stored response need not wait for a network that does not answer.
        let hasAnswer = pending.cached?.hasAnswer(now: gate.now()) == true
        let patience = hasAnswer ? frame.network.patience(with: request.destination) : nil
        let deadline = patience.map { time + $0 }
        var refusals = 0
        while true {
            let (server, isReused) = try await connection(route, for: demand, within: deadline.map { $0 - time })
            use(server)
            defer { use(nil) }
            guard !isAborted else {
                await server.abort()
                throw StreamError.endedEarly
            }
            pending.cached?.requestTime = gate.now()
            record.cookiesSent = decoration?.cookies.cookies.map(\.name) ?? []
            do {
                let isAccepting = server.isStream && request.acceptsTrailers
                return try await send(
                    isAccepting ? request.octets(with: decoration, acceptingTrailers: true) : head,
                    of: &pending, to: server, route, within: patience, &record)
            } catch let error as UnansweredError
                where isReused && error.refusal == nil && error.mayBeRepeated && request.mayBeRepeated
            {
                // RFC 9112, section 9.3.1: the server closed the connection while the request was being sent.
                await server.abort()
                // The way to the server may be another one than when the connection was opened.
                if error.isUnacknowledged { await servers.retire(route) }
                demand.isFresh = true
                demand.isWebSocket = false
                refusals += 1
                if refusals > 1 { demand.isHTTP1 = true }
            } catch let error as UnansweredError {
                await server.abort()
                guard !isAborted else { throw StreamError.endedEarly }
                guard let refusal = error.refusal, error.isFirst || request.mayBeRepeated,
                    refusals < ClientConnection.refusalLimit, await pending.isComplete
                else { throw error.failure(request.destination.description) }
                refusals += 1
                if refusal == .http11Required { demand.isHTTP1 = true }
                demand.isWebSocket = false
                await pending.entry?.restart()
            } catch {
                await server.abort()
                throw error
            }
        }
    }

    /// Sends a request through a connection and passes the response on.
    ///
    /// - Parameter patience: How long the network may take for the request and its confirmation; `nil` for the limit of
    ///   the response.
    /// - Returns: Whether the client's connection can be used for another request; `nil` if the request has to be sent
    ///   once more.
    /// - Throws: ``UnansweredError`` if the connection ends before the response begins, `GatewayFailure` if the client can
    ///   be told, other errors if it cannot be.
    private func send(
        _ head: [UInt8], of pending: inout PendingRequest, to server: ByteStream,
        _ route: UpstreamConnections.Route, within patience: TimeAmount?, _ record: inout GatewayRecord
    ) async throws -> Bool? {
        let request = pending.request
        do {
            try await server.write(ByteBuffer(bytes: head))
        } catch {
            throw UnansweredError(cause: error)
        }
        requestEnd = time
        guard request.framing != .none else {
            let response = try await waiting { try await finalResponse(to: request, from: server, within: patience) }
            if try await isAnsweredOnceMore(response, to: &pending, route, &record) {
                await discard(response, from: server, route)
                return nil
            }
            guard response.status != 101 else {
                _ = await deliverHead(of: response, to: pending, closing: true, &record)
                await client.flush()
                await pending.entry?.end()
                await join(client, server)
                await server.close()
                return false
            }
            switch await cacheStep(after: response, to: &pending) {
            case .pass: break
            case .again:
                pending.withhold(response)
                await release(server, after: response, route)
                return nil
            case .answer(let opened):
                pending.withhold(response)
                await pending.entry?.respond(opened.response)
                await release(server, after: response, route)
                return try await deliver(opened.response, from: opened.body, to: pending, &record)
            case .complete(let opened):
                pending.withhold(response)
                await pending.entry?.respond(opened.response)
                await server.beginBody(response.framing)
                let keepsClient = try await deliver(
                    opened.response, from: opened.body.followed(by: server), to: pending, &record)
                if response.keepsConnection { await servers.put(server, route) } else { await server.close() }
                return keepsClient
            }
            let keepsClient = try await passOn(response, from: server, to: pending, &record)
            if response.keepsConnection { await servers.put(server, route) } else { await server.close() }
            return keepsClient
        }
        requestEnd = nil
        let body = pending.body
        async let upload = sendBody(of: request, keptIn: body, recordedIn: pending.entry, to: server)
        do {
            let response = try await waiting { try await finalResponse(to: request, from: server) }
            guard response.status != 101 else {
                throw GatewayFailure(
                    .httpUpgradeFailed, 502,
                    "\(request.destination.description) changes the protocol of a request with a body",
                    nextStep: "Send the request without a body.")
            }
            if try await isAnsweredOnceMore(response, to: &pending, route, &record) {
                let isUnderWay = await body?.isComplete != true
                // The next attempt sends the part that the client has not sent yet.
                await client.stopReading()
                if isUnderWay { await server.abort() }
                let end = await upload
                await client.resumeReading()
                if !isUnderWay {
                    if await mayKeep(server, response, after: pending) {
                        await discard(response, from: server, route)
                    } else {
                        await server.abort()
                    }
                }
                try end.check()
                return nil
            }
            _ = await cacheStep(after: response, to: &pending)
            // A client that waits for permission to send its body may or may not send it now.
            let isUncertain = request.expectsPermission ? await !client.hasBegunBody : false
            let keepsClient = try await passOn(
                response, from: server, to: pending, closing: isUncertain, &record)
            // A server may answer before it has read the body. The rest is not sent.
            if !keepsClient || !response.keepsConnection {
                await client.stopReading()
                await server.abort()
            }
            let isSent = if case .sent = await upload { true } else { false }
            await client.resumeReading()
            if isSent, response.keepsConnection, await mayKeep(server, response, after: pending) {
                await servers.put(server, route)
            } else {
                await server.abort()
            }
            if !isSent { await client.closeLingering() }
            return isSent && keepsClient
        } catch {
            await client.stopReading()
            await server.abort()
            let end = await upload
            await client.resumeReading()
            if case .refused(let failure) = end, error is UnansweredError { throw failure }
            throw error
        }
    }

    /// Has the cache decide on a server's response, unless it is not the site's own.
    private func cacheStep(
        after response: ForwardedResponse, to pending: inout PendingRequest
    ) async -> CacheStep {
        frame.network.noteAnswer(of: pending.request.destination)
        guard !response.isOfProxy, !pending.isOutdated else { return .pass }
        let step = await pending.cached?.take(response, from: pending.request.destination, now: gate.now())
        switch step ?? .pass {
        case .pass: return .pass
        case .answer(let answer): return OpenedAnswer(answer).map { .answer($0) } ?? .again
        case .complete(let answer): return OpenedAnswer(answer).map { .complete($0) } ?? .again
        case .again: return .again
        }
    }

    /// Passes on a server's response whose cookies are stored. For a browser, any end of the connection ends the body.
    ///
    /// - Parameter closes: Whether the client's connection ends with it in any case.
    /// - Returns: Whether the client's connection can be used for another request.
    private func passOn(
        _ response: ForwardedResponse, from server: ByteStream, to pending: PendingRequest,
        closing closes: Bool = false, _ record: inout GatewayRecord
    ) async throws -> Bool {
        await server.beginBody(response.framing, toAnyEnd: gate.profile != nil)
        return try await deliver(response, from: server, to: pending, closing: closes, &record)
    }

    /// Whether a connection can be used again after a request with a body. That is so for a stream, which ends with the
    /// request, and if the server has waited for all of a body that does not come from another site.
    private func mayKeep(
        _ server: ByteStream, _ response: ForwardedResponse, after pending: PendingRequest
    ) async -> Bool {
        guard !server.isStream else { return true }
        return await server.arrivedBeforeWrite <= response.start
            && pending.decision.trustsBody(of: pending.request)
    }

    /// Keeps the connection of a response that the client does not get, unless its body would have to be waited for.
    private func release(
        _ server: ByteStream, after response: ForwardedResponse, _ route: UpstreamConnections.Route
    ) async {
        if response.framing == .none { await discard(response, from: server, route) } else { await server.close() }
    }

    /// Reads a response that the client does not get, so that its connection can be used for another request.
    private func discard(
        _ response: ForwardedResponse, from server: ByteStream, _ route: UpstreamConnections.Route
    ) async {
        guard response.keepsConnection else { return await server.close() }
        await server.beginBody(response.framing)
        var rest = 1 << 16
        while rest > 0, let piece = try? await server.nextPiece(within: .seconds(2)) {
            switch piece {
            case .data(let data): rest -= data.readableBytes
            case .end: return await servers.put(server, route)
            }
        }
        await server.close()
    }

    /// Stores the cookies of a response, and signs the user in if it says "not signed in".
    ///
    /// - Returns: Whether the request has to be sent once more.
    private func isAnsweredOnceMore(
        _ response: ForwardedResponse, to pending: inout PendingRequest, _ route: UpstreamConnections.Route,
        _ record: inout GatewayRecord
    ) async throws -> Bool {
        let request = pending.request
        try check(response, to: request, route)
        await pending.entry?.respond(response)
        guard let context = pending.decision.context, !response.isOfProxy else { return false }
        let gate = gate
        let store: @Sendable () async throws -> CookieChanges = { try await gate.store(response, in: context) }
        // During a login, the gateway has to notice if the client disconnects.
        if pending.login != nil { await client.readAhead() }
        let (consequence, storage) =
            try await pending.login?.consequence(of: response, to: request, storing: store, now: gate.now)
            ?? (.none, .due)
        var isWithheld = true
        switch storage {
        case .due: record.note(try await store())
        case .done(let changes): record.note(changes)
        case .omitted: isWithheld = false
        }
        if case .failure = consequence, !isWithheld { pending.isOutdated = true }
        switch consequence {
        case .none: return false
        case .failure(let failure, let isSignedIn):
            record.loginFailure = failure
            if isSignedIn { record.isSignedInAgain = true }
            return false
        case .repetition(let isSignedIn):
            // The request must not take effect for a client that no longer waits.
            let isClientGone = await client.hasFailed
            guard request.mayBeRepeated || !isClientGone else { throw StreamError.endedEarly }
            if isSignedIn { record.isSignedInAgain = true }
            if isWithheld { pending.withhold(response) }
            return true
        }
    }

    /// Throws if a response cannot be passed on.
    private func check(
        _ response: ForwardedResponse, to request: ForwardedRequest, _ route: UpstreamConnections.Route
    ) throws(GatewayFailure) {
        // The client would take it for the gateway's own, and ask the user for other credentials.
        if response.status == 407, frame.isOfUser, route.isToProxy, let proxy = route.proxy {
            throw GatewayFailure(
                .destinationUnavailable, 502,
                "the proxy \(proxy.host):\(proxy.port) does not forward the request to "
                    + "\(request.destination.description): it answers with status 407",
                nextStep: "Check the credentials for the proxy.")
        }
        guard response.status != 407 || route.isToProxy else {
            throw GatewayFailure(
                .httpProtocolError, 502,
                "\(request.destination.description) asks for credentials for a proxy, which it is not",
                nextStep: "Report it to the people who run the server.")
        }
        guard response.status != 101 || request.isUpgrade else {
            throw GatewayFailure(
                .httpUpgradeFailed, 502,
                "\(request.destination.description) changes the protocol, which the request does not ask for",
                nextStep: "Report it to the people who run the server.")
        }
    }
}
