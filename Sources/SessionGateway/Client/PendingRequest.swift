import HTTPMessages
import ResponseStore
import WebPrimitives

/// A request in progress, with the state for sending it once more.
struct PendingRequest {
    var request: ForwardedRequest
    var decision: GatewayDecision
    /// The login for the request; `nil` if no login rule applies.
    var login: RequestLogin?
    /// The body of the request, kept for sending it again; `nil` if it has no body, or is sent only once.
    var body: BodySpool?
    /// The Set-Cookie lines of responses that the client does not get, because the request was sent once more.
    var withheld: [Octets] = []
    /// The Clear-Site-Data fields of these responses.
    var clearing: [Octets] = []
    /// Whether the cookies of the response are older than a login: they are neither stored nor passed on.
    var isOutdated = false
    /// The entry of the recording; `nil` if nothing is recorded.
    var entry: RecordedExchange?
    /// The part that the cache takes in it; `nil` for none.
    var cached: CacheExchange?
    /// The Cache-Status field of the source that answers it, if that is not the cache.
    var sourceStatus: Octets?

    /// How much of a body is kept in case a server refuses the stream: as much as the gateway can send before that.
    private static let refusedBodyLimit = 1 << 16

    init(_ request: ForwardedRequest, _ decision: GatewayDecision, _ login: RequestLogin?) {
        self.request = request
        self.decision = decision
        self.login = login
        body = login?.body
        if body == nil, request.framing != .none, request.destination.isEncrypted {
            body = BodySpool(BodySpool.Budget(limit: PendingRequest.refusedBodyLimit))
        }
    }

    /// Keeps the cookies of a response that the client does not get, for the response that it gets.
    mutating func withhold(_ response: ForwardedResponse) {
        withheld += response.setCookie
        clearing += response.head.values("clear-site-data")
    }

    /// The Cache-Status field for the client (RFC 9211); `nil` for none.
    var statusField: Octets? { sourceStatus ?? cached?.statusField }

    /// Whether the whole request can be sent once more.
    var isComplete: Bool {
        get async { if let body { await !body.isIncomplete } else { request.framing == .none } }
    }
}

/// The connection has ended, or failed, before a response has begun.
struct UnansweredError: Error {
    let cause: any Error
    /// Whether no other response has arrived before.
    var isFirst = true

    /// Whether the server has certainly not answered, and was not only slow.
    var mayBeRepeated: Bool {
        if case StreamError.timedOut? = cause as? StreamError { false } else { isFirst }
    }

    /// The server's statement that it has not processed the request; `nil` if it has made none.
    var refusal: StreamRefusal? { cause as? StreamRefusal }

    /// Whether nothing shows that the request has reached the server's system.
    var isUnacknowledged: Bool {
        if case StreamError.unacknowledged? = cause as? StreamError { true } else { false }
    }

    func failure(_ server: String) -> GatewayFailure {
        if isUnacknowledged { return .unreachable(server) }
        if case StreamError.timedOut? = cause as? StreamError {
            return GatewayFailure(
                .connectionReadTimeout, 504, "\(server) does not answer in time", nextStep: "Try again later.")
        }
        if refusal != nil, isFirst {
            return GatewayFailure(
                .connectionTerminated, 502, "\(server) refuses the request without processing it",
                nextStep: "Try again later; nothing has happened.")
        }
        return GatewayFailure(
            .connectionTerminated, 502, "\(server) closes the connection without an answer",
            nextStep: "Try again; if it happens each time, report it to the people who run the server.")
    }
}
