/// What the response to a forwarded request means (sections 3.3 and 4.3.3).
public enum ValidationOutcome: Sendable, Hashable {
    /// The stored response at `chosen` answers the request with `answer`.
    ///
    /// The stored responses at the indices of `updates` are replaced by updated ones, and those at `removed` are removed.
    case freshened(chosen: Int, answer: StoredAnswer, updates: [Int: CachedResponse], removed: [Int])
    /// The response answers the request, and is stored if it may be. The stored responses at `unsuitable` are removed,
    /// whether or not it is stored.
    case replaced(unsuitable: [Int])
    /// The server is regarded as failed, and the stored response answers the request.
    case stale(StoredAnswer)
    /// The response is the part that is missing in the stored response that was chosen. `answer` has the octets of both.
    ///
    /// Once ``CachedResponse/received(bodyLength:isComplete:)`` knows the body of `part`, a store that keeps incomplete
    /// responses combines the two. If the body breaks off, the answer does, too.
    case completed(part: CachedResponse, answer: StoredAnswer)
    /// The response is of no use to the client. The request has to be sent again as the client sent it, with
    /// ``LookupDecision/repeated(_:)``.
    case repeated
}

extension LookupDecision {
    /// The decision to send a request again as the client sent it.
    ///
    /// No stored response takes part. So the outcome of its response is ``ValidationOutcome/replaced(unsuitable:)``.
    public func repeated(_ request: CacheRequest) -> LookupDecision {
        LookupDecision(outcome: .forward(fields: request.fields), choice: nil, rule: rule, reasons: reasons)
    }
}

extension LookupDecision.Outcome {
    /// Whether the request has the cache's own conditions.
    var isConditional: Bool {
        switch self {
        case .validate, .hitThenValidate: true
        case .hit, .complete, .forward, .unavailable: false
        }
    }
}
