import WebPrimitives

extension CachingPolicy {
    /// Handles the response to a request that was forwarded by a decision (section 4.3.3).
    ///
    /// - Parameters:
    ///   - response: The final response.
    ///   - decision: The decision.
    ///   - request: The client's request.
    ///   - stored: The candidates of the decision as they are now: one may have been invalidated in the meantime.
    public func validated(
        by response: OriginResponse, after decision: LookupDecision, for request: CacheRequest, stored: [CachedResponse]
    ) -> ValidationOutcome {
        let unsuitable = unsuitable(after: response, decision, request, stored)
        guard let index = decision.choice?.index else { return .replaced(unsuitable: unsuitable) }
        if case .complete = decision.outcome,
            let outcome = completion(of: stored[index], at: index, by: response, for: request)
        {
            return outcome
        }
        // A 304 (Not Modified) response status code indicates that the stored response can be updated and reused.
        // NB: After a request without the cache's own conditions, it answers the client's.
        if response.status == 304, decision.outcome.isConditional {
            return freshened(by: response, for: request, among: stored, chosen: index)
        }
        // However, if a cache receives a 5xx (Server Error) response while attempting to validate a response, it can
        // either forward this response to the requesting client or act as if the server failed to respond.
        if Self.errorStatuses.contains(response.status),
            let answer = staleAnswer(stored[index], to: request, now: response.responseTime, .error)
        {
            return .stale(answer)
        }
        // A full response indicates that none of the stored responses nominated in the conditional request are suitable.
        // Instead, the cache MUST use the full response to satisfy the request.
        return .replaced(unsuitable: unsuitable)
    }

    /// RFC 5861, section 4: An error is any situation that would result in a 500, 502, 503, or 504 HTTP response status code.
    private static let errorStatuses: Set<Int> = [500, 502, 503, 504]

    private func freshened(
        by response: OriginResponse, for request: CacheRequest, among stored: [CachedResponse], chosen index: Int
    ) -> ValidationOutcome {
        let identified = identified(by: response, for: request, among: stored, chosen: index)
        let usable = identified.filter { stored[$0].hasAll(for: request) }
        guard let chosen = usable.contains(index) ? index : mostRecent(usable, of: stored) else { return .repeated }
        func updated(_ index: Int) -> CachedResponse {
            stored[index].updated(
                with: response.fields, response.requestTime, response.responseTime, for: request)
        }
        guard let answer = updated(chosen).answer(to: request, age: nil) else { return .repeated }
        var updates: [Int: CachedResponse] = [:]
        var removed: [Int] = []
        // Section 5.2.1.5: A cache MUST NOT store any part of a response to a request with no-store.
        for index in identified where !request.directives.forbidsStoring {
            let updated = updated(index)
            // Section 5.2.2.5: A cache MUST NOT use a response with no-store to satisfy any other request.
            if updated.mayBeStored { updates[index] = updated } else { removed.append(index) }
        }
        return .freshened(chosen: chosen, answer: answer, updates: updates, removed: removed)
    }

    /// The stored responses that a 304 response identifies for update (section 4.3.4).
    private func identified(
        by response: OriginResponse, for request: CacheRequest, among stored: [CachedResponse], chosen: Int
    ) -> [Int] {
        // The initial set of stored responses to update are those that could have been chosen for that request.
        let initial = choosable(for: request, among: stored)
        let tag = response.fields.onlyValue("etag").flatMap(EntityTag.init)
        let modified = HTTPDate.parse(response.fields, "last-modified", receivedAt: response.responseTime)
        // If the new response contains one or more strong validators, all the stored responses in the initial set with one
        // of those same strong validators are identified for update. If none of the initial set contains at least one of
        // the same strong validators, then the cache MUST NOT use the new response to update any stored responses.
        if let tag, !tag.isWeak {
            return initial.filter { stored[$0].entityTag.map(tag.stronglyMatches) ?? false }
        }
        // If the new response contains no strong validators but does contain one or more weak validators, and those
        // validators correspond to one of the initial set's stored responses, then the most recent of those matching stored
        // responses is identified for update. (Last-Modified is taken for weak here.)
        // Departure: if it matches, it is the one whose validators were sent, which was the most recent one that the
        // request could use. A part has no validator that is sent, so it is never identified.
        if tag != nil || modified != nil {
            let matching = initial.filter { index in
                stored[index].extent.isWhole
                    && (tag.map { tag in stored[index].entityTag.map(tag.weaklyMatches) ?? false }
                        ?? (modified == stored[index].lastModified))
            }
            return matching.contains(chosen) ? [chosen] : mostRecent(matching, of: stored).map { [$0] } ?? []
        }
        // If the new response does not include any form of validator, and there is only one stored response in the initial
        // set, and that stored response also lacks a validator, then that stored response is identified for update.
        // Departure: it is also if it has one. The request had only the validators of that response, and servers leave
        // them out of a 304 although RFC 9110, section 15.4.5, requires them.
        return [chosen]
    }

    /// Updates or invalidates stored responses by the answer to a HEAD request (section 4.3.5).
    ///
    /// - Returns: The changed responses by their indices.
    package func freshened(
        byHead response: OriginResponse, to request: CacheRequest, among stored: [CachedResponse]
    ) -> [Int: CachedResponse] {
        // When a cache makes an inbound HEAD request for a target URI and receives a 200 (OK) response, the cache SHOULD
        // update or invalidate each of its stored GET responses that could have been chosen for that request.
        guard request.method == "HEAD", response.status == 200 else { return [:] }
        return choosable(for: request, among: stored).reduce(into: [:]) { updates, index in
            guard stored[index].status == 200 else { return }
            updates[index] = stored[index].freshened(byHead: response, to: request)
        }
    }
}
