public import CookieModel
public import Foundation
public import RequestDecoration
import SessionStore
import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The delegate of your own session: at each redirect, it stores the cookies of the response, then decorates the next
/// request.
///
/// The session's configuration is one ``Foundation/URLSessionConfiguration/withoutClientCookies``. Tasks are made by
/// ``task(for:in:make:)``; others are left as they are. A delegate that does more holds this one and calls its methods
/// from its own. For data alone ``DecoratedURLSession`` is simpler, and repeats bodies on Linux. The platform cannot do
/// that at a redirect, so here such a redirect ends with an error. It also is the one that sends a request once
/// more, for a login fallback or a server's nonce, which a delegate cannot: a task is one request.
///
/// A delegate is synchronous: it waits for the jar on the thread that calls it. Give the session a delegate queue of its
/// own, not the main one.
public final class RedirectDecorationDelegate: NSObject, URLSessionTaskDelegate {
    /// Receives the result of a task: its hops, or the error.
    public typealias Completion = @Sendable (URLSessionTask, Result<[ExchangeHop], any Error>) -> Void

    private struct Tracked {
        var exchange: RedirectedExchange<URLRequest>
        /// Whether the answer that the task ends with is stored already.
        var hasEnded = false
        var failure: (any Error)?
    }

    private let decorator: RequestDecorator
    private let limit: Int
    private let now: @Sendable () -> Timestamp
    private let completion: Completion?
    private let tasks = Mutex<[Int: Tracked]>([:])

    /// Creates a delegate.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects.
    ///   - now: Returns the current time, called for each request and response; `nil` for the clock of the decorator's
    ///     database.
    ///   - completion: Called with the result when the session reports that a task is done. The session does not report
    ///     tasks with a completion handler; that handler has to call ``finish(_:)`` instead.
    public init(
        decorator: RequestDecorator, limit: Int = Redirect.limit, now: (@Sendable () -> Timestamp)? = nil,
        completion: Completion? = nil
    ) {
        self.decorator = decorator
        self.limit = limit
        self.now = now ?? { [clock = decorator.clock] in clock.now }
        self.completion = completion
    }

    /// Creates a task of the delegate's session with the decorated request. It is not resumed yet.
    ///
    /// - Parameters:
    ///   - context: The context of the request; `nil` for a user's visit to its URL.
    ///   - make: Creates the task from the decorated request, as with `session.dataTask(with:)`.
    public func task<Task: URLSessionTask>(
        for request: URLRequest, in context: RequestContext? = nil, make: (URLRequest) throws -> Task
    ) throws -> Task {
        let context = try context ?? RequestContext(url: request.requestURL())
        var exchange = RedirectedExchange(request, decorator: decorator, in: context, limit: limit)
        let task = try make(try exchange.nextRequest(now: now()))
        let tracked = Tracked(exchange: exchange)
        tasks.withLock { $0[task.taskIdentifier] = tracked }
        return task
    }

    /// Stores the cookies of a task's last response if that is not done yet, and forgets the task.
    ///
    /// - Returns: Its hops; `nil` for an unknown task.
    /// - Throws: The reason why a redirect was not followed, or why nothing could be stored.
    public func finish(_ task: URLSessionTask) throws -> [ExchangeHop]? {
        guard var tracked = tasks.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return nil }
        if let failure = tracked.failure { throw failure }
        // A task that fails may still show the redirect that it was following, whose answer is stored already.
        if !tracked.hasEnded, task.error == nil, let response = task.response as? HTTPURLResponse {
            _ = try tracked.exchange.receive(ResponseHead(response), now: now())
        }
        return tracked.exchange.hops
    }

    /// Stores the answer of a hop, and decorates the request that follows it, if one does.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard var tracked = tasks.withLock({ $0[task.taskIdentifier] }) else { return completionHandler(request) }
        var next: URLRequest?
        do {
            if try tracked.exchange.receive(ResponseHead(response), now: now()) {
                let request = try tracked.exchange.nextRequest(now: now())
                try checkBody(of: request, tracked.exchange.chain)
                next = request
            }
        } catch {
            tracked.failure = error
        }
        tracked.hasEnded = next == nil
        let result = tracked
        tasks.withLock { $0[task.taskIdentifier] = result }
        completionHandler(next)
    }

    /// Stores the last answer.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let chain = tasks.withLock { $0[task.taskIdentifier]?.exchange.chain }
        let result = Result {
            let hops = try finish(task)
            // The platform counts redirects too, and may reach its limit first.
            if let chain, (error as? URLError)?.code == .httpTooManyRedirects { throw chain.exhaustedByClient }
            if let error { throw error }
            return hops
        }
        switch result {
        case .success(let hops):
            if let hops { completion?(task, .success(hops)) }
        case .failure(let error):
            completion?(task, .failure(error))
        }
    }

    /// Foundation on Linux sends no body after a redirect, but declares an empty one.
    private func checkBody(of request: URLRequest, _ chain: RedirectChain) throws {
        #if canImport(FoundationNetworking)
            guard chain.keepsBody, !["GET", "HEAD"].contains(chain.context.method) else { return }
            throw RedirectError(
                .bodyNotRepeatable, chain.referrer ?? chain.context.url,
                "redirects and requires the body again, which this platform's URLSession loses; use DecoratedURLSession"
            )
        #endif
    }
}

/// Keeps a session from following redirects: each is an answer.
final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
