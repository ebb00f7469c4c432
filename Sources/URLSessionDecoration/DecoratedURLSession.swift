@_exported public import CookieModel
@_exported public import Foundation
import HTTPCaching
@_exported public import HTTPTypes
@_exported public import OAuth2
@_exported public import RequestDecoration
public import ResponseStore
@_exported public import SessionStore

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif

/// A URLSession whose requests carry the jar's cookies, at each redirect those for the new URL.
///
/// It has the methods of URLSession. It follows redirects itself, with a task for each hop: Foundation on Linux loses the
/// body at 307 and 308, and follows responses that are not redirects. The cookies of the configuration are turned off.
///
/// With a cache, responses that the jar has stored answer requests by the same rules as in a gateway, whatever `URLCache`
/// does: it is turned off, too. `URLRequest.cachePolicy` says how a request is answered, and that of the configuration
/// for requests with the policy of the protocol. On Linux, `URLCache` is always off: Foundation may end the program if a
/// request is cancelled that uses one.
public final class DecoratedURLSession: Sendable {
    /// The decorator, which adds and stores cookies.
    public let decorator: RequestDecorator
    /// The stored responses; `nil` if all requests are sent.
    public let cache: PrivateCache?
    private let session: OpenSession
    private let cachePolicy: URLRequest.CachePolicy
    /// The configuration's additional fields. The session would send them to every origin.
    private let ownFields: [String: String]
    private let now: @Sendable () -> Timestamp

    /// Creates a session with its own configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration. Its `httpAdditionalHeaders` count as fields of each request.
    ///   - delegate: Answers authentication challenges, such as for pinned certificates, and is informed about progress
    ///     and metrics, for each hop. Other methods are not called, in particular not those for redirects. The session
    ///     keeps it until it ends.
    ///   - cache: The stored responses of the decorator's jar; `nil` for none.
    ///   - now: Returns the current time, called for each request and response; `nil` for the clock of the decorator's
    ///     database.
    public init(
        decorator: RequestDecorator, configuration: URLSessionConfiguration = .ephemeral,
        delegate: (any URLSessionDelegate)? = nil, cache: PrivateCache? = nil, now: (@Sendable () -> Timestamp)? = nil
    ) {
        self.decorator = decorator
        self.cache = cache
        self.now = now ?? { [clock = decorator.clock] in clock.now }
        cachePolicy = configuration.requestCachePolicy
        let configuration = configuration.withoutClientCookies
        ownFields = configuration.httpAdditionalHeaders as? [String: String] ?? [:]
        configuration.httpAdditionalHeaders = nil
        #if canImport(FoundationNetworking)
            // With one, a request that is cancelled may end the program:
            // https://github.com/swiftlang/swift-corelibs-foundation/issues/3296
            configuration.urlCache = nil
        #endif
        if cache != nil {
            configuration.urlCache = nil
            configuration.requestCachePolicy = .useProtocolCachePolicy
        }
        session = OpenSession(configuration, delegate: delegate)
    }

    /// Creates a session whose requests carry the cookies of a jar.
    ///
    /// - Parameters:
    ///   - settings: The other fields to add to requests.
    ///   - delegate: As for ``init(decorator:configuration:delegate:cache:now:)``.
    public convenience init(
        jar: CookieJar, configuration: URLSessionConfiguration = .ephemeral,
        settings: DecorationSettings = DecorationSettings(), delegate: (any URLSessionDelegate)? = nil
    ) {
        self.init(
            decorator: RequestDecorator(jar: jar, settings: settings), configuration: configuration, delegate: delegate)
    }

    /// Makes a request, follows its redirects, and returns the hops with the response.
    ///
    /// - Parameters:
    ///   - request: The request. Its own cookies and credentials are only for its origin. A body from a stream is sent
    ///     once: a redirect that requires it again is an error.
    ///   - context: The context of the request; `nil` for a user's visit to its URL.
    ///   - limit: The maximum number of redirects.
    ///   - fallback: The fallback for responses that mean "not signed in": the request is sent once more, body
    ///     included, unless there is a `RepetitionRefusal`.
    /// - Throws: `RedirectError`, `SessionStoreError`, `RequestURLError` for a URL that is not http or https, the error
    ///   of a fallback, or that of `URLSession`; `URLError.cancelled` if the task is cancelled. With a cache,
    ///   `NotStoredError` for a request that must not be sent.
    public func exchange(
        for request: URLRequest, in context: RequestContext? = nil, limit: Int = Redirect.limit,
        fallback: LoginFallback? = nil
    ) async throws -> Exchange<URLSessionAnswer> {
        try await exchange(for: request, file: nil, in: context, limit: limit, fallback: fallback)
    }

    /// Makes a request whose body is a file, which is opened again for each hop that needs it.
    func exchange(
        for request: URLRequest, file: URL?, in context: RequestContext?, limit: Int = Redirect.limit,
        fallback: LoginFallback? = nil
    ) async throws -> Exchange<URLSessionAnswer> {
        var own = withOwnFields(request)
        if cache != nil { own.cachePolicy = .useProtocolCachePolicy }
        let policy = RequestCachePolicy(cachePolicy(of: request))
        return try await follow(own, in: context, limit: limit, fallback: fallback) { [own] request, hop in
            let client = URLSessionClient(session: session, hop: hop, file: hop.keepsBody ? file : nil)
            guard let cache else {
                let answer = try await client.send(request)
                return (ResponseHead(answer.response), answer)
            }
            return try await CachedRequest(
                request, of: own, at: hop, by: client, in: cache, decorator, policy: policy, now: now
            ).response()
        }
    }

    /// Makes a request whose response is read while it comes. It is neither stored nor answered from the cache, but
    /// invalidates stored responses as any other does.
    ///
    /// - Throws: As ``exchange(for:in:limit:fallback:)``; `URLError.resourceUnavailable` for a request that must not be
    ///   sent.
    func transfer(for request: URLRequest, in context: RequestContext?) async throws -> Transfer {
        if cache != nil, cachePolicy(of: request) == .returnCacheDataDontLoad { throw URLError(.resourceUnavailable) }
        return try await follow(withOwnFields(request), in: context) { request, hop in
            let requestTime = now()
            let transfer = session.begin(request)
            let response = try await transfer.head()
            if let cache {
                let client = URLSessionClient(session: session, hop: hop)
                await cache.invalidate(
                    by: OriginResponse(
                        status: response.statusCode, fields: client.fields(of: response), requestTime: requestTime,
                        responseTime: now()),
                    to: CacheRequest(
                        method: Octets(hop.context.method), url: hop.context.url, fields: client.fields(of: request)))
            }
            return (ResponseHead(response), transfer)
        }.payload
    }

    /// A request with the configuration's fields that it does not have.
    private func withOwnFields(_ request: URLRequest) -> URLRequest {
        var own = request
        for (name, value) in ownFields where own.value(forHTTPHeaderField: name) == nil {
            own.setValue(value, forHTTPHeaderField: name)
        }
        return own
    }

    private func cachePolicy(of request: URLRequest) -> URLRequest.CachePolicy {
        request.cachePolicy == .useProtocolCachePolicy ? cachePolicy : request.cachePolicy
    }

    private func follow<Payload>(
        _ request: URLRequest, in context: RequestContext?, limit: Int = Redirect.limit, fallback: LoginFallback? = nil,
        transport: (URLRequest, RedirectChain) async throws -> (head: ResponseHead, payload: Payload)
    ) async throws -> Exchange<Payload> {
        let context = try context ?? RequestContext(url: request.requestURL())
        do {
            return try await decorator.exchange(
                request, in: context, limit: limit, fallback: fallback, now: now, transport: transport)
        } catch is CancellationError {
            throw URLError(.cancelled)
        }
    }
}

/// A response of URLSession.
public struct URLSessionAnswer: Sendable {
    /// The body.
    public let data: Data
    /// Status and fields, as Foundation has them.
    public let response: HTTPURLResponse
    /// What the cache did about the request, as in the Cache-Status field (RFC 9211); `nil` without a cache.
    public var cacheStatus: String?
    /// Whether the body is there. That of a redirect is left out if it is long or breaks off, since no caller gets it.
    var hasBody = true
}

extension RequestDecorator {
    /// Stores the cookies of a response with any status.
    @discardableResult
    public func receive(
        _ response: HTTPURLResponse, in context: RequestContext, now: Timestamp? = nil
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }

    /// Stores the cookies of a response with any status, without blocking the caller's thread.
    @discardableResult
    public func receive(
        _ response: HTTPURLResponse, in context: RequestContext, at time: Timestamp? = nil
    ) async throws -> ResponseReceipt {
        try await receive(ResponseHead(response), in: context, at: time)
    }
}

extension ResponseHead {
    /// Creates the head of a response. Foundation joins all Set-Cookie fields into one text, which is split again.
    /// The receipt's `doubts` report ambiguous lines.
    public init(_ response: HTTPURLResponse) {
        let location = response.value(forHTTPHeaderField: "Location").map(HeaderText.octets(received:))
        self.init(status: response.statusCode, location: location.flatMap { $0.isEmpty ? nil : $0 })
        // Foundation joins several challenges with commas, as RFC 9110, section 5.3, permits.
        authenticate =
            response.value(forHTTPHeaderField: "WWW-Authenticate").map { [HeaderText.octets(received: $0)] } ?? []
        proxyStatus =
            response.value(forHTTPHeaderField: ResponseHead.proxyStatusFieldName)
            .map { [HeaderText.octets(received: $0)] } ?? []
        proofNonce = response.value(forHTTPHeaderField: ResponseHead.proofNonceFieldName)
        guard let joined = response.value(forHTTPHeaderField: "Set-Cookie") else { return }
        let lines = JoinedSetCookie(HeaderText.octets(received: joined))
        setCookie = lines.lines
        doubts = lines.doubts
    }
}
