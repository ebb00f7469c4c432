public import CookieModel
public import HTTPTypes

/// Where a scheme handler gets the resources of pages from: a client that decorates requests, and has the jar's cache.
///
/// `DecoratedURLSession` conforms.
public protocol ResourceSource: Sendable {
    /// Requests a resource and follows its redirects. Cancelling the task cancels the request.
    ///
    /// - Parameters:
    ///   - request: The request, with the engine's own fields.
    ///   - context: The page that requests it.
    func resource(for request: HTTPRequest, in context: RequestContext) async throws -> ResourceResponse
}

/// The response to a request for a resource.
public struct ResourceResponse: Sendable {
    /// Pieces of a body.
    public typealias Pieces = AsyncThrowingStream<[UInt8], any Error>

    /// Status and fields. They describe the body as it is: without its transfer and content codings.
    public var head: HTTPResponse
    /// The URLs that were requested: the first one, and each that a redirect led to.
    package var urls: [RequestURL]
    /// The body.
    public var body: Pieces

    /// Creates a response.
    package init(_ head: HTTPResponse, from urls: [RequestURL], body: Pieces) {
        self.head = head
        self.urls = urls
        self.body = body
    }

    /// Creates a response whose body is there.
    ///
    /// - Parameter urls: The URLs that were requested: the first one, and each that a redirect led to. A page can read
    ///   only a response whose URLs are all of its own origin.
    public init(_ head: HTTPResponse, from urls: [RequestURL], body: [UInt8] = []) {
        self.init(
            head, from: urls,
            body: Pieces { pieces in
                if !body.isEmpty { pieces.yield(body) }
                pieces.finish()
            })
    }
}
