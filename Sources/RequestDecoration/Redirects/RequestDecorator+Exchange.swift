public import CookieModel

extension RequestDecorator {
    /// Makes a request and follows its redirects: each hop is decorated anew, and each answer stored before the next.
    ///
    /// - Parameters:
    ///   - request: the request as the caller wants it, whose own cookies and credentials are for its origin alone.
    ///   - context: who asks for which URL.
    ///   - limit: how many redirects are followed.
    ///   - now: the time, asked for each request and each answer.
    ///   - transport: sends one request without following redirects. The chain says whether this is still the first
    ///     request's body, for transports to which requests do not bring it. Only the last payload is kept.
    /// - Throws: ``RedirectError``, `SessionStoreError`, or what the transport throws.
    public func exchange<Request: DecoratableRequest, Payload>(
        _ request: Request, in context: RequestContext, limit: Int = Redirect.limit, now: () -> Timestamp,
        transport: (Request, RedirectChain) async throws -> (head: ResponseHead, payload: Payload)
    ) async throws -> Exchange<Payload> {
        var exchange = RedirectedExchange(request, decorator: self, in: context, limit: limit)
        while true {
            let (head, payload) = try await transport(try exchange.nextRequest(now: now()), exchange.chain)
            guard try exchange.receive(head, now: now()) else {
                return Exchange(head: head, payload: payload, hops: exchange.hops, url: exchange.chain.context.url)
            }
        }
    }
}
