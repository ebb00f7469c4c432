import HTTPCaching
import HTTPMessages
import NIOCore
import ResponseStore
import WebPrimitives

/// The stored responses as a source, in front of the servers.
struct CacheSource: ResponseSource {
    let cache: PrivateCache
    /// The servers; `nil` if none may be connected to.
    let servers: ServerSource?

    func answer(
        _ pending: inout PendingRequest, of connection: isolated ClientConnection, _ record: inout GatewayRecord
    ) async throws -> Bool? {
        guard
            var exchange = await CacheExchange(
                pending, in: cache, now: connection.gate.now(), isOffline: servers == nil,
                isLost: connection.frame.network.isLost(pending.request.destination, at: connection.time))
        else { return try await servers?.answer(&pending, of: connection, &record) }
        if let opened = exchange.answer.flatMap(OpenedAnswer.init) {
            connection.recordWithoutServer(&pending)
            let keepsConnection = try await connection.deliver(opened, of: exchange, to: &pending, &record)
            connection.validateLater(exchange, pending)
            return keepsConnection
        }
        guard !exchange.isUnavailable, let servers else {
            connection.recordWithoutServer(&pending)
            record.cacheStatus = String(decoding: exchange.statusField, as: UTF8.self)
            throw GatewayFailure.notStored(
                pending.request, isOffline: servers == nil, isForOthers: exchange.isStoredForOthers)
        }
        pending.request.cacheFields = exchange.cacheFields
        pending.cached = exchange
        do {
            return try await servers.answer(&pending, of: connection, &record)
        } catch let failure as GatewayFailure {
            // Nothing was passed on yet.
            exchange = pending.cached ?? exchange
            let network = connection.frame.network
            if failure.isNetworkLoss { network.noteLoss(of: pending.request.destination, at: connection.time) }
            let answer = await exchange.answer(after: failure, now: connection.gate.now())
            record.cacheStatus = String(decoding: exchange.statusField, as: UTF8.self)
            guard let opened = answer.flatMap(OpenedAnswer.init) else { throw failure }
            return try await connection.deliver(opened, of: exchange, to: &pending, &record)
        }
    }
}

extension ClientConnection {
    /// Passes on a stored response.
    ///
    /// - Returns: Whether the client's connection can be used for another request.
    func deliver(
        _ opened: OpenedAnswer, of exchange: CacheExchange, to pending: inout PendingRequest,
        _ record: inout GatewayRecord
    ) async throws -> Bool {
        pending.cached = exchange
        await pending.entry?.respond(opened.response, from: .cache)
        return try await deliver(opened.response, from: opened.body, to: pending, &record)
    }
}

extension GatewayFailure {
    /// Whether the network has failed, and not the server: no request would have been answered.
    ///
    /// A wrong certificate is that of a portal that wants the user to sign in to the network, or of an attacker.
    var isNetworkLoss: Bool {
        switch kind {
        case .dnsError, .connectionTimeout, .destinationIPUnroutable, .tlsCertificateError: true
        default: false
        }
    }

    /// Whether the server has failed, or the way to it.
    var isDisconnection: Bool {
        switch kind {
        case .connectionRefused, .connectionTerminated, .connectionReadTimeout, .tlsProtocolError, .tlsAlertReceived,
            .destinationUnavailable, .httpResponseIncomplete:
            true
        default: isNetworkLoss
        }
    }

    /// - Parameters:
    ///   - request: The request that nothing stored answers, and that may not be sent.
    ///   - isOffline: Whether no request may be. Otherwise the request or a rule says so.
    ///   - isForOthers: Whether a response to the URL is stored for another audience.
    static func notStored(_ request: ForwardedRequest, isOffline: Bool, isForOthers: Bool) -> GatewayFailure {
        var (reason, nextStep) =
            if isOffline {
                ("the gateway is offline", "Leave out --offline.")
            } else if request.cachePolicy == .returnCacheDataDontLoad {
                (
                    "its Crumb-Cache-Policy forbids to ask the server",
                    "Send it with another policy, such as returnCacheDataElseLoad."
                )
            } else {
                (
                    "only-if-cached or a rule forbids to ask the server",
                    "Send it without only-if-cached, or change the rule in the table of --rules."
                )
            }
        if isForOthers {
            reason = "a response to this URL is stored, but for another audience, such as browsers, and \(reason)"
            nextStep = "Load it for programs with 'crumb cache warm --client tool'. \(nextStep)"
        }
        let wanted = "\(request.method) \(SecretRedaction.url(request.url.description))"
        return GatewayFailure(
            .destinationUnavailable, 504,
            "nothing in the cache answers \(wanted)\(isForOthers ? ": " : ", and ")\(reason)", nextStep: nextStep)
    }
}
