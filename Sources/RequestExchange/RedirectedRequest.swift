package import CookieModel

/// A request and its redirects, without a jar: the rules of every exchange, whether the jar is here or in a service.
///
/// A state machine without network access: decorate and send the ``current()`` request, pass the response to
/// ``follow(_:lacksNonce:)``, and repeat while that returns `true`.
package struct RedirectedRequest<Request: DecoratableRequest>: Sendable {
    /// The chain of redirects.
    package private(set) var chain: RedirectChain
    /// Whether the next request repeats the last one, with the nonce that the server requires in a proof.
    package private(set) var repeatsRequest = false
    private let first: Request
    private let beginning: RedirectChain
    private let isBodyRepeatable: Bool

    /// Creates the state before the first request.
    ///
    /// - Parameters:
    ///   - request: The caller's request. Its cookies and credentials are for its origin only.
    ///   - context: The URL, and the page or user that requests it. The method is the request's own.
    ///   - limit: How many redirects are followed.
    ///   - isBodyRepeatable: Whether the body can be sent again, if the request itself does not know.
    package init(_ request: Request, in context: RequestContext, limit: Int, isBodyRepeatable: Bool) {
        first = request
        self.isBodyRepeatable = isBodyRepeatable && request.isBodyRepeatable
        beginning = RedirectChain(context.with(method: request.requestMethod), limit: limit)
        chain = beginning
    }

    /// Returns the current request, which is not decorated yet: the first one, or the one that the last response leads to.
    package func current() throws(RedirectError) -> Request {
        try chain.request(from: first, isBodyRepeatable: isBodyRepeatable)
    }

    /// Follows the redirect of the response to the current request.
    ///
    /// - Parameter lacksNonce: Whether the server rejects the request only because its nonce is missing in the proof of a
    ///   token. The same request is then repeated, once only.
    /// - Returns: Whether there is another request to make. If not, the response is for the caller.
    package mutating func follow(_ response: ResponseHead, lacksNonce: Bool) throws(RedirectError) -> Bool {
        repeatsRequest = lacksNonce && !repeatsRequest && (isBodyRepeatable || !chain.keepsBody)
        if repeatsRequest { return true }
        return try chain.follow(status: response.status, location: response.location) != nil
    }

    /// Returns why the request of a hop must not be sent once more after a login; `nil` if it may be.
    ///
    /// - Parameter mayRepeat: Whether the method is safe, or the server has certainly not acted on the request.
    private func refusal(toRepeat hop: RedirectChain, mayRepeat: Bool) -> RepetitionRefusal? {
        RepetitionRefusal(
            mayRepeat: mayRepeat, isBodyRepeatable: isBodyRepeatable || hop.hasActed && !hop.keepsBody)
    }

    /// Repeats the exchange after a login: from its beginning, or from `hop` if the server has already acted on the
    /// request (``RedirectChain/hasActed``).
    private mutating func restart(at hop: RedirectChain) {
        chain = hop.hasActed ? hop : beginning
        repeatsRequest = false
    }
}

/// The jar of an exchange: decorates the requests, and receives the responses.
package protocol ExchangeJar<Request> {
    associatedtype Request: DecoratableRequest

    /// Decorates the request of a hop.
    mutating func decorate(_ request: Request, of hop: inout RedirectChain) async throws -> Request

    /// Stores the cookies of the response to the request that was decorated last.
    ///
    /// - Returns: Whether the server rejects the request only because its nonce is missing in the proof of a token.
    mutating func receive(_ response: ResponseHead, to hop: RedirectChain) async throws -> Bool

    /// Whether the request that was answered last may be sent once more after a login: its method is safe, or the server has
    /// certainly not acted on it. `nil` if the response does not say "not signed in", or if no step of the login is left.
    mutating func mayRepeat(after response: ResponseHead, to hop: RedirectChain) -> Bool?

    /// Signs in after the last response that says "not signed in".
    mutating func signIn() async throws
}

extension RedirectedRequest {
    /// Makes the request and follows its redirects. Each hop is decorated again, and the cookies of each response are stored
    /// before the next hop.
    ///
    /// - Parameters:
    ///   - jar: The jar. A response that says "not signed in" to it leads to a login and the same request once more, unless
    ///     there is a ``RepetitionRefusal``.
    ///   - transport: Sends one request without following redirects.
    /// - Throws: The transport's error. The cookies of a ``BrokenResponse`` are stored before its reason is thrown.
    /// - Returns: The response for the caller, and why the last request was not sent once more.
    package mutating func run<Payload>(
        with jar: inout some ExchangeJar<Request>,
        over transport: (Request, RedirectChain) async throws -> (head: ResponseHead, payload: Payload)
    ) async throws -> (head: ResponseHead, payload: Payload, refusal: RepetitionRefusal?) {
        var refusal: RepetitionRefusal?
        while true {
            var hop = chain
            let request = try await jar.decorate(try current(), of: &hop)
            let (head, payload): (ResponseHead, Payload)
            do {
                (head, payload) = try await transport(request, hop)
            } catch let error as BrokenResponse {
                _ = try? await jar.receive(error.head, to: hop)
                throw error.reason
            }
            let goesOn = try follow(head, lacksNonce: try await jar.receive(head, to: hop))
            if !repeatsRequest, let mayRepeat = jar.mayRepeat(after: head, to: hop) {
                refusal = self.refusal(toRepeat: hop, mayRepeat: mayRepeat)
                if refusal == nil {
                    try Task.checkCancellation()
                    try await jar.signIn()
                    restart(at: hop)
                    continue
                }
                // The response is the result, even if no login is possible.
                try? await jar.signIn()
            }
            guard goesOn else { return (head, payload, refusal) }
        }
    }
}

extension RequestContext {
    /// The same request by a method, which rules know in upper case.
    package func with(method: String) -> RequestContext {
        guard method != self.method else { return self }
        var context = self
        context.method = method.uppercased()
        return context
    }
}
