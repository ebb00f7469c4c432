public import CookieModel
import HTTPTypes

extension RequestDecorator {
    /// Makes a request and follows its redirects: each hop is decorated anew, and each answer stored before the next.
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
