public import CookieModel
import HTTPTypes
import SessionStore

/// A request and its redirects. Each hop is decorated, and the cookies of each response are stored before the next hop.
///
/// A state machine without network access: send the ``nextRequest(at:)``, pass the response to ``receive(_:at:)``, and
/// repeat while that returns `true`.
public struct RedirectedExchange<Request: DecoratableRequest>: Sendable {
    /// The decorator, which adds and stores cookies.
    package internal(set) var decorator: RequestDecorator
    /// The chain of redirects.
    public private(set) var chain: RedirectChain
    /// The hops so far, one per response.
    public private(set) var hops: [ExchangeHop] = []
    /// Whether the next request repeats the last one, with the nonce that the server requires in a proof.
    package private(set) var repeatsRequest = false
    private let first: Request
    private let beginning: RedirectChain
    private let isBodyRepeatable: Bool
    private var report: RequestDecorator.Report?

    /// Creates an exchange before its first request.
    ///
    /// - Parameters:
    ///   - request: the caller's request. Its cookies and credentials are for its origin only.
    ///   - decorator: the decorator, which adds cookies to requests and stores those of responses.
    ///   - context: the URL, and the page or user that requests it. The method is the request's own.
    ///   - limit: how many redirects are followed.
    ///   - isBodyRepeatable: whether the body can be sent again, if the request itself does not know.
    public init(
        _ request: Request, decorator: RequestDecorator, in context: RequestContext, limit: Int = Redirect.limit,
        isBodyRepeatable: Bool = true
    ) {
        first = request
        self.isBodyRepeatable = isBodyRepeatable && request.isBodyRepeatable
        self.decorator = decorator
        beginning = RedirectChain(context.with(method: request.requestMethod), limit: limit)
        chain = beginning
    }

    /// Returns the exchange to repeat after a login: from its beginning, or from `hop` if the server has already acted
    /// on the request (``RedirectChain/hasActed``).
    func again(_ hop: RedirectChain) -> RedirectedExchange {
        var exchange = self
        exchange.chain = hop.hasActed ? hop : beginning
        exchange.hops = []
        exchange.report = nil
        exchange.repeatsRequest = false
        return exchange
    }

    /// The present request, decorated: the first one, or the one that the last answer leads to.
    ///
    /// - Throws: ``RedirectError`` if it cannot be made, ``SessionStoreError`` if the jar fails.
    public mutating func nextRequest(now: Timestamp? = nil) throws -> Request {
        let request = try chain.request(from: first, isBodyRepeatable: isBodyRepeatable)
        let decorated = try decorator.decorate(request, in: chain.context, now: now)
        report = decorated.report
        return decorated.request
    }

    /// The same as ``nextRequest(now:)``, without blocking the caller's thread. Throws `CancellationError` if the task is
    /// cancelled.
    package mutating func nextRequest(at time: Timestamp? = nil) async throws -> Request {
        try Task.checkCancellation()
        let request = try chain.request(from: first, isBodyRepeatable: isBodyRepeatable)
        let decorated = try await decorator.decorate(request, in: chain.context, at: time)
        report = decorated.report
        return decorated.request
    }

    /// Stores the cookies of the response to the current request and follows its redirect. If the server requires a
    /// nonce in the proof of a bound token, the same request is repeated, once only.
    ///
    /// - Returns: whether there is another request to make. If not, the response is for the caller.
    /// - Throws: ``RedirectError`` if the redirect cannot be followed, ``SessionStoreError`` if the jar fails. In the
    ///   first case, the response's cookies are stored and its hop is among ``hops``.
    public mutating func receive(_ response: ResponseHead, now: Timestamp? = nil) throws -> Bool {
        try advance(after: response, try decorator.receive(response, in: chain.context, now: now))
    }

    /// The same as ``receive(_:now:)``, without blocking the caller's thread. The cookies are stored even if the task is
    /// cancelled.
    package mutating func receive(_ response: ResponseHead, at time: Timestamp? = nil) async throws -> Bool {
        try advance(after: response, try await decorator.receive(response, in: chain.context, at: time))
    }

    private mutating func advance(after response: ResponseHead, _ receipt: ResponseReceipt) throws -> Bool {
        if let report {
            hops.append(
                ExchangeHop(
                    url: chain.context.url, method: chain.context.method, decoration: report, status: response.status,
                    receipt: receipt))
        }
        let wasProven = report?.fields.contains { $0.canonicalName == "dpop" } ?? false
        report = nil
        repeatsRequest =
            wasProven && !repeatsRequest && response.wantsProofNonce && (isBodyRepeatable || !chain.keepsBody)
        if repeatsRequest { return true }
        return try chain.follow(status: response.status, location: response.location) != nil
    }
}

extension RequestDecorator {
    /// Makes a request and follows its redirects. Each hop is decorated again, and the cookies of each response are
    /// stored before the next hop.
    ///
    /// - Parameters:
    ///   - request: the caller's request. Its own cookies and credentials are for its origin only.
    ///   - context: the URL, and the page or user that requests it.
    ///   - limit: how many redirects are followed.
    ///   - isBodyRepeatable: whether the body can be sent again, if the request itself does not know.
    ///   - fallback: the recovery from a response that says "not signed in": the request is sent once more, body
    ///     included, for each step of the recovery, of which there are three at most. A request with a
    ///     ``RepetitionRefusal`` is not: the session is renewed, and the response is the result. If a request that
    ///     changes something was answered with a redirect to another page, only the request for that page is sent again.
    ///     If a rule delivers its token in the Authorization field, the first request already carries it.
    ///   - now: returns the current time; `nil` for that of the jar's database. It is called for each request and each
    ///     response.
    ///   - transport: sends one request without following redirects. The chain tells transports that get the body
    ///     separately whether the first request's body is still to be sent. Only the last payload is kept.
    /// - Returns: the response for the caller. If there was a fallback, the hops before it come first.
    /// - Throws: ``RedirectError``, `SessionStoreError`, ``LoginFallbackError`` and other errors of a fallback for a
    ///   request that would be sent once more, or the transport's error.
    public func exchange<Request: DecoratableRequest, Payload>(
        _ request: Request, in context: RequestContext, limit: Int = Redirect.limit, isBodyRepeatable: Bool = true,
        fallback: LoginFallback? = nil, now: (() -> Timestamp)? = nil,
        transport: (Request, RedirectChain) async throws -> (head: ResponseHead, payload: Payload)
    ) async throws -> Exchange<Payload> {
        let now = now ?? { [clock] in clock.now }
        let isBodyRepeatable = isBodyRepeatable && request.isBodyRepeatable
        var exchange = RedirectedExchange(
            request, decorator: self, in: context, limit: limit, isBodyRepeatable: isBodyRepeatable)
        var earlier: [ExchangeHop] = []
        // One that the caller signs in itself is answered as it is.
        var recovery = request.hasField(.authorization) ? nil : fallback.map(LoginRecovery.init)
        var answer: LoginFallback.Answer?
        var refusal: RepetitionRefusal?
        while true {
            var hop = exchange.chain
            let url = hop.context.url
            if !settings.authorization.contains(where: { $0.scope.contains(url) }), !hop.hasLeftOrigin {
                exchange.decorator = signedIn(by: answer, or: await recovery?.present(to: url, now: now()))
            }
            hop.authorization = exchange.decorator.settings.authorization.first { $0.scope.contains(url) }
            let (head, payload) = try await transport(try await exchange.nextRequest(at: now()), hop)
            let goesOn = try await exchange.receive(head, at: now())
            if !exchange.repeatsRequest, let challenge = recovery?.challenge(in: head, from: url) {
                refusal = challenge.repetitionRefusal(
                    of: hop.context, isBodyRepeatable: isBodyRepeatable || hop.hasActed && !hop.keepsBody)
                if refusal == nil {
                    try Task.checkCancellation()
                    answer = try await recovery?.answer(challenge, in: jar, now: now())
                    earlier += exchange.hops
                    exchange = exchange.again(hop)
                    continue
                }
                // The response is the result, even if no login is possible.
                answer = try? await recovery?.answer(challenge, in: jar, now: now())
            }
            guard goesOn else {
                return Exchange(
                    head: head, payload: payload, hops: earlier + exchange.hops, url: exchange.chain.context.url,
                    repetitionRefusal: refusal)
            }
        }
    }

    /// Returns this decorator with the rules that sign in a request: the answer to a challenge, or the rule that
    /// presents a token before one.
    private func signedIn(
        by answer: LoginFallback.Answer?, or presented: AuthorizationRule? = nil
    ) -> RequestDecorator {
        var rules = [presented].compactMap(\.self)
        if case .authorization(let rule)? = answer { rules.insert(rule, at: 0) }
        guard !rules.isEmpty else { return self }
        var settings = settings
        settings.authorization.insert(contentsOf: rules, at: 0)
        return RequestDecorator(jar: jar, settings: settings)
    }
}

/// The result of an exchange: the response for the caller, and every hop.
public struct Exchange<Payload> {
    /// The answer's status and fields, as far as they were read.
    public let head: ResponseHead
    /// The payload that the transport returned with the response.
    public let payload: Payload
    /// The hops, one for each request. The last one belongs to the response.
    public let hops: [ExchangeHop]
    /// The URL of the response.
    public let url: RequestURL
    /// Why a request was not sent once more although its response says "not signed in"; `nil` if there was none.
    public let repetitionRefusal: RepetitionRefusal?
}

extension Exchange: Sendable where Payload: Sendable {}

/// One hop of an exchange.
public struct ExchangeHop: Sendable {
    /// The URL that was requested.
    public let url: RequestURL
    /// The method it was requested by.
    public let method: String
    /// The cookies and fields added to the request.
    public let decoration: RequestDecorator.Report
    /// The status of the answer.
    public let status: Int
    /// The outcome of the response's cookies.
    public let receipt: ResponseReceipt
}
