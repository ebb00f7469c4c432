public import CookieModel
package import HTTPCaching
package import ResponseStore

/// An HTTP client whose requests a jar's cache answers: what differs between clients.
package protocol CachingClient: Sendable {
    associatedtype Request: DecoratableRequest
    associatedtype Response: Sendable

    /// Sends a request, without following redirects and without a cache of the client's own.
    ///
    /// - Throws: The client's error, in a ``BrokenResponse`` with all fields if the head of a response was received.
    func send(_ request: Request) async throws -> Response
    /// Why there is no response, if a stored one may take its place.
    func failure(_ error: any Error) -> CacheExchange.Failure?
    /// Whether a request has a body.
    func hasBody(_ request: Request) -> Bool
    /// All fields of a request.
    func fields(of request: Request) -> MessageFields
    /// A request with other fields.
    func replacing(_ request: Request, fields: MessageFields) -> Request
    /// What the cache reads of a response.
    func received(_ response: Response) -> ReceivedHead
    /// The stored response for the caller.
    func response(_ answer: CacheExchange.Answer, to request: Request, status: Octets) async throws -> Response
    /// The server's response for the caller. Its body is stored while it is read.
    ///
    /// - Parameters:
    ///   - beginning: The stored beginning, which takes the place of its head and comes before its body.
    ///   - now: Returns the current time, for the end of the body.
    func passed(
        _ response: Response, after beginning: CacheExchange.Answer?, in exchange: CacheExchange,
        now: @escaping @Sendable () -> Timestamp
    ) async throws -> Response
    /// Stores the body of a response that no caller waits for.
    func store(_ response: Response, in exchange: CacheExchange, now: @Sendable () -> Timestamp) async
    /// Ends a response whose body is of no use.
    func discard(_ response: Response) async
}

extension CachingClient {
    /// How many bytes are read of a body that no caller gets, so that the connection can be used again. A longer body is
    /// not worth it.
    package static var discardedByteCount: Int { 1 << 16 }
}

/// The head of a server's response, as far as the cache and the cookie rules read it.
package struct ReceivedHead: Sendable {
    /// The part for cookie rules and redirects.
    package var head: ResponseHead
    /// All fields, without codings that the client has removed from the body.
    package var fields: MessageFields
    /// The length of the body that the head gives; `nil` if it gives none.
    package var bodyLength: Int64?
    /// Whether the end of the body shows that it is complete.
    package var mayStore: Bool

    /// A head from its parts.
    package init(_ head: ResponseHead, fields: MessageFields, bodyLength: Int64?, mayStore: Bool) {
        self.head = head
        self.fields = fields
        self.bodyLength = bodyLength
        self.mayStore = mayStore
    }
}

/// The response of a request that must not be sent, and that nothing stored answers.
public struct NotStoredError: DescribedError, Hashable, Sendable {
    /// The stable identifier.
    package let code = "response-not-stored"
    /// The URL of the request, without its query.
    public let url: String

    init(_ url: RequestURL) {
        self.url = url.withoutQuery.description
    }

    /// One sentence that names the reason.
    public var description: String {
        "nothing in the cache answers the request for \(url), and its cache policy, only-if-cached or a rule forbids to send it"
    }
}
