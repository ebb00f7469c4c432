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
    /// The body.
    public var body: Pieces

    /// Creates a response.
    public init(_ head: HTTPResponse, body: Pieces) {
        self.head = head
        self.body = body
    }

    /// Creates a response whose body is there.
    public init(_ head: HTTPResponse, body: [UInt8] = []) {
        self.init(
            head,
            body: Pieces { pieces in
                if !body.isEmpty { pieces.yield(body) }
                pieces.finish()
            })
    }
}
