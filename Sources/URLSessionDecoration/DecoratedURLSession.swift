public import CookieModel
public import Foundation
public import RequestDecoration
public import SessionStore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A session of URLSession whose requests carry the jar's cookies, at every redirect those of that very URL.
///
/// It follows redirects itself, a task for each hop: Foundation on Linux loses the body at 307 and 308, follows what is
/// no redirect, and calls no delegate that belongs to a task. The configuration's own cookies are off.
public final class DecoratedURLSession: Sendable {
    /// What adds cookies and takes them.
    public let decorator: RequestDecorator
    private let session: URLSession
    private let now: @Sendable () -> Timestamp

    /// A session with a configuration of its own.
    ///
    /// - Parameter now: the time, asked for each request and each answer.
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
    ///   - request: the request; its own cookies and credentials are for its origin alone. A body from a stream goes
    ///     once: a redirect that wants it again is an error.
    ///   - context: who asks; `nil` for a person's visit to the request's URL.
    ///   - limit: how many redirects are followed.
    ///   - fallback: what to do where a site says "not signed in": the request is sent once more, body included, but for
    ///     one with a stream.
    /// - Throws: `RedirectError`, `SessionStoreError`, `RequestURLError` for a URL that is not http or https, what a
    ///   fallback fails for, or what URLSession throws.
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

/// What URLSession gives with an answer. On Linux there is no body with a redirect that was not followed.
public struct URLSessionAnswer: Sendable {
    /// The body.
    public let data: Data
    /// Status and fields, as Foundation has them.
    public let response: HTTPURLResponse
}

extension RequestDecorator {
    /// Stores what a response sets, whatever its status.
    @discardableResult
    public func receive(
        _ response: HTTPURLResponse, in context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> ResponseReceipt {
        try receive(ResponseHead(response), in: context, now: now)
    }
}

extension ResponseHead {
    /// The head of a response. Foundation joins all Set-Cookie fields into one text, which is cut apart again; where
    /// that can be done in two ways, ``doubts`` says so.
    public init(_ response: HTTPURLResponse) {
        let location = response.value(forHTTPHeaderField: "Location").map(HeaderText.octets(received:))
        self.init(status: response.statusCode, location: location.flatMap { $0.isEmpty ? nil : $0 })
        // Foundation joins several challenges with commas, which is what they may be joined with (RFC 9110, section 5.3).
        authenticate =
            response.value(forHTTPHeaderField: "WWW-Authenticate").map { [HeaderText.octets(received: $0)] } ?? []
        proofNonce = response.value(forHTTPHeaderField: ResponseHead.proofNonceFieldName)
        guard let joined = response.value(forHTTPHeaderField: "Set-Cookie") else { return }
        let lines = JoinedSetCookie(HeaderText.octets(received: joined))
        setCookie = lines.lines
        doubts = lines.doubts
    }
}
