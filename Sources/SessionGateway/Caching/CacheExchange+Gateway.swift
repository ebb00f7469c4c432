import CookieModel
import HTTPCaching
import HTTPMessages
import NIOCore
import ResponseStore
import SessionStore
import WebPrimitives

extension CacheExchange {
    /// Decides on a client's request.
    ///
    /// - Parameters:
    ///   - isOffline: Whether no server may be connected to.
    ///   - isLost: Whether the server could not be reached a moment ago.
    /// - Returns: `nil` if the cache takes no part: if it is not known whose request it is, or if its response depends on
    ///   more than the cache sees.
    init?(
        _ pending: PendingRequest, in cache: PrivateCache, now: Timestamp, isOffline: Bool, isLost: Bool
    ) async {
        let forwarded = pending.request
        guard pending.decision.context != nil, !forwarded.isUpgrade, forwarded.hasCanonicalTarget,
            forwarded.framing == .none || !forwarded.isRetrieval
        else { return nil }
        await self.init(
            CacheRequest(pending), for: CacheAudience(pending), hasLogin: pending.login != nil, in: cache,
            now: now, isOffline: isOffline, isLost: isLost, requestPolicy: forwarded.cachePolicy)
    }

    /// The fields of a cache's names that the server gets instead of the client's; `nil` if it gets those of the client.
    var cacheFields: [MessageFields.Field]? { sentFields?.lines.filter(ForwardedRequest.isCacheField) }

    /// Decides on the response of the server, and changes what is stored accordingly.
    mutating func take(_ response: ForwardedResponse, from server: ForwardedRequest.Destination, now: Timestamp)
        async -> Step
    {
        let origin = OriginResponse(
            status: response.status, fields: MessageFields(response.head), requestTime: requestTime, responseTime: now)
        let length: Int64? = if case .length(let length) = response.framing { Int64(exactly: length) } else { nil }
        // Over TLS, nothing tells whether a body that ends with the connection is complete.
        let mayStore = !response.isCut && !(response.framing == .untilClose && server.isEncrypted)
        return await take(origin, bodyLength: length, mayStore: mayStore, now: now)
    }

    /// Begins again with a request that is sent once more, perhaps with other cookies. What is stored takes no part.
    mutating func restart(_ pending: PendingRequest) {
        restart(CacheRequest(pending))
    }

    /// The stored response that answers the request after a failure; `nil` if the client has to know of the failure.
    mutating func answer(after failure: GatewayFailure, now: Timestamp) async -> Answer? {
        guard failure.isDisconnection else { return nil }
        return await answer(after: failure.isNetworkLoss ? .networkLost : .disconnected, now: now)
    }
}

extension CacheAudience {
    /// Whom the response to a request is for. A client brings credentials, and cookies that neither the jar nor a witness
    /// vouches for.
    fileprivate init(_ pending: PendingRequest) {
        let verdict = pending.decision.verdict
        let head = pending.request.head
        var brought = head.values("authorization")
        if verdict?.source != .witness || verdict?.classes.isEmpty != false {
            brought += head.values("cookie").map(\.withoutWitnesses)
        }
        self.init(verdict, login: pending.login?.name, brought: brought)
    }
}

extension MessageFields {
    /// The fields of a message.
    fileprivate init(_ head: MessageHead) {
        self.init(head.fields.map { Field(Octets(head.octets, in: $0.name), Octets(head.octets, in: $0.value)) })
    }
}

extension CacheRequest {
    /// The request as the server gets it, without the cache's own conditions.
    fileprivate init(_ pending: PendingRequest) {
        self.init(
            method: Octets(pending.request.method), url: pending.request.url,
            fields: MessageFields(pending.request.ownFields(with: pending.decision.decoration)))
    }
}

extension ForwardedRequest {
    /// Whether a stored response may answer it.
    fileprivate var isRetrieval: Bool { method == "GET" || method == "HEAD" }
}
