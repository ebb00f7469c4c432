package import HTTPCaching
package import WebPrimitives

/// What a cache does about one request: the decision on it, and on the response of the server.
///
/// A client makes one for each request, with everything that the jar adds to it:
///
/// 1. If there is an ``answer``, the client gets it. Then ``validation(now:)`` may ask the server afterwards.
/// 2. If the request ``isUnavailable``, the client gets status 504.
/// 3. Otherwise the request goes to the server, with ``sentFields``. ``take(_:bodyLength:mayStore:now:)`` says what the
///    response means. If it is passed on, so are its octets to ``append(_:now:)``, ``finish(now:)`` and ``breakOff(now:)``.
/// 4. If there is no response, ``answer(after:now:)`` may have one.
package struct CacheExchange: Sendable {
    /// A stored response that answers the request.
    package struct Answer: Sendable {
        /// Its status and fields, without those that frame the message on a connection.
        package let head: StoredAnswer
        /// Its body; `nil` if it has none.
        package let body: StoredBody?
    }

    /// What becomes of a server's response.
    package enum Step: Sendable {
        /// It is passed on.
        case pass
        /// A stored response is passed on in its place.
        case answer(Answer)
        /// The stored beginning of the response is passed on before it.
        case complete(Answer)
        /// It is of no use to the client. The request has to be sent again as the client has sent it.
        case again
    }

    struct State {
        let cache: PrivateCache
        let audience: Octets
        /// Whether a login adds a credential to the request.
        let hasLogin: Bool
        /// The client's request, with everything that the jar adds.
        var request: CacheRequest
        var decision: LookupDecision
        /// The candidates of the decision.
        var stored: [StoredResponse]
        /// Whether responses to the URL are stored, but none for this program.
        let isStoredForOthers: Bool
        var answer: Answer?
        var status: CacheStatus
        /// Whether no client waits for the response.
        var isBackground = false
    }

    /// Passing it on costs one reference count.
    private final class Box: Sendable {
        let state: State

        init(_ state: State) {
            self.state = state
        }
    }

    /// When the request was sent.
    package var requestTime: Timestamp
    /// The status of the server's response; `nil` without one.
    var forwardedStatus: Int?
    /// Stores the response that is being passed on; `nil` if it is not stored.
    var storing: BodyStoring?
    private var box: Box
    var state: State {
        get { box.state }
        set { box = Box(newValue) }
    }

    /// Decides on a request.
    ///
    /// - Parameters:
    ///   - request: The request as the server would get it without a cache.
    ///   - audience: Whom its response is for.
    ///   - hasLogin: Whether a login adds a credential that is not among the request's fields.
    ///   - now: The current time.
    ///   - isOffline: Whether no server may be connected to.
    ///   - isLost: Whether the server could not be reached a moment ago.
    ///   - requestPolicy: What the client wants for this request.
    package init(
        _ request: CacheRequest, for audience: CacheAudience, hasLogin: Bool = false, in cache: PrivateCache,
        now: Timestamp, isOffline: Bool = false, isLost: Bool = false,
        requestPolicy: RequestCachePolicy = .useProtocolCachePolicy
    ) async {
        let audience = audience.octets
        let (stored, decision, isForOthers) = await cache.reading { responses in
            let stored =
                request.isAnswerable
                ? responses.candidates(for: request, jar: cache.jar, audience: audience, now: now) : []
            let heads = stored.map(\.response)
            var decision = cache.policy.lookup(
                request, among: heads, now: now, isOffline: isOffline || isLost, requestPolicy: requestPolicy)
            if isLost, !isOffline, decision.outcome == .unavailable {
                decision = cache.policy.lookup(request, among: heads, now: now, requestPolicy: requestPolicy)
            }
            // Only programs learn it. A page could find out by it what a page in another partition has loaded.
            let isForOthers =
                decision.reasons == [.notStored] && request.isAnswerable && CacheAudience.isOfPrograms(audience)
                && responses.isStoredForOthers(request.url, jar: cache.jar, audience: audience)
            return (stored, decision, isForOthers)
        }
        let answer = decision.isAnswer ? await CacheExchange.open(decision, stored, cache) : nil
        // A body that is missing is as good as a response that is not stored.
        let current = decision.isAnswer && answer == nil ? decision.repeated(request) : decision
        var status = CacheStatus(current)
        if isForOthers { status.detail = Octets("\(current.rule.description), stored for another audience") }
        box = Box(
            State(
                cache: cache, audience: audience, hasLogin: hasLogin, request: request, decision: current,
                stored: stored, isStoredForOthers: isForOthers, answer: answer, status: status))
        requestTime = now
        if let answer, let chosen {
            cache.noteHit(chosen, decision.rule, octets: answer.body?.length ?? 0, now: now)
        }
    }

    /// The stored response that answers the request; `nil` if the server has to be asked.
    package var answer: Answer? { box.state.answer }
    /// Whether nothing stored answers the request, and it must not be sent.
    package var isUnavailable: Bool { box.state.decision.outcome == .unavailable }
    /// Whether responses to the URL are stored, but none for the program that sends the request. Always `false` for
    /// requests of browsers.
    package var isStoredForOthers: Bool { box.state.isStoredForOthers }
    /// The decision on the request.
    package var decision: LookupDecision { box.state.decision }
    /// Whether a stored response answers the request if its server cannot be reached.
    package func hasAnswer(now: Timestamp) -> Bool {
        let state = box.state
        let heads = state.stored.map(\.response)
        return !heads.isEmpty
            && state.cache.policy.lookup(state.request, among: heads, now: now, isOffline: true).isAnswer
    }
    /// The Cache-Status field for the client (RFC 9211).
    package var statusField: Octets {
        var status = box.state.status
        status.forwardedStatus = forwardedStatus
        status.isStored = storing?.isExpected == true
        return status.value
    }
    /// Whether the octets of the response that is being passed on are for the cache, too. Otherwise, neither they nor their
    /// end concern it.
    package var takesBody: Bool { storing != nil }
    /// Whether the response that is being passed on is being stored.
    package var isStoring: Bool { get async { await storing?.isEnded == false } }

    /// All fields that the server gets; `nil` if it gets those of the client.
    package var sentFields: MessageFields? {
        switch box.state.decision.outcome {
        case .validate(let fields), .complete(let fields), .forward(let fields):
            fields == box.state.request.fields ? nil : fields
        case .hitThenValidate(_, let fields): fields
        case .hit, .unavailable: nil
        }
    }

    /// What is stored now for the request.
    func candidates(now: Timestamp) async -> [StoredResponse] {
        let (cache, request, audience) = (state.cache, state.request, state.audience)
        return await cache.reading {
            $0.candidates(for: request, jar: cache.jar, audience: audience, now: now)
        }
    }

    /// The stored response that was chosen.
    var chosen: StoredResponse? { box.state.decision.choice.map { box.state.stored[$0.index] } }

    /// Begins again with a request that is sent once more, perhaps with other cookies. What is stored takes no part.
    package mutating func restart(_ request: CacheRequest?) {
        let request = request ?? state.request
        state.request = request
        state.decision = state.decision.repeated(request)
    }

    /// Opens the stored response that a decision has chosen; `nil` if it is no hit, or the body is damaged.
    private static func open(
        _ decision: LookupDecision, _ stored: [StoredResponse], _ cache: PrivateCache
    ) async -> Answer? {
        switch decision.outcome {
        case .hit(let head), .hitThenValidate(let head, _):
            guard let choice = decision.choice else { return nil }
            return await open(head, of: stored[choice.index], cache)
        case .validate, .complete, .forward, .unavailable: return nil
        }
    }

    /// Opens the body that an answer has; `nil` if it is damaged.
    static func open(_ head: StoredAnswer, of stored: StoredResponse, _ cache: PrivateCache) async -> Answer? {
        guard let range = head.body else { return Answer(head: head, body: nil) }
        let open = { @Sendable (responses: ResponseCache) in responses.body(of: stored, range: range) }
        let body = stored.hasFile ? await cache.using(open) : await cache.reading(open)
        return body.map { Answer(head: head, body: $0) }
    }

    // MARK: - Without the server

    /// Why there is no response.
    package enum Failure: Sendable {
        /// The network has failed, and not the server: no request would have been answered.
        case networkLost
        /// The server has failed, or the way to it.
        case disconnected
    }

    /// The stored response that answers the request after a failure; `nil` if the client has to know of the failure.
    package mutating func answer(after failure: Failure, now: Timestamp) async -> Answer? {
        let state = state
        if failure == .networkLost { return await answerOffline(now: now) }
        // It may have been invalidated or removed while the request was on its way.
        let current = await candidates(now: now)
        guard let chosen = current.first(where: { $0.id == chosen?.id }) else { return nil }
        let head = state.cache.policy.staleAnswer(chosen.response, to: state.request, now: now, .unreachable)
        guard let head else { return nil }
        return await openStale(head, of: chosen)
    }

    /// Opens the stored response that answers because the server failed. The Cache-Status field says that.
    mutating func openStale(_ head: StoredAnswer, of stored: StoredResponse) async -> Answer? {
        guard let answer = await CacheExchange.open(head, of: stored, state.cache) else { return nil }
        state.status.detail = Octets("\(state.decision.rule.description), stored response after a failure")
        return answer
    }

    /// The stored response that answers the request without a network.
    mutating func answerOffline(now: Timestamp) async -> Answer? {
        let (state, current) = (state, await candidates(now: now))
        let decision = state.cache.policy.lookup(
            state.request, among: current.map(\.response), now: now, isOffline: true)
        guard let answer = await CacheExchange.open(decision, current, state.cache) else { return nil }
        self.state.stored = current
        self.state.decision = decision
        self.state.status = CacheStatus(decision)
        return answer
    }

    // MARK: - Validation without a client

    /// Begins the validation of a stored response that has just answered a request; `nil` if none is necessary, or it is
    /// being validated already.
    ///
    /// - Returns: The exchange of the request that validates it, and what to call when it has ended.
    package func validation(now: Timestamp) -> (exchange: CacheExchange, end: @Sendable () -> Void)? {
        guard case .hitThenValidate = decision.outcome, let chosen else { return nil }
        let cache = box.state.cache
        guard cache.beginValidation(of: chosen) else { return nil }
        var exchange = self
        exchange.requestTime = now
        exchange.state.answer = nil
        exchange.state.isBackground = true
        return (exchange, { cache.endValidation(of: chosen) })
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
