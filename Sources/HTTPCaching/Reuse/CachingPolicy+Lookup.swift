public import WebPrimitives

extension CachingPolicy {
    /// Decides how a request is answered (section 4).
    ///
    /// Linear in the number of candidates, which the store has to bound.
    ///
    /// - Parameters:
    ///   - request: The request, with all that the client or the jar adds to it.
    ///   - stored: The candidates, in any order.
    ///   - now: The current time.
    ///   - isOffline: Whether no request may be forwarded.
    ///   - requestPolicy: What the client wants for this request.
    public func lookup(
        _ request: CacheRequest, among stored: [CachedResponse], now: Timestamp, isOffline: Bool = false,
        requestPolicy: RequestCachePolicy = .useProtocolCachePolicy
    ) -> LookupDecision {
        let selection = select(for: request, among: stored)
        let chosen: Int? = if case .chosen(let index) = selection { index } else { nil }
        let rule = rules.rule(
            for: request, stored: chosen.map { stored[$0] }, isOffline: isOffline, requestPolicy: requestPolicy)
        // A cache MUST write through requests with methods that are unsafe to the origin server. Of the safe ones, only
        // GET and HEAD are understood.
        guard request.isAnswerable else { return missed(request, rule, .method) }
        // Section 4.3.2: A cache MUST NOT evaluate conditional header fields that only apply to an origin server.
        // NB: If nothing may be sent, they are ignored, which RFC 9110, section 13.1.1, allows a cache.
        if request.fields.has("if-match") || request.fields.has("if-unmodified-since"), rule.treatment != .storedOnly {
            return missed(request, rule, .precondition)
        }
        switch selection {
        case .none: return missed(request, rule, .notStored)
        case .varyMismatch: return missed(request, rule, .varyMismatch)
        case .incomplete:
            return completing(request, among: stored, rule, now: now) ?? missed(request, rule, .incomplete)
        case .chosen(let index):
            let choice = LookupDecision.Choice(index: index, freshness: freshness(of: stored[index], now: now))
            return reused(stored[index], choice, for: request, rule)
        }
    }

    /// The decision on a request for which a stored response was chosen.
    private func reused(
        _ response: CachedResponse, _ choice: LookupDecision.Choice, for request: CacheRequest, _ rule: AppliedRule
    ) -> LookupDecision {
        let freshness = choice.freshness
        let directives = request.directives
        var reasons: [LookupReason]
        switch rule.treatment {
        case .neverStore, .reload: return missed(request, rule, .rule)
        case .storedOnly: reasons = []
        case .keep:
            reasons = response.isInvalid ? [.invalidated] : []
            if directives.needsValidation { reasons.append(.requestNoCache) }
        case .validate: reasons = [.rule] + obstacles(to: response, directives, freshness)
        case .staleThenValidate, .protocol: reasons = obstacles(to: response, directives, freshness)
        }
        func decision(_ outcome: LookupDecision.Outcome) -> LookupDecision {
            LookupDecision(outcome: outcome, choice: choice, rule: rule, reasons: reasons)
        }
        guard let answer = response.answer(to: request, age: freshness.age) else {
            return missed(request, rule, .incomplete)
        }
        if reasons.isEmpty { return decision(.hit(answer)) }
        if reasons == [.stale] {
            // RFC 5861, section 3: Caches MAY serve the response after it becomes stale, up to the indicated number of
            // seconds. They SHOULD attempt to revalidate it while still serving stale responses.
            // Section 5.2.1.1: With max-age, the client does not wish to receive a stale response.
            // Departure: a rule permits it for a while, too.
            let limit = response.directives.staleWhileRevalidating ?? -1
            let ruleLimit = rule.treatment == .staleThenValidate ? staleLimit : -1
            if -freshness.timeToLive <= max(limit, ruleLimit), directives.maximumAge == nil {
                let fields = response.validationFields(for: request, isForClient: false)
                return decision(.hitThenValidate(answer, fields: fields))
            }
        }
        // Section 5.2.1.7: Respond with either a stored response consistent with the other constraints of the request or a
        // 504 (Gateway Timeout) status code.
        if directives.forbidsForwarding { return decision(.unavailable) }
        guard response.hasValidator else { return decision(.forward(fields: request.fields)) }
        let fields = response.validationFields(for: request, isForClient: true)
        return decision(.validate(fields: fields))
    }

    /// The reasons by which the protocol forbids to answer a request with a stored response that matches it.
    private func obstacles(
        to response: CachedResponse, _ request: RequestDirectives, _ freshness: Freshness
    ) -> [LookupReason] {
        var reasons: [LookupReason] = []
        let directives = response.directives
        if response.isInvalid { reasons.append(.invalidated) }
        // the stored response does not contain the no-cache directive, unless it is successfully validated, and
        if directives.needsValidation { reasons.append(.responseNoCache) }
        // Section 5.2.1.4: The client prefers a stored response not be used without successful validation.
        if request.needsValidation { reasons.append(.requestNoCache) }
        // Section 5.2.1.1: The client prefers a response whose age is less than or equal to the specified number of
        // seconds.
        // NB: Browsers send max-age=0 when a user reloads the page. It asks for a validation within the same second, too.
        // RFC 8246, section 2: Clients SHOULD NOT issue a conditional request during the response's freshness lifetime
        // (e.g., upon a reload).
        if let limit = request.maximumAge, freshness.age > limit || limit == 0,
            !(limit == 0 && directives.isImmutable && freshness.isFresh)
        {
            reasons.append(.requestMaximumAge)
        }
        // Section 5.2.1.3: The client wants a response that will still be fresh for at least the specified number of
        // seconds.
        if let minimum = request.minimumFreshness, freshness.timeToLive < minimum {
            reasons.append(.requestMinimumFreshness)
        }
        // the stored response is fresh, or allowed to be served stale.
        if !freshness.isFresh, !allowsStale(request.allowedStaleness, freshness) || directives.forbidsStale {
            reasons.append(directives.forbidsStale ? .mustRevalidate : .stale)
        }
        return reasons
    }

    /// Whether a client accepts a response as stale as this (section 5.2.1.2).
    private func allowsStale(_ staleness: RequestDirectives.Staleness, _ freshness: Freshness) -> Bool {
        switch staleness {
        case .none: false
        case .seconds(let limit): -freshness.timeToLive <= limit
        case .any: true
        }
    }

    /// The decision on a request that no stored response answers.
    private func missed(_ request: CacheRequest, _ rule: AppliedRule, _ reason: LookupReason) -> LookupDecision {
        var fields = request.fields
        var outcome = LookupDecision.Outcome.forward(fields: fields)
        if rule.treatment == .storedOnly || request.directives.forbidsForwarding && request.isAnswerable {
            outcome = .unavailable
        } else if rule.treatment == .reload(endToEnd: true) {
            // Section 5.2.1.4: The caches between here and the server have to ask it, too.
            fields.append("Cache-Control", "no-cache")
            fields.append("Pragma", "no-cache")
            outcome = .forward(fields: fields)
        }
        return LookupDecision(outcome: outcome, choice: nil, rule: rule, reasons: [reason])
    }
}
