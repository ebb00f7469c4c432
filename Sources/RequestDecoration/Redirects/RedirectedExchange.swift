public import CookieModel
import HTTPTypes
@_exported public import RequestExchange
import SessionStore

/// A request and its redirects. Each hop is decorated, and the cookies of each response are stored before the next hop.
///
/// A state machine without network access: send the ``nextRequest(now:)``, pass the response to ``receive(_:now:)``, and
/// repeat while that returns `true`.
public struct RedirectedExchange<Request: DecoratableRequest>: Sendable {
    /// The decorator, which adds and stores cookies.
    package let decorator: RequestDecorator
    /// The hops so far, one per response.
    public private(set) var hops: [ExchangeHop] = []
    private var request: RedirectedRequest<Request>
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
        self.decorator = decorator
        self.request = RedirectedRequest(request, in: context, limit: limit, isBodyRepeatable: isBodyRepeatable)
    }

    /// The chain of redirects.
    public var chain: RedirectChain { request.chain }

    /// Whether the next request repeats the last one, with the nonce that the server requires in a proof.
    public var repeatsRequest: Bool { request.repeatsRequest }

    /// The present request, decorated: the first one, or the one that the last answer leads to.
    ///
    /// - Throws: `RedirectError` if it cannot be made, `SessionStoreError` if the jar fails.
    public mutating func nextRequest(now: Timestamp? = nil) throws -> Request {
        let decorated = try decorator.decorate(try request.current(), in: chain.context, now: now)
        report = decorated.report
        return decorated.request
    }

    /// The same as ``nextRequest(now:)``, without blocking the caller's thread. Throws `CancellationError` if the task is
    /// cancelled.
    package mutating func nextRequest(at time: Timestamp? = nil) async throws -> Request {
        try Task.checkCancellation()
        let decorated = try await decorator.decorate(try request.current(), in: chain.context, at: time)
        report = decorated.report
        return decorated.request
    }

    /// Stores the cookies of the response to the current request and follows its redirect. If the server requires a
    /// nonce in the proof of a bound token, the same request is repeated, once only.
    ///
    /// - Returns: whether there is another request to make. If not, the response is for the caller.
    /// - Throws: `RedirectError` if the redirect cannot be followed, `SessionStoreError` if the jar fails. In the
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
        let lacksNonce = report?.lacksNonce(in: response) ?? false
        if let report { hops.append(ExchangeHop(chain, report, response, receipt)) }
        report = nil
        return try request.follow(response, lacksNonce: lacksNonce)
    }
}

extension RequestDecorator.Report {
    /// Whether the server rejects the request only because its nonce is missing in the proof of the token.
    fileprivate func lacksNonce(in response: ResponseHead) -> Bool {
        fields.contains { $0.canonicalName == "dpop" } && response.wantsProofNonce
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
    ///     `RepetitionRefusal` is not: the session is renewed, and the response is the result. If a request that
    ///     changes something was answered with a redirect to another page, only the request for that page is sent again.
    ///     If a rule delivers its token in the Authorization field, the first request already carries it.
    ///   - now: returns the current time; `nil` for that of the jar's database. It is called for each request and each
    ///     response.
    ///   - transport: sends one request without following redirects. The chain tells transports that get the body
    ///     separately whether the first request's body is still to be sent. Only the last payload is kept.
    /// - Returns: the response for the caller. If there was a fallback, the hops before it come first.
    /// - Throws: `RedirectError`, `SessionStoreError`, ``LoginFallbackError`` and other errors of a fallback for a
    ///   request that would be sent once more, or the transport's error.
    public func exchange<Request: DecoratableRequest, Payload>(
        _ request: Request, in context: RequestContext, limit: Int = Redirect.limit, isBodyRepeatable: Bool = true,
        fallback: LoginFallback? = nil, now: (() -> Timestamp)? = nil,
        transport: (Request, RedirectChain) async throws -> (head: ResponseHead, payload: Payload)
    ) async throws -> Exchange<Payload> {
        var redirected = RedirectedRequest(request, in: context, limit: limit, isBodyRepeatable: isBodyRepeatable)
        // One that the caller signs in itself is answered as it is.
        let recovery = request.hasField(.authorization) ? nil : fallback.map(LoginRecovery.init)
        var jar = DecoratingJar<Request>(self, recovery, now: now ?? { [clock] in clock.now })
        let (head, payload, refusal) = try await redirected.run(with: &jar, over: transport)
        return Exchange(
            head: head, payload: payload, hops: jar.hops, url: redirected.chain.context.url,
            repetitionRefusal: refusal)
    }

    /// Returns this decorator with the rules that sign in a request: the answer to a challenge, or the rule that
    /// presents a token before one.
    fileprivate func signedIn(
        by answer: LoginFallback.Answer?, or presented: AuthorizationRule?
    ) -> RequestDecorator {
        var rules = [presented].compactMap(\.self)
        if case .authorization(let rule)? = answer { rules.insert(rule, at: 0) }
        guard !rules.isEmpty else { return self }
        var settings = settings
        settings.authorization.insert(contentsOf: rules, at: 0)
        return RequestDecorator(jar: jar, settings: settings)
    }
}

/// The jar of an exchange: a decorator, and the recovery from a response that says "not signed in".
private struct DecoratingJar<Request: DecoratableRequest>: ExchangeJar {
    private let configured: RequestDecorator
    private let now: () -> Timestamp
    /// The decorator of the current request, with the rules that sign it in.
    private var decorator: RequestDecorator
    private var recovery: LoginRecovery?
    private var challenge: LoginChallenge?
    private var answer: LoginFallback.Answer?
    private var report: RequestDecorator.Report?
    /// The hops so far, one per response.
    private(set) var hops: [ExchangeHop] = []

    init(_ decorator: RequestDecorator, _ recovery: LoginRecovery?, now: @escaping () -> Timestamp) {
        configured = decorator
        self.decorator = decorator
        self.recovery = recovery
        self.now = now
    }

    mutating func decorate(_ request: Request, of hop: inout RedirectChain) async throws -> Request {
        let (url, now) = (hop.context.url, now)
        if !configured.settings.authorization.contains(where: { $0.scope.contains(url) }), !hop.hasLeftOrigin {
            decorator = configured.signedIn(by: answer, or: await recovery?.present(to: url, now: now()))
        }
        hop.login = login(presentedTo: url)
        try Task.checkCancellation()
        let decorated = try await decorator.decorate(request, in: hop.context, at: now())
        report = decorated.report
        return decorated.request
    }

    /// Returns what names the login whose token a request presents; `nil` if its token is not a stored one.
    private func login(presentedTo url: RequestURL) -> (@Sendable (Octets) async throws -> Octets?)? {
        guard let rule = decorator.settings.authorization.first(where: { $0.scope.contains(url) }), rule.isStored
        else { return nil }
        return { [database = decorator.jar.database] field in
            try await database.reading { rule.login(presenting: field) }
        }
    }

    mutating func receive(_ response: ResponseHead, to hop: RedirectChain) async throws -> Bool {
        let receipt = try await decorator.receive(response, in: hop.context, at: now())
        guard let report else { return false }
        hops.append(ExchangeHop(hop, report, response, receipt))
        return report.lacksNonce(in: response)
    }

    mutating func mayRepeat(after response: ResponseHead, to hop: RedirectChain) -> Bool? {
        challenge = recovery?.challenge(in: response, from: hop.context.url)
        return challenge.map { $0.repetitionRefusal(of: hop.context) == nil }
    }

    mutating func signIn() async throws {
        answer = nil
        guard let challenge else { return }
        let (jar, now) = (configured.jar, now)
        answer = try await recovery?.answer(challenge, in: jar, now: now())
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

    fileprivate init(
        _ chain: RedirectChain, _ decoration: RequestDecorator.Report, _ response: ResponseHead,
        _ receipt: ResponseReceipt
    ) {
        url = chain.context.url
        method = chain.context.method
        self.decoration = decoration
        status = response.status
        self.receipt = receipt
    }
}
