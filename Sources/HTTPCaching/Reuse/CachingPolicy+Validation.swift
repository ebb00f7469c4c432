import WebPrimitives

/// What the response to a validation request means (section 4.3.3).
public enum ValidationOutcome: Sendable, Hashable {
    /// The stored responses with these indices are replaced by updated ones. The one at `chosen` answers the request.
    case freshened(chosen: Int, updates: [Int: CachedResponse])
    /// The response answers the request, and is stored if it may be.
    case replaced
    /// The server is regarded as failed, and the stored response answers the request.
    case stale(StoredAnswer)
    /// The response says that a representation is unchanged that is not stored. The request has to be sent again, with the
    /// client's own conditions only.
    case repeated
}

extension LookupDecision.Outcome {
    /// Whether the request has the cache's own conditions.
    fileprivate var isConditional: Bool {
        switch self {
        case .validate, .hitThenValidate: true
        case .hit, .complete, .forward, .unavailable: false
        }
    }
}

extension CachedResponse {
    /// Whether a server can be asked if the response is still valid.
    var hasValidator: Bool { extent.isWhole && (entityTag != nil || lastModified != nil) }
}

extension CachingPolicy {
    /// The fields of a request that asks whether a stored response is still valid (section 4.3.1).
    ///
    /// - Parameter isForClient: Whether a client waits for the answer. Otherwise the whole representation is asked for.
    func validationFields(
        of response: CachedResponse, for request: CacheRequest, isForClient: Bool
    ) -> MessageFields {
        // A cache starts with a request it is attempting to satisfy. It then updates that request with one or more
        // precondition header fields.
        // NB: The client's own conditions are evaluated when the answer is there. A cache MAY send a union of the lists in
        // If-None-Match (section 4.3.2). Then a 304 without an ETag would leave open which representation it means.
        var fields = request.fields
        fields.remove("if-none-match")
        fields.remove("if-modified-since")
        if !isForClient {
            fields.remove("range")
            fields.remove("if-range")
        }
        // A cache MUST send the relevant entity tags if the entity tags were provided in the stored response being validated.
        if response.entityTag != nil, let tag = response.fields.onlyValue("etag") {
            fields.append("If-None-Match", tag)
        }
        // It SHOULD send the Last-Modified value (using If-Modified-Since) if the request is not for a subrange, a single
        // stored response is being validated, and that response contains a Last-Modified value.
        if response.lastModified != nil, let date = response.fields.onlyValue("last-modified") {
            fields.append("If-Modified-Since", date)
        }
        return fields
    }

    /// Handles the response to a request that was forwarded by a decision (section 4.3.3).
    ///
    /// - Parameters:
    ///   - response: The final response.
    ///   - decision: The decision.
    ///   - request: The client's request.
    ///   - stored: The candidates of the decision.
    public func validated(
        by response: OriginResponse, after decision: LookupDecision, for request: CacheRequest, stored: [CachedResponse]
    ) -> ValidationOutcome {
        guard let index = decision.choice?.index else { return .replaced }
        // A 304 (Not Modified) response status code indicates that the stored response can be updated and reused.
        // NB: After a request without the cache's own conditions, it answers the client's.
        if response.status == 304, decision.outcome.isConditional {
            let identified = identified(by: response, for: request, among: stored, chosen: index)
            guard let chosen = identified.contains(index) ? index : identified.first else { return .repeated }
            let updates = identified.map { index in
                (
                    index,
                    stored[index].updated(
                        with: response.fields, response.requestTime, response.responseTime, for: request)
                )
            }
            return .freshened(chosen: chosen, updates: Dictionary(uniqueKeysWithValues: updates))
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
        return .replaced
    }

    /// RFC 5861, section 4: An error is any situation that would result in a 500, 502, 503, or 504 HTTP response status code.
    private static let errorStatuses: Set<Int> = [500, 502, 503, 504]

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
        if tag != nil || modified != nil {
            let matching = initial.filter { index in
                tag.map { tag in stored[index].entityTag.map(tag.weaklyMatches) ?? false }
                    ?? (modified == stored[index].lastModified)
            }
            return matching.max { stored[$0].date < stored[$1].date }.map { [$0] } ?? []
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
    public func freshened(
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
