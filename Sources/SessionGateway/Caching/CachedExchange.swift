import CookieModel
import Crypto
import HTTPCaching
import HTTPMessages
import NIOCore
import ResponseStore
import SessionStore
import WebPrimitives

/// What the cache does about one request: the decision on it, and on the response of the server.
struct CachedExchange: Sendable {
    /// What becomes of a server's response.
    enum Step {
        /// It is passed on.
        case pass
        /// A stored response is passed on in its place.
        case answer(OpenedAnswer)
        /// The stored beginning of the response is passed on before it.
        case complete(OpenedAnswer)
        /// It is of no use to the client. The request has to be sent again as the client has sent it.
        case again
    }

    private let cache: GatewayCache
    private let audience: Octets
    private let site: Octets
    private let server: ForwardedRequest.Destination
    /// The client's request, with everything that the jar adds.
    private var request: CacheRequest
    private(set) var decision: LookupDecision
    /// The candidates of the decision.
    private var stored: [StoredResponse]
    /// The stored response that answers the request, if the decision is a hit.
    private(set) var opened: OpenedAnswer?
    /// When the request was sent.
    var requestTime: Timestamp
    /// Whether a login adds a credential to the request.
    private let hasLogin: Bool
    private var status: CacheStatus
    /// Stores the response that is being passed on; `nil` if it is not stored.
    private var storing: BodyStoring?

    /// Decides on a request.
    ///
    /// - Parameters:
    ///   - time: The time of the clock for the limits.
    ///   - isOffline: Whether no server may be connected to.
    /// - Returns: `nil` if the cache takes no part: if it is not known whose request it is, or if its response depends on
    ///   more than the cache sees.
    init?(
        _ cache: GatewayCache, _ pending: PendingRequest, _ gate: JarRequestPolicy, at time: NIODeadline,
        isOffline: Bool
    ) async {
        let forwarded = pending.request
        guard pending.decision.context != nil, !forwarded.isUpgrade, forwarded.hasCanonicalTarget,
            forwarded.framing == .none || !forwarded.isRetrieval,
            let request = CacheRequest(pending)
        else { return nil }
        self.cache = cache
        audience = CachedExchange.audience(of: pending)
        site = forwarded.url.host.registrableDomain(cache.suffixes)
        server = forwarded.destination
        hasLogin = pending.login != nil
        self.request = request
        requestTime = gate.now()
        let (audience, now) = (audience, requestTime)
        let isLost = cache.isLost(server, at: time)
        let found = await cache.reading { responses in
            let stored =
                forwarded.isRetrieval
                ? responses.candidates(for: request, jar: cache.jar, audience: audience, now: now) : []
            let heads = stored.map(\.response)
            var decision = cache.policy.lookup(request, among: heads, now: now, isOffline: isOffline || isLost)
            if isLost, !isOffline, decision.outcome == .unavailable {
                decision = cache.policy.lookup(request, among: heads, now: now)
            }
            return (stored, decision)
        }
        guard let (stored, decision) = found else { return nil }
        let opened = await CachedExchange.open(decision, stored, cache)
        self.stored = stored
        // A body that is missing is as good as a response that is not stored.
        self.decision = decision.isAnswer && opened == nil ? decision.repeated(request) : decision
        self.opened = opened
        status = CacheStatus(self.decision)
        if opened != nil, let chosen { cache.noteHit(chosen, decision.rule, now: now) }
    }

    /// What else than the jar separates responses: the classes of cookies that the request carries, its partition, the
    /// login, and what the client brings itself: credentials, and cookies that neither the jar nor a witness vouches for.
    private static func audience(of pending: PendingRequest) -> Octets {
        let verdict = pending.decision.verdict
        let head = pending.request.head
        var brought = head.values("authorization")
        if verdict?.source != .witness || verdict?.classes.isEmpty != false {
            brought += head.values("cookie").map(\.withoutWitnesses)
        }
        let credentials = brought.map { Hexadecimal.text(SHA256.hash(data: $0.bytes)) }
        let parts = [
            verdict.map { String($0.classes.rawValue) } ?? "jar", pending.login == nil ? "" : "login",
            credentials.joined(separator: " "), verdict?.partition?.serialized ?? "",
        ]
        return Octets(parts.joined(separator: "\n"))
    }

    /// The fields that the server gets instead of the client's conditions; `nil` if it gets those of the client.
    var sentFields: [MessageFields.Field]? {
        switch decision.outcome {
        case .validate(let fields), .complete(let fields), .forward(let fields):
            fields == request.fields ? nil : fields.lines.filter(ForwardedRequest.isCacheField)
        case .hitThenValidate(_, let fields): fields.lines.filter(ForwardedRequest.isCacheField)
        case .hit, .unavailable: nil
        }
    }

    /// Whether a stored response could answer the request if the server does not.
    var hasAnswer: Bool { decision.choice != nil }

    /// The stored response that was chosen.
    private var chosen: StoredResponse? { decision.choice.map { stored[$0.index] } }

    /// The Cache-Status field for the client (RFC 9211).
    var statusField: Octets { status.value }

    // MARK: - The response of the server

    /// Decides on the response of the server, and changes what is stored accordingly.
    mutating func take(_ response: ForwardedResponse, now: Timestamp) async -> Step {
        cache.noteAnswer(of: server)
        status.forwardedStatus = response.status
        let origin = OriginResponse(
            status: response.status, fields: MessageFields(response.head), requestTime: requestTime, responseTime: now)
        if isOfPortal(response), let opened = await open(isOffline: true, now: now) { return .answer(opened) }
        let invalidation = Invalidation(by: origin, to: request)
        if !invalidation.isEmpty {
            let (url, jar) = (request.url, cache.jar)
            _ = await cache.using { $0.apply(invalidation, of: url, jar: jar) }
        }
        await refresh(now: now)
        switch cache.policy.validated(by: origin, after: decision, for: request, stored: stored.map(\.response)) {
        case .freshened(let chosen, let answer, let updates, let removed):
            let stored = stored
            let opened = await OpenedAnswer(answer, of: stored[chosen], in: cache)
            _ = await cache.using { responses in
                for (index, update) in updates { responses.update(stored[index], with: update) }
                responses.remove(removed.map { stored[$0] })
            }
            return opened.map { .answer($0) } ?? repeated()
        case .stale(let answer):
            guard let chosen else { return .pass }
            return await OpenedAnswer(answer, of: chosen, in: cache).map { .answer($0) } ?? .pass
        case .repeated: return repeated()
        case .completed(let part, let answer):
            // The octets of both are passed on as they come, so they have to fit.
            guard let chosen, case .part(let stored, _) = chosen.response.extent,
                case .part(let rest, let total?) = part.extent, rest == stored.upperBound..<total,
                response.framing == .length(UInt64(rest.count)),
                let whole = chosen.response.combined(with: part)?.response,
                let opened = await OpenedAnswer(answer, of: chosen, in: cache)
            else { return repeated() }
            await store(whole)
            return .complete(opened)
        case .replaced(let unsuitable):
            await replace(unsuitable, by: origin, response)
            return .pass
        }
    }

    private mutating func repeated() -> Step {
        decision = decision.repeated(request)
        return .again
    }

    /// Begins again with a request that is sent once more, perhaps with other cookies. What is stored takes no part.
    mutating func restart(_ pending: PendingRequest) {
        request = CacheRequest(pending) ?? request
        decision = decision.repeated(request)
    }

    /// Replaces the candidates by what they are now: one may have been invalidated while the request was on its way.
    private mutating func refresh(now: Timestamp) async {
        guard !stored.isEmpty else { return }
        let (request, audience, cache) = (request, audience, cache)
        let current = await cache.reading {
            $0.candidates(for: request, jar: cache.jar, audience: audience, now: now)
        }
        let byID = Dictionary((current ?? []).map { ($0.id, $0) }) { first, _ in first }
        stored = stored.map { byID[$0.id] ?? $0 }
    }

    /// Marks what a response shows to be out of date, and begins to store it. What it replaces is removed when it is there.
    private mutating func replace(
        _ unsuitable: [Int], by origin: OriginResponse, _ response: ForwardedResponse
    ) async {
        let updates = cache.policy.freshened(byHead: origin, to: request, among: stored.map(\.response))
        let stored = stored
        if !updates.isEmpty || !unsuitable.isEmpty {
            _ = await cache.using { responses in
                for (index, update) in updates { responses.update(stored[index], with: update) }
                // Departure: section 4.3.3 would remove them. If the new one is not stored, or breaks off, they are better
                // than nothing when there is no network. They answer nothing else without a validation.
                for index in unsuitable { responses.update(stored[index], with: stored[index].response.invalidated) }
            }
        }
        // Over TLS, nothing tells whether a body that ends with the connection is complete.
        guard !response.isCut, !(response.framing == .untilClose && server.isEncrypted), !dependsOnLogin(response),
            let storable = cache.policy.storing(origin, for: request).response
        else { return }
        await store(storable)
    }

    /// Whether a response depends on the credential of a login, which the cache does not see.
    private func dependsOnLogin(_ response: ForwardedResponse) -> Bool {
        hasLogin && response.head.members("vary").contains("authorization")
    }

    private mutating func store(_ response: CachedResponse) async {
        let (cache, request, audience, site) = (cache, request, audience, site)
        let writer = await cache.reading {
            $0.begin(response, to: request, policy: cache.policy, jar: cache.jar, audience: audience, site: site)
        }
        storing = (writer ?? nil).flatMap { BodyStoring($0, in: cache) }
        status.isStored = storing != nil
    }

    /// Stores a piece of the body that is passed on.
    func append(_ piece: BodyReader.Piece, now: Timestamp) async {
        guard let storing else { return }
        switch piece {
        case .data(let octets): await storing.append(octets)
        case .end: await storing.finish(isComplete: true, now: now)
        }
    }

    /// Whether the response is being stored.
    var isStoring: Bool { get async { await storing?.isEnded == false } }

    /// Ends the body before its end. A part is stored if nothing is yet.
    func breakOff(now: Timestamp) async {
        await storing?.finish(isComplete: false, unless: !stored.isEmpty, now: now)
    }

    // MARK: - Without the server

    /// The stored response that answers the request after a failure; `nil` if the client has to know of the failure.
    mutating func open(after failure: GatewayFailure, now: Timestamp) async -> OpenedAnswer? {
        guard let chosen, failure.isDisconnection else { return nil }
        if failure.isNetworkLoss { return await open(isOffline: true, now: now) }
        guard let answer = cache.policy.staleAnswer(chosen.response, to: request, now: now, .unreachable)
        else { return nil }
        return await OpenedAnswer(answer, of: chosen, in: cache)
    }

    private mutating func open(isOffline: Bool, now: Timestamp) async -> OpenedAnswer? {
        let stored = stored
        let decision = cache.policy.lookup(
            request, among: stored.map(\.response), now: now, isOffline: isOffline)
        guard let opened = await CachedExchange.open(decision, stored, cache) else { return nil }
        self.decision = decision
        status = CacheStatus(decision)
        return opened
    }

    /// Opens the stored response that a decision has chosen; `nil` if it is no hit, or the body is damaged.
    private static func open(
        _ decision: LookupDecision, _ stored: [StoredResponse], _ cache: GatewayCache
    ) async -> OpenedAnswer? {
        switch decision.outcome {
        case .hit(let answer), .hitThenValidate(let answer, _):
            guard let choice = decision.choice else { return nil }
            return await OpenedAnswer(answer, of: stored[choice.index], in: cache)
        case .validate, .complete, .forward, .unavailable: return nil
        }
    }

    /// Whether a response is that of a portal that wants the user to sign in to the network: a page in place of another
    /// resource, over http.
    private func isOfPortal(_ response: ForwardedResponse) -> Bool {
        // RFC 6585, section 6: 511 (Network Authentication Required) is for proxies that control access to the network.
        if response.status == 511 { return true }
        guard !server.isEncrypted, let chosen, !chosen.response.fields.isHTML else { return false }
        if response.status == 200 { return MessageFields(response.head).isHTML }
        guard [302, 303, 307].contains(response.status), let location = response.head.values("location").first,
            let target = try? request.url.resolving(location)
        else { return false }
        return target.host.registrableDomain(cache.suffixes) != site
    }

    // MARK: - Validation without a client

    /// Begins the validation of a stored response that has just answered a request; `nil` if none is necessary, or it is
    /// being validated already.
    func validation(now: Timestamp) -> (exchange: CachedExchange, end: @Sendable () -> Void)? {
        guard case .hitThenValidate = decision.outcome, let chosen, cache.beginValidation(of: chosen) else {
            return nil
        }
        var exchange = self
        exchange.requestTime = now
        exchange.opened = nil
        return (exchange, { [cache] in cache.endValidation(of: chosen) })
    }
}

extension LookupDecision {
    /// Whether a stored response answers the request.
    fileprivate var isAnswer: Bool {
        switch outcome {
        case .hit, .hitThenValidate: true
        case .validate, .complete, .forward, .unavailable: false
        }
    }
}

extension MessageFields {
    /// The fields of a message.
    fileprivate init(_ head: MessageHead) {
        self.init(head.fields.map { Field(Octets(head.octets, in: $0.name), Octets(head.octets, in: $0.value)) })
    }

    /// Whether the content is an HTML document.
    fileprivate var isHTML: Bool { values("content-type").first?.lowercased.starts(with: "text/html".utf8) ?? false }
}

extension CacheRequest {
    /// The request as the server gets it, without the cache's own conditions.
    fileprivate init?(_ pending: PendingRequest) {
        var forwarded = pending.request
        forwarded.cacheFields = nil
        guard let head = try? MessageHead(forwarded.octets(with: pending.decision.decoration), from: .server)
        else { return nil }
        self.init(method: Octets(forwarded.method), url: forwarded.url, fields: MessageFields(head))
    }
}

extension ForwardedRequest {
    /// Whether a stored response may answer it.
    fileprivate var isRetrieval: Bool { method == "GET" || method == "HEAD" }
}
