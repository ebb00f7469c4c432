/// The decision whether a response is stored (RFC 9111, section 3).
public enum StoringDecision: Sendable, Hashable {
    /// It is stored once ``CachedResponse/received(bodyLength:isComplete:)`` knows its body.
    case store(CachedResponse)
    /// It is not stored, for these reasons in their documented order.
    case reject([StoringObstacle])

    /// The response to store, if it is stored.
    public var response: CachedResponse? { if case .store(let response) = self { response } else { nil } }
    /// The reasons for which it is not stored.
    public var obstacles: [StoringObstacle] { if case .reject(let obstacles) = self { obstacles } else { [] } }
}

/// Why a response is not stored. Sections are those of RFC 9111.
public enum StoringObstacle: String, CaseIterable, Sendable {
    /// A rule of the user says so.
    case rule = "rule"
    /// The request method is not understood by the cache (section 3).
    case method = "method"
    /// The status code is not final (section 3).
    case statusNotFinal = "status-not-final"
    /// The status code is not understood, and must be (section 3).
    case statusNotUnderstood = "status-not-understood"
    /// no-store is present in the response (section 5.2.2.5).
    case responseNoStore = "response-no-store"
    /// no-store is present in the request (section 5.2.1.5).
    case requestNoStore = "request-no-store"
    /// Nothing in the response allows it to be stored (section 3).
    case notCacheable = "not-cacheable"
    /// Vary contains `*` (section 4.1), so that no request would match.
    case variesOnAll = "varies-on-all"
    /// It is a page in place of a static resource.
    case pageInPlace = "page-in-place"
    /// The status code answers a condition or range of the request.
    case answersCondition = "answers-condition"
    /// The response is partial, and its range is not one of octets (section 3.3).
    case rangeNotUnderstood = "range-not-understood"

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .rule: "a rule says that it is never stored"
        case .method: "only responses to GET are stored, and those to POST that are responses to GET as well"
        case .statusNotFinal: "it is an informational (1xx) response"
        case .statusNotUnderstood: "the cache does not understand the status code"
        case .responseNoStore: "Cache-Control has no-store"
        case .requestNoStore: "Cache-Control of the request has no-store"
        case .notCacheable: "it has no expiration time, and its status code needs one"
        case .variesOnAll: "Vary is *, so no request can match it"
        case .pageInPlace: "it is a page in place of a script, an image or another static resource"
        case .answersCondition: "it answers a condition or range of the request, which other requests do not have"
        case .rangeNotUnderstood: "it is partial, and Content-Range is not a range of octets"
        }
    }
}
