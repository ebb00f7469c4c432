import WebPrimitives

/// The stored response that is chosen for a request (sections 4 and 4.1), regardless of its freshness.
enum Selection: Sendable, Hashable {
    /// No stored response has the target URI.
    case none
    /// One has, but its request had other values of the fields that Vary names.
    case varyMismatch
    /// One matches, but not all of what the request asks for is stored.
    case incomplete
    /// The stored response with this index.
    case chosen(Int)
}

/// A request, whose query and fields are read once for all stored responses.
struct PresentedRequest {
    private var target: URLVariation.Target
    private var fields: PresentedFields

    init(_ request: CacheRequest) {
        target = URLVariation.Target(request.url)
        fields = PresentedFields(request.fields)
    }

    /// Whether the target URI is that of a stored response, or equivalent for it.
    mutating func hasTarget(of response: CachedResponse) -> Bool {
        // No-Vary-Search, section 7: or are equivalent modulo URL variation config
        response.answers(&target)
    }

    /// Whether the fields that the stored response's Vary names have the same values.
    mutating func hasNominatedFields(of response: CachedResponse) -> Bool { response.nominated.match(&fields) }

    /// Whether a stored response could be chosen for a GET request.
    mutating func matches(_ response: CachedResponse) -> Bool {
        hasTarget(of: response) && hasNominatedFields(of: response) && response.mayBeStored
    }
}

extension CachingPolicy {
    /// Chooses a stored response.
    ///
    /// Linear in the number of candidates, and of the field lines of each.
    func select(for request: CacheRequest, among stored: [CachedResponse]) -> Selection {
        guard request.isAnswerable, !stored.isEmpty else { return .none }
        var presented = PresentedRequest(request)
        // the presented target URI and that of the stored response match, and
        // the request method associated with the stored response allows it to be used for the presented request, and
        let targeted = stored.indices.filter { presented.hasTarget(of: stored[$0]) && stored[$0].mayBeStored }
        guard !targeted.isEmpty else { return .none }
        // request header fields nominated by the stored response (if any) match those presented, and
        let matching = targeted.filter { presented.hasNominatedFields(of: stored[$0]) }
        guard !matching.isEmpty else { return .varyMismatch }
        // Section 3.3: A cache MUST NOT use an incomplete response to answer requests unless the response has been made
        // complete, or the request is partial and specifies a range wholly within the incomplete response.
        let usable = matching.filter { stored[$0].hasAll(for: request) }
        // When more than one suitable response is stored, a cache MUST use the most recent one (as determined by the Date
        // header field).
        return mostRecent(usable, of: stored).map(Selection.chosen) ?? .incomplete
    }

    /// The stored responses that could have been chosen for a request (section 4.3.4).
    func choosable(for request: CacheRequest, among stored: [CachedResponse]) -> [Int] {
        guard request.isAnswerable, !stored.isEmpty else { return [] }
        var presented = PresentedRequest(request)
        return stored.indices.filter { presented.matches(stored[$0]) }
    }

    /// Section 4.1: If there are several, a cache SHOULD choose the most recent stored response with a valid Vary field.
    func mostRecent(_ indices: [Int], of stored: [CachedResponse]) -> Int? {
        indices.max { left, right in
            let (left, right) = (stored[left], stored[right])
            let hasVary = (left: !left.nominated.values.isEmpty, right: !right.nominated.values.isEmpty)
            if hasVary.left != hasVary.right { return hasVary.right }
            return (left.date, left.responseTime) < (right.date, right.responseTime)
        }
    }
}

extension CachedResponse {
    /// Whether the response answers for a URL: for its own, and for those that are equivalent by No-Vary-Search.
    func answers(_ target: inout URLVariation.Target) -> Bool {
        target.url == url || fields.has("no-vary-search") && URLVariation(fields).areEquivalent(&target, url)
    }

    /// Whether all that a request asks for is stored.
    func hasAll(for request: CacheRequest) -> Bool {
        if extent.isWhole { return true }
        guard request.isGet, let range = ByteRange(request.fields) else { return false }
        // If-Range needs the whole if its condition is false.
        return contains(range) && allowsRange(of: request)
    }
}
