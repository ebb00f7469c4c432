@_exported public import AsyncHTTPClient
@_exported public import CookieModel
public import HTTPCaching
@_exported public import HTTPTypes
@_exported public import NIOCore
@_exported public import NIOHTTP1
@_exported public import OAuth2
@_exported public import RequestDecoration
public import ResponseStore
@_exported public import SessionStore

extension HTTPClient {
    /// Makes a request with the jar's cookies and follows its redirects, each with the cookies for the new URL.
    ///
    /// The client must not follow redirects itself: create its configuration with `redirectConfiguration: .disallow`.
    ///
    /// - Parameters:
    ///   - request: The request. Its own cookies and credentials are only for its origin. Its body is sent again at a
    ///     redirect with 307 or 308 if it is in memory.
    ///   - settings: The other fields to add to requests.
    ///   - context: The context of the request; `nil` for a user's visit to its URL.
    ///   - timeout: The time limit for the head of each response.
    /// - Returns: The response, whose body is not read yet.
    /// - Throws: As ``exchange(_:by:in:timeout:limit:isBodyRepeatable:fallback:cache:cachePolicy:now:)``.
    public func execute(
        _ request: HTTPClientRequest, jar: CookieJar, settings: DecorationSettings = DecorationSettings(),
        in context: RequestContext? = nil, timeout: TimeAmount = .seconds(30)
    ) async throws -> HTTPClientResponse {
        let decorator = RequestDecorator(jar: jar, settings: settings)
        return try await exchange(request, by: decorator, in: context, timeout: timeout).payload
    }

    /// Makes a request with the jar's cookies and follows its redirects, each with the cookies for the new URL.
    ///
    /// The client must not follow redirects itself: create its configuration with `redirectConfiguration: .disallow`.
    ///
    /// - Parameters:
    ///   - request: The request. Its own cookies and credentials are only for its origin.
    ///   - decorator: the decorator, which adds cookies to requests and stores those of responses.
    ///   - context: The context of the request; `nil` for a user's visit to its URL.
    ///   - timeout: The time limit for the head of each response.
    ///   - limit: The maximum number of redirects.
    ///   - isBodyRepeatable: Whether the body, if there is one, can be sent again at a redirect; `nil` if AsyncHTTPClient
    ///     decides: a `ByteBuffer` and other bytes in memory can, up to 4 MiB of a collection, and a stream cannot.
    ///   - fallback: The fallback for responses that mean "not signed in": the request is sent once more, body
    ///     included, unless there is a `RepetitionRefusal`.
    ///   - cache: The stored responses of the decorator's jar; `nil` if all requests are sent. Responses that come from it
    ///     or pass it have a Cache-Status field (RFC 9211). One with a content coding is not stored.
    ///   - cachePolicy: How the cache answers this request.
    ///   - now: Returns the current time, called for each request and response, and at the end of a body that is stored;
    ///     `nil` for the clock of the decorator's database.
    /// - Returns: The response, whose body is not read yet, and the hops.
    /// - Throws: ``ClientRedirectsError`` if the client followed a redirect itself, `RedirectError`,
    ///   `SessionStoreError`, `RequestURLError`, or the client's error. With a cache, `NotStoredError` for a request that
    ///   must not be sent.
    public func exchange(
        _ request: HTTPClientRequest, by decorator: RequestDecorator, in context: RequestContext? = nil,
        timeout: TimeAmount, limit: Int = Redirect.limit, isBodyRepeatable: Bool? = nil,
        fallback: LoginFallback? = nil, cache: PrivateCache? = nil,
        cachePolicy: RequestCachePolicy = .useProtocolCachePolicy, now: (@Sendable () -> Timestamp)? = nil
    ) async throws -> Exchange<HTTPClientResponse> {
        let now = now ?? { [clock = decorator.clock] in clock.now }
        let (own, client) = (request, CachingHTTPClient(client: self, timeout: timeout))
        let context = try context ?? RequestContext(url: request.requestURL())
        return try await decorator.exchange(
            request, in: context, limit: limit,
            isBodyRepeatable: request.body == nil || isBodyRepeatable ?? request.hasBodyInMemory,
            fallback: fallback, now: now
        ) { request, hop in
            guard let cache else {
                let response = try await client.send(request)
                return (ResponseHead(response), response)
            }
            return try await CachedRequest(
                request, of: own, at: hop, by: client, in: cache, decorator, policy: cachePolicy, now: now
            ).response()
        }
    }
}

extension RequestDecorator {
    /// Stores the cookies of a response with any status.
    @discardableResult
    public func receive(
        _ response: HTTPClientResponse, in context: RequestContext, now: Timestamp? = nil
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }

    /// Stores the cookies of a response with any status, without blocking the caller's thread.
    @discardableResult
    public func receive(
        _ response: HTTPClientResponse, in context: RequestContext, at time: Timestamp? = nil
    ) async throws -> ResponseReceipt {
        try await receive(ResponseHead(response), in: context, at: time)
    }
}

extension ResponseHead {
    /// Creates the head of a response. The client decodes fields as UTF-8 and replaces invalid octets. A Set-Cookie
    /// field with replaced octets is left out, and the receipt's `doubts` report it.
    public init(_ response: HTTPClientResponse) {
        self.init(
            status: Int(response.status.code), location: response.headers["Location"].first { !$0.isEmpty },
            decodedSetCookie: response.headers["Set-Cookie"])
        proofNonce = response.headers.first(name: ResponseHead.proofNonceFieldName)
        authenticate = response.headers["WWW-Authenticate"].map { Octets($0) }
        proxyStatus = response.headers[ResponseHead.proxyStatusFieldName].map { Octets($0) }
    }
}

/// The client followed a redirect itself. It sent cookies that were for another URL, and the cookies of the response
/// with the redirect are lost.
public struct ClientRedirectsError: DescribedError, Hashable, Sendable {
    /// The stable identifier.
    public let code = "client-follows-redirects"

    /// Creates the error.
    public init() {}

    /// One sentence that names the remedy.
    public var description: String {
        "the HTTP client follows redirects itself; create it with redirectConfiguration: .disallow"
    }
}
