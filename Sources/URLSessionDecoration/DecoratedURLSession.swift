public import CookieModel
public import Foundation
public import RequestDecoration
public import SessionStore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A URLSession whose requests carry the jar's cookies, at each redirect those for the new URL.
///
/// It follows redirects itself, with a task for each hop. Foundation on Linux loses the body at 307 and 308, follows
/// responses that are not redirects, and does not call the delegate of a task. The cookies of the configuration are
/// turned off.
public final class DecoratedURLSession: Sendable {
    /// The decorator, which adds and stores cookies.
    public let decorator: RequestDecorator
    private let session: URLSession
    private let now: @Sendable () -> Timestamp

    /// Creates a session with its own configuration.
    ///
    /// - Parameter now: Returns the current time, called for each request and response.
    public init(
        decorator: RequestDecorator, configuration: URLSessionConfiguration = .ephemeral,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.decorator = decorator
        self.now = now
        session = URLSession(
            configuration: configuration.withoutClientCookies, delegate: RedirectRefusal(), delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Makes a request and follows its redirects.
    ///
    /// - Parameters:
    ///   - request: The request. Its own cookies and credentials are only for its origin. A body from a stream is sent
    ///     once: a redirect that requires it again is an error.
    ///   - context: The context of the request; `nil` for a user's visit to its URL.
    ///   - limit: The maximum number of redirects.
    ///   - fallback: The fallback for responses that mean "not signed in": the request is sent once more, body
    ///     included, unless there is a `RepetitionRefusal`.
    /// - Throws: `RedirectError`, `SessionStoreError`, `RequestURLError` for a URL that is not http or https, the error
    ///   of a fallback, or that of `URLSession`.
    public func data(
        for request: URLRequest, in context: RequestContext? = nil, limit: Int = Redirect.limit,
        fallback: LoginFallback? = nil
    ) async throws -> Exchange<URLSessionAnswer> {
        let context = try context ?? RequestContext(url: request.requestURL())
        return try await decorator.exchange(
            request, in: context, limit: limit, fallback: fallback, now: now
        ) { request, _ in
            let (data, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            return (ResponseHead(response), URLSessionAnswer(data: data, response: response))
        }
    }
}

/// A response of URLSession. On Linux, a redirect that was not followed has no body.
public struct URLSessionAnswer: Sendable {
    /// The body.
    public let data: Data
    /// Status and fields, as Foundation has them.
    public let response: HTTPURLResponse
}

extension RequestDecorator {
    /// Stores the cookies of a response with any status.
    @discardableResult
    public func receive(
        _ response: HTTPURLResponse, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }
}

extension ResponseHead {
    /// Creates the head of a response. Foundation joins all Set-Cookie fields into one text, which is split again.
    /// ``doubts`` reports ambiguous lines.
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
