/// The decision how a request is answered (section 4).
public struct LookupDecision: Sendable, Hashable {
    /// What happens with the request.
    public enum Outcome: Sendable, Hashable {
        /// The stored response that was chosen answers it.
        case hit(StoredAnswer)
        /// That response answers it although it is stale, and a request with `fields` validates it afterwards.
        case hitThenValidate(StoredAnswer, fields: MessageFields)
        /// The request goes to the server with `fields`, which ask whether that response is still valid.
        case validate(fields: MessageFields)
        /// The request goes to the server with `fields`, which ask for the missing part of that response.
        ///
        /// ``CachingPolicy/validated(by:after:for:stored:)`` says what the response means.
        case complete(fields: MessageFields)
        /// The request goes to the server with `fields`.
        case forward(fields: MessageFields)
        /// Nothing stored can answer the request, and it may not be forwarded: status 504.
        case unavailable
    }

    /// The stored response that was chosen for a request.
    public struct Choice: Sendable, Hashable {
        /// Its index among the candidates.
        public let index: Int
        /// How fresh it is.
        public let freshness: Freshness
    }

    /// What happens with the request.
    public let outcome: Outcome
    /// The stored response that was chosen; `nil` if none may be used, whatever its age. If the server fails, it may still
    /// answer: ``CachingPolicy/staleAnswer(_:to:now:_:)``.
    public let choice: Choice?
    /// The rule that decides.
    package let rule: AppliedRule
    /// Why the request cannot be answered from the cache alone, or why the stored response that answers it is stale.
    public let reasons: [LookupReason]

    /// Why the request is forwarded, for Cache-Status; `nil` if it is not.
    package var forwarding: CacheStatus.Forwarding? {
        switch outcome {
        case .hit, .hitThenValidate, .unavailable: nil
        case .validate, .complete, .forward: reasons.first?.forwarding ?? .bypass
        }
    }
}

/// Why a stored response does not answer a request by itself.
public enum LookupReason: String, CaseIterable, Sendable {
    /// The method is neither GET nor HEAD.
    case method = "method"
    /// The request has If-Match or If-Unmodified-Since, which only a server can evaluate (section 4.3.2).
    case precondition = "precondition"
    /// A rule says that the server has to be asked.
    case rule = "rule"
    /// No stored response has this target URI.
    case notStored = "not-stored"
    /// The fields that Vary names have other values (section 4.1).
    case varyMismatch = "vary-mismatch"
    /// Not all that the request asks for is stored (section 3.3).
    case incomplete = "incomplete"
    /// A request has changed the resource (section 4.4), or a HEAD response differs (section 4.3.5).
    case invalidated = "invalidated"
    /// no-cache in the response (section 5.2.2.4).
    case responseNoCache = "response-no-cache"
    /// no-cache in the request (section 5.2.1.4).
    case requestNoCache = "request-no-cache"
    /// max-age in the request (section 5.2.1.1).
    case requestMaximumAge = "request-max-age"
    /// min-fresh in the request (section 5.2.1.3).
    case requestMinimumFreshness = "request-min-fresh"
    /// The response is stale (section 4.2).
    case stale = "stale"
    /// The response is stale and has must-revalidate (section 5.2.2.2).
    case mustRevalidate = "must-revalidate"

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .method: "only GET and HEAD requests are answered from the cache"
        case .precondition: "If-Match and If-Unmodified-Since are for the server"
        case .rule: "a rule sends the request to the server"
        case .notStored: "no response to this URL is stored"
        case .varyMismatch: "the stored responses answer requests with other values of the fields in Vary"
        case .incomplete: "the stored response is incomplete"
        case .invalidated: "the stored response was invalidated by another response"
        case .responseNoCache: "Cache-Control of the stored response has no-cache"
        case .requestNoCache: "Cache-Control of the request has no-cache"
        case .requestMaximumAge: "the stored response is older than max-age of the request allows"
        case .requestMinimumFreshness: "the stored response does not remain fresh for as long as min-fresh asks"
        case .stale: "the stored response is stale"
        case .mustRevalidate: "the stored response is stale and has must-revalidate"
        }
    }

    /// What RFC 9211, section 2.2, calls it.
    var forwarding: CacheStatus.Forwarding {
        switch self {
        case .method: .method
        case .rule: .bypass
        case .notStored: .uriMiss
        case .varyMismatch: .varyMiss
        case .incomplete: .partial
        case .precondition, .requestNoCache, .requestMaximumAge, .requestMinimumFreshness: .request
        case .invalidated, .responseNoCache, .stale, .mustRevalidate: .stale
        }
    }
}
