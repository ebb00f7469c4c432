public import WebPrimitives

/// How a server failed to answer.
public enum ServerFailure: Sendable, Hashable {
    /// It answered with status 500, 502, 503 or 504.
    case error
    /// It could not be reached, or closed the connection.
    case unreachable
}

extension CachingPolicy {
    /// The answer that a stored response gives if the server fails (section 4.2.4; RFC 5861, section 4); `nil` if the failure
    /// has to be reported.
    ///
    /// - Parameters:
    ///   - response: The response that was chosen for the request.
    ///   - request: The client's request.
    ///   - now: The time of the failure.
    ///   - failure: How the server failed.
    public func staleAnswer(
        _ response: CachedResponse, to request: CacheRequest, now: Timestamp, _ failure: ServerFailure
    ) -> StoredAnswer? {
        let directives = response.directives
        let requested = request.directives
        let freshness = freshness(of: response, now: now)
        // A cache MUST NOT generate a stale response if it is prohibited by an explicit in-protocol directive (e.g., by a
        // no-cache response directive, a must-revalidate response directive).
        // Section 3.3: Nor may an incomplete response answer a request for more than its part.
        guard response.hasAll(for: request), !response.isInvalid, !directives.needsValidation,
            !directives.forbidsStale || freshness.isFresh
        else { return nil }
        // A cache MUST NOT generate a stale response unless it is disconnected or doing so is explicitly permitted by the
        // client or origin server or configuration in accordance with an out-of-band contract.
        // RFC 5861, section 4: When an error is encountered, a cached stale response MAY be used to satisfy the request,
        // regardless of other freshness information.
        // Section 5.2.2.8: proxy-revalidate is the same as must-revalidate, except that it does not apply to private caches.
        // Section 5.2.2.10: s-maxage incorporates its semantics.
        // Departure: where nothing but the policy permits a stale response, a private cache respects them, too. A server
        // that allows no proxy to hide its failure may mean this one.
        let staleness = -freshness.timeToLive
        let isPermitted =
            freshness.isFresh || directives.staleIfError.map { staleness <= $0 } ?? false
            || failure == .unreachable && servesStaleWhenDisconnected && !directives.forbidsStaleIfShared
        let isAllowed =
            requested.staleIfError.map { staleness <= $0 } ?? false || isPermitted && !refuses(requested, freshness)
        return isAllowed ? response.answer(to: request, age: freshness.age) : nil
    }

    /// Whether a client would rather see the failure than a response as old as this.
    private func refuses(_ request: RequestDirectives, _ freshness: Freshness) -> Bool {
        if request.needsValidation { return true }
        guard let limit = request.maximumAge else { return false }
        // Section 5.2.1.1: Unless the max-stale request directive is also present, the client does not wish to receive a
        // stale response.
        return limit == 0 || freshness.age > limit || !freshness.isFresh && request.allowedStaleness == .none
    }
}
