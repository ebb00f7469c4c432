import WebPrimitives

/// What becomes of the stored responses when a new one is stored.
package struct Replacement: Sendable, Hashable {
    /// The response to store. It needs a validation if an invalidation came while it was on its way.
    package let response: CachedResponse
    /// The indices of the stored responses that it supersedes, in order. They are removed.
    package let superseded: [Int]
}

extension CachingPolicy {
    /// Says which stored responses a new one supersedes: those that could have been chosen for its request, so that none
    /// of them hides it.
    ///
    /// Before they are removed, a part may make one of them whole: ``CachedResponse/combined(with:)``.
    ///
    /// - Parameters:
    ///   - new: The response to store.
    ///   - request: The request that it answered.
    ///   - stored: The responses to the same origin and path, as they are now.
    package func replacement(
        by new: CachedResponse, to request: CacheRequest, among stored: [CachedResponse]
    ) -> Replacement {
        var presented = PresentedRequest(request)
        let targeted = stored.indices.filter { presented.hasTarget(of: stored[$0]) }
        // Departure: section 4.4 is about what is stored already. A response that was requested before the invalidation
        // may be one of before the change, too.
        // NB: The response to an unsafe request has invalidated the others itself.
        var response = new
        if let invalidation = targeted.compactMap({ stored[$0].invalidatedAt }).max(),
            request.isSafe || invalidation > new.responseTime
        {
            response.inherit(invalidation)
        }
        let superseded = targeted.filter { index in presented.matches(stored[index]) || !stored[index].mayBeStored }
        return Replacement(response: response, superseded: superseded)
    }

    /// The stored responses that the response to a forwarded request shows to be out of date (section 4.3.3).
    func unsuitable(
        after response: OriginResponse, _ decision: LookupDecision, _ request: CacheRequest, _ stored: [CachedResponse]
    ) -> [Int] {
        // A full response indicates that none of the stored responses nominated in the conditional request are suitable.
        // NB: They are not either if the request had no condition, whether or not the response may be stored.
        // Departure: a page in place of a file shows nothing about the file, which pages that are open still need.
        guard request.isGet, (200...499).contains(response.status),
            !rules.isPageInPlace(response, of: request)
        else { return [] }
        switch response.status {
        case 304, 412, 417: return []
        // The server has not got as far as the resource.
        case 407, 408, 421, 425, 429: return []
        // The condition comes before the range (RFC 9110, section 13.2.2), so it was true.
        case 416 where !decision.outcome.isConditional: return []
        case 206:
            return choosable(for: request, among: stored).filter { index in
                !stored[index].sharesStrongValidator(with: response.fields, receivedAt: response.responseTime)
            }
        default: return choosable(for: request, among: stored)
        }
    }
}
