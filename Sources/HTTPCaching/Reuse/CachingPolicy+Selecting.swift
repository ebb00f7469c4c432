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

extension CachingPolicy {
    /// Chooses a stored response.
    ///
    /// Linear in the number of candidates, and of the field lines of each.
    func select(for request: CacheRequest, among stored: [CachedResponse]) -> Selection {
        // the presented target URI and that of the stored response match, and
        // the request method associated with the stored response allows it to be used for the presented request, and
        let targeted = stored.indices.filter { targets(request, stored[$0]) }
        guard !targeted.isEmpty else { return .none }
        // request header fields nominated by the stored response (if any) match those presented, and
        let matching = targeted.filter { stored[$0].nominated.match(request) }
        guard !matching.isEmpty else { return .varyMismatch }
        // Section 3.3: A cache MUST NOT use an incomplete response to answer requests unless the response has been made
        // complete, or the request is partial and specifies a range wholly within the incomplete response.
        let usable = matching.filter { isUsable(stored[$0], for: request) }
        // When more than one suitable response is stored, a cache MUST use the most recent one (as determined by the Date
        // header field).
        return usable.max { isLess(stored[$0], stored[$1]) }.map(Selection.chosen) ?? .incomplete
    }

    /// The stored responses that could have been chosen for a request (section 4.3.4).
    func choosable(for request: CacheRequest, among stored: [CachedResponse]) -> [Int] {
        stored.indices.filter { targets(request, stored[$0]) && stored[$0].nominated.match(request) }
    }

    /// Whether the target URI of a request is that of a stored response, or equivalent for it.
    private func targets(_ request: CacheRequest, _ response: CachedResponse) -> Bool {
        // No-Vary-Search, section 7: or are equivalent modulo URL variation config
        request.isAnswerable
            && (request.url == response.url
                || response.fields.has("no-vary-search")
                    && URLVariation(response.fields).areEquivalent(request.url, response.url))
    }

    /// Whether all that a request asks for is stored.
    func isUsable(_ response: CachedResponse, for request: CacheRequest) -> Bool {
        if response.extent.isWhole { return true }
        guard request.method == "GET", let range = ByteRange(request.fields) else { return false }
        // If-Range needs the whole if its condition is false.
        return response.contains(range) && response.allowsRange(of: request)
    }

    /// Section 4.1: If there are several, a cache SHOULD choose the most recent stored response with a valid Vary field.
    private func isLess(_ left: CachedResponse, _ right: CachedResponse) -> Bool {
        let hasVary = (left: !left.nominated.values.isEmpty, right: !right.nominated.values.isEmpty)
        if hasVary.left != hasVary.right { return hasVary.right }
        return (left.date, left.responseTime) < (right.date, right.responseTime)
    }
}
