public import CookieModel
import HTTPTypes

/// A request on its way through redirects: each hop decorated anew, each answer stored before the next hop.
///
/// A state machine without a network: ask for ``nextRequest(now:)``, send it in whatever way, give the answer to
/// ``receive(_:now:)``, and go on while that says so.
public struct RedirectedExchange<Request: DecoratableRequest>: Sendable {
    /// What adds cookies and takes them.
    public internal(set) var decorator: RequestDecorator
    /// Where the request stands.
    public private(set) var chain: RedirectChain
    /// What happened so far, a hop for each answer.
    public private(set) var hops: [ExchangeHop] = []
    /// Whether the next request is the last one once more, with the nonce that its server wants in a bound token's proof.
    public private(set) var repeatsRequest = false
    private let first: Request
    private let beginning: RedirectChain
    private let isBodyRepeatable: Bool
    private var report: DecorationReport?

    /// An exchange before its first request.
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
