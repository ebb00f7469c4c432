public import AsyncHTTPClient
public import CookieModel
public import NIOCore
import NIOHTTP1
public import RequestDecoration
public import SessionStore

extension HTTPClient {
    /// Makes a request with the jar's cookies and follows its redirects, at each with those of that very URL.
    ///
    /// The client's own redirects have to be off: its configuration is made with `redirectConfiguration: .disallow`.
    ///
    /// - Parameters:
    ///   - request: the request; its own cookies and credentials are for its origin alone.
    ///   - decorator: what adds cookies and takes them.
    ///   - context: who asks; `nil` for a person's visit to the request's URL.
    ///   - timeout: how long each hop may take until its head is there.
    ///   - limit: how many redirects are followed.
    ///   - isBodyRepeatable: whether the body, if there is one, can be sent again at a redirect: not that of a stream
    ///     that gives its elements once.
    ///   - fallback: what to do where a site says "not signed in"; not for a body that cannot be sent again.
    ///   - now: the time, asked for each request and each answer.
    /// - Returns: the answer, whose body is still to be read, and what happened on the way.
    /// - Throws: ``ClientRedirectsError`` where the client followed a redirect itself, `RedirectError`,
    ///   `SessionStoreError`, `RequestURLError`, or what the client throws.
    public func exchange(
        _ request: HTTPClientRequest, by decorator: RequestDecorator, in context: RequestContext? = nil,
        timeout: TimeAmount, limit: Int = Redirect.limit, isBodyRepeatable: Bool = true,
        fallback: LoginFallback? = nil, now: () -> Timestamp
    ) async throws -> Exchange<HTTPClientResponse> {
        let context = try context ?? RequestContext(url: request.requestURL())
        return try await decorator.exchange(
            request, in: context, limit: limit, isBodyRepeatable: request.body == nil || isBodyRepeatable,
            fallback: fallback, now: now
        ) { request, _ in
            let response = try await execute(request, timeout: timeout)
            guard response.history.count <= 1 else { throw ClientRedirectsError() }
            return (ResponseHead(response), response)
        }
    }
}

extension RequestDecorator {
    /// Stores what a response sets, whatever its status.
    @discardableResult
    public func receive(
        _ response: HTTPClientResponse, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }
}

extension ResponseHead {
    /// The head of a response. The client decodes fields as UTF-8 and replaces what is not: a Set-Cookie field in which
    /// it did is left out, and ``doubts`` says so.
    public init(_ response: HTTPClientResponse) {
        self.init(
            status: Int(response.status.code), location: response.headers["Location"].first { !$0.isEmpty },
            decodedSetCookie: response.headers["Set-Cookie"])
        proofNonce = response.headers.first(name: ResponseHead.proofNonceFieldName)
        authenticate = response.headers["WWW-Authenticate"].map { Octets($0) }
    }
}

/// The client followed a redirect by itself: with cookies that were meant for another URL, and what the answer on the
/// way set is lost.
public struct ClientRedirectsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable identifier.
    public let code = "client-follows-redirects"

    /// An error.
    public init() {}

    /// One sentence that says what to do.
    public var description: String {
        "the HTTP client follows redirects itself; make it with redirectConfiguration: .disallow"
    }
}
