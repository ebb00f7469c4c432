public import CookieModel
import HTTPTypes

/// A request and its redirects. Each hop is decorated, and the cookies of each response are stored before the next hop.
///
/// A state machine without network access: send the ``nextRequest(now:)``, pass the response to ``receive(_:now:)``,
/// and repeat while that returns `true`.
public struct RedirectedExchange<Request: DecoratableRequest>: Sendable {
    /// The decorator, which adds and stores cookies.
    public internal(set) var decorator: RequestDecorator
    /// The chain of redirects.
    public private(set) var chain: RedirectChain
    /// The hops so far, one per response.
    public private(set) var hops: [ExchangeHop] = []
    /// Whether the next request repeats the last one, with the nonce that the server requires in a proof.
    public private(set) var repeatsRequest = false
    private let first: Request
    private let beginning: RedirectChain
    private let isBodyRepeatable: Bool
    private var report: DecorationReport?

    /// Creates an exchange before its first request.
    ///
    /// - Parameters:
    ///   - request: the request as the caller wants it: its cookies and credentials are for its origin alone.
    ///   - decorator: what adds cookies and takes them.
    ///   - context: who asks for which URL; the request's own method counts.
    ///   - limit: how many redirects are followed.
    ///   - isBodyRepeatable: whether the body can be sent again, where the request itself does not tell.
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

    /// The exchange once more, after a login: from its beginning, or from `hop` if what was asked for has been done by
    /// then (``RedirectChain/hasActed``).
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
    /// - Throws: ``RedirectError`` where it cannot be made, ``SessionStoreError`` where the jar fails.
    public mutating func nextRequest(now: Timestamp) throws -> Request {
        let request = try chain.request(from: first, isBodyRepeatable: isBodyRepeatable)
        let decorated = try decorator.decorate(request, in: chain.context, now: now)
        report = decorated.report
        return decorated.request
    }

    /// Stores what the answer to the present request sets, and goes on to where it redirects; or asks for the same
    /// request once, and only once, where its server wants a nonce in the proof of a bound token.
    ///
    /// - Returns: whether there is another request to make; if not, the answer is for the caller.
    /// - Throws: ``RedirectError`` where the answer leads nowhere, ``SessionStoreError`` where the jar fails. What the
    ///   answer set is stored in the first case, and its hop is among ``hops``.
    public mutating func receive(_ response: ResponseHead, now: Timestamp) throws -> Bool {
        let receipt = try decorator.receive(response, in: chain.context, now: now)
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
    /// Makes a request and follows its redirects: each hop is decorated again, and each answer stored before the next.
    ///
    /// - Parameters:
    ///   - request: the request as the caller wants it, whose own cookies and credentials are for its origin alone.
    ///   - context: who asks for which URL.
    ///   - limit: how many redirects are followed.
    ///   - isBodyRepeatable: whether the body can be sent again, where the request itself does not tell.
    ///   - fallback: what to do where a site says "not signed in": the request is sent once more, body included, for
    ///     each step of a ``LoginRecovery``, of which there are three at most. A request that changes something and was
    ///     answered with a redirect is not sent again, but the one that the redirect led to. A rule's token that goes
    ///     into the Authorization field is there from the first request on.
    ///   - now: the time, asked for each request and each answer.
    ///   - transport: sends one request without following redirects. The chain says whether this is still the first
    ///     request's body, for transports to which requests do not bring it. Only the last payload is kept.
    /// - Returns: the answer for the caller. Where a fallback was made, the hops before it come first.
    /// - Throws: ``RedirectError``, `SessionStoreError`, ``LoginFallbackError`` and what else a fallback fails for, or
    ///   what the transport throws.
    public func exchange<Request: DecoratableRequest, Payload>(
        _ request: Request, in context: RequestContext, limit: Int = Redirect.limit, isBodyRepeatable: Bool = true,
        fallback: LoginFallback? = nil, now: () -> Timestamp,
        transport: (Request, RedirectChain) async throws -> (head: ResponseHead, payload: Payload)
    ) async throws -> Exchange<Payload> {
        let isBodyRepeatable = isBodyRepeatable && request.isBodyRepeatable
        var exchange = RedirectedExchange(
            request, decorator: self, in: context, limit: limit, isBodyRepeatable: isBodyRepeatable)
        var earlier: [ExchangeHop] = []
        // One that the caller signs in itself is answered as it is.
        var recovery = request.hasField(.authorization) ? nil : fallback.map(LoginRecovery.init)
        var answer: LoginFallback.Answer?
        while true {
            let hop = exchange.chain
            let url = hop.context.url
            if !settings.authorization.contains(where: { $0.scope.contains(url) }), !hop.hasLeftOrigin {
                exchange.decorator = signedIn(by: answer, or: await recovery?.present(to: url, now: now()))
            }
            let (head, payload) = try await transport(try exchange.nextRequest(now: now()), hop)
            let goesOn = try exchange.receive(head, now: now())
            // One whose body can go only once is answered as it is, too.
            if isBodyRepeatable, !exchange.repeatsRequest, let challenge = recovery?.challenge(in: head, from: url) {
                earlier += exchange.hops
                answer = try await recovery?.answer(challenge, in: jar, now: now())
                exchange = exchange.again(hop)
                continue
            }
            guard goesOn else {
                return Exchange(
                    head: head, payload: payload, hops: earlier + exchange.hops, url: exchange.chain.context.url)
            }
        }
    }

    /// This decorator, as it decorates a request that a login rule signs in: by what answers a challenge, or before
    /// there was one.
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

/// The end of an exchange: the answer for the caller, and what happened on the way.
public struct Exchange<Payload> {
    /// The answer's status and fields, as far as they were read.
    public let head: ResponseHead
    /// What the transport gave with it.
    public let payload: Payload
    /// What happened, a hop for each request; the last one is the answer's.
    public let hops: [ExchangeHop]
    /// The URL of the response.
    public let url: RequestURL
}

extension Exchange: Sendable where Payload: Sendable {}

/// What happened in one hop of an exchange.
public struct ExchangeHop: Sendable {
    /// The URL that was requested.
    public let url: RequestURL
    /// The method it was requested by.
    public let method: String
    /// What went onto the request.
    public let decoration: DecorationReport
    /// The status of the answer.
    public let status: Int
    /// What became of its cookies.
    public let receipt: ResponseReceipt
}
