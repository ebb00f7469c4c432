package import WebPrimitives

/// How old a stored response is, and how old it may become (section 4.2). In seconds.
public struct Freshness: Sendable, Hashable {
    /// Where the lifetime comes from.
    package enum Source: Sendable, Hashable {
        /// The directive max-age.
        case maximumAge
        /// The field Expires.
        case expires
        /// The time since the last modification.
        case heuristic
        /// There is no information, so that the lifetime is 0.
        case none
    }

    /// How long the response is fresh.
    public let lifetime: Int64
    /// Where the lifetime comes from.
    package let source: Source
    /// The current age.
    public let age: Int64

    /// response_is_fresh = (freshness_lifetime > current_age)
    public var isFresh: Bool { lifetime > age }
    /// How long the response remains fresh; negative if it has been stale for so long.
    package var timeToLive: Int64 { lifetime - age }
}

extension CachingPolicy {
    /// Calculates lifetime and age of a stored response.
    package func freshness(of response: CachedResponse, now: Timestamp) -> Freshness {
        let (lifetime, source) = lifetime(of: response)
        return Freshness(lifetime: lifetime, source: source, age: Self.age(of: response, now: now))
    }

    /// Calculates the freshness lifetime by evaluating the rules and using the first match (section 4.2.1).
    private func lifetime(of response: CachedResponse) -> (Int64, Freshness.Source) {
        // (The first rule, on s-maxage, is for shared caches.)
        // If the max-age response directive is present, use its value, or
        // If the Expires response header field is present, use its value minus the value of the Date response header
        // field (using the time the message was received if it is not present), or
        if let explicit = response.explicitLifetime { return explicit }
        // Otherwise, no explicit expiration time is present in the response. A heuristic freshness lifetime might be
        // applicable.
        return heuristicLifetime(of: response).map { ($0, .heuristic) } ?? (0, .none)
    }

    /// Calculates a heuristic freshness lifetime (section 4.2.2); `nil` if none is applicable.
    private func heuristicLifetime(of response: CachedResponse) -> Int64? {
        // Heuristics can only be used on responses without explicit freshness whose status codes are defined as
        // heuristically cacheable and on responses that have been marked as explicitly cacheable.
        let directives = response.directives
        guard Self.heuristicStatuses.contains(response.status) || directives.isPublic || directives.isPrivate,
            // Section 5.4: The meaning of Pragma in a response was never specified. Servers send it to prevent this.
            response.fields.has("cache-control") || !response.fields.has("pragma"),
            // If the response has a Last-Modified header field, caches are encouraged to use a heuristic expiration value
            // that is no more than some fraction of the interval since that time.
            let lastModified = response.lastModified
        else { return nil }
        let interval = max(0, response.date.seconds - lastModified.seconds)
        return min(interval * heuristicPercentage / 100, heuristicLimit)
    }

    /// Calculates the current age of a stored response (section 4.2.3).
    private static func age(of response: CachedResponse, now: Timestamp) -> Int64 {
        // age_value: the value of the Age header field, or 0, if not available.
        // Section 5.1: A cache SHOULD use the first member of the field value. If it is invalid, a cache SHOULD ignore the
        // field.
        let ageValue = FieldList.members(response.fields.values("age")).first.flatMap(DeltaSeconds.parse) ?? 0
        // apparent_age = max(0, response_time - date_value);
        let apparentAge = seconds(from: response.date, to: response.responseTime)
        // response_delay = response_time - request_time;
        let responseDelay = seconds(from: response.requestTime, to: response.responseTime)
        // corrected_age_value = age_value + response_delay;
        let correctedAge = ageValue + responseDelay
        // corrected_initial_age = max(apparent_age, corrected_age_value);
        let initialAge = max(apparentAge, correctedAge)
        // Departure: if the clock was set back since then, the time in between is unknown. So the response is stale, and
        // not for the moment that the difference of two clocks makes.
        if response.responseTime > now.advanced(bySeconds: clockTolerance) { return 2 * DeltaSeconds.limit }
        // resident_time = now - response_time;
        let residentTime = seconds(from: response.responseTime, to: now)
        // current_age = corrected_initial_age + resident_time;
        return min(initialAge + residentTime, 2 * DeltaSeconds.limit)
    }

    /// By how many seconds a clock may be set back without consequences.
    private static let clockTolerance: Int64 = 60

    /// Whole seconds between two times; 0 if a clock has gone back.
    private static func seconds(from earlier: Timestamp, to later: Timestamp) -> Int64 {
        min(max(0, (later - earlier).components.seconds), 2 * DeltaSeconds.limit)
    }
}

extension CachedResponse {
    /// The lifetime that the server gives; `nil` if it gives none.
    var explicitLifetime: (seconds: Int64, source: Freshness.Source)? {
        switch directives.maximumAge {
        case .value(let seconds): return (seconds, .maximumAge)
        // Caches are encouraged to consider responses that have invalid freshness information to be stale.
        case .invalid: return (0, .maximumAge)
        case .absent: break
        }
        guard fields.has("expires") else { return nil }
        // When there is more than one value present, either the first occurrence should be used or the response should
        // be considered stale.
        // Section 5.3: A cache recipient MUST interpret invalid date formats as representing a time in the past.
        let expires = HTTPDate.parse(fields, "expires", receivedAt: responseTime)
        let seconds = expires.map { $0.seconds - date.seconds } ?? 0
        return (min(max(0, seconds), DeltaSeconds.limit), .expires)
    }
}
