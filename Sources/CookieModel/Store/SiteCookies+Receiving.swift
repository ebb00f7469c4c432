import WebPrimitives

/// The end of the storage model (section 5.7 of the draft): compares a received cookie with the stored ones.
extension SiteCookies {
    /// Decides on a cookie and stores it: steps 16, 23 and 24, and the removal of excess cookies.
    ///
    /// - Parameters:
    ///   - candidate: the cookie as it would be stored; it takes over the properties that it keeps from the one that it
    ///     replaces.
    ///   - findings: the reasons against it so far.
    ///   - overlaysElsewhere: whether step 16 finds a cookie of another registrable domain.
    ///   - sequence: the next place in the order of creation; taken if the cookie is new.
    ///   - total: the number of cookies in the store, kept up to date.
    ///   - now: the current time. Expired cookies are removed; a cookie from an old capture may have expired since it
    ///     was received.
    mutating func receive(
        _ candidate: inout Cookie, _ findings: CandidateFindings, overlaysElsewhere: Bool,
        sequence: inout Int64, total: inout Int, limits: borrowing CookieLimits, now: Timestamp
    ) -> Reception {
        let countBefore = count
        defer { total += count - countBefore }
        // Expired cookies leave the store at any time.
        removeExpired(at: now)
        var reasons = findings.reasons
        candidate.sequence = sequence
        var record = CookieRecordHeader(candidate)
        let entry = CookieEntry(candidate, record)
        // Step 23.1: Find the stored cookie with the same name, domain, host-only-flag, path and (CHIPS) partition.
        let place = index(of: candidate, entry)
        let previous = place.map { index in withCookie(at: index) { $0.header } }
        // Step 16: Ignore the cookie if it would overlay a Secure one from an insecure connection.
        if findings.mayOverlaySecureCookies,
            overlaysElsewhere || containsSecureCookie(overlaidBy: candidate, now: now)
        {
            reasons.insert(.overwriteSecure)
        }
        // Step 23.2: Ignore a cookie that a script sets in place of an HttpOnly one.
        if findings.isFromScript, let previous, previous.attributes[.httpOnly] { reasons.insert(.overwriteHTTPOnly) }
        guard reasons.isEmpty else { return Reception(outcome: .rejected, reasons: reasons) }
        // A cookie that has expired takes the old one out of the store and does not stay itself.
        let isExpired = record.expiry.map { $0 < now } ?? false
        guard let place, let previous else {
            guard !isExpired else {
                return Reception(
                    outcome: .deleted, superseded: removeAssumed(coveredBy: candidate, until: candidate.creation))
            }
            // First, so that they push out no cookie.
            let superseded = removeAssumed(coveredBy: candidate, until: nil)
            sequence += 1
            // Step 24: Insert the cookie.
            insert(candidate, record, entry)
            let evicted = isOver(limits, record) ? removeExcess(candidate.id.partitionKey, limits) : []
            return Reception(outcome: .stored, superseded: superseded, evicted: evicted)
        }
        let old = cookie(at: place)
        guard !isExpired else {
            let received = candidate.creation
            // A deletion does not remove a cookie that a later request carried.
            if candidate.request == nil, let request = old.request, request.time > received {
                return Reception(outcome: .deleted)
            }
            remove(at: place)
            return Reception(
                outcome: .deleted, previous: [old], superseded: removeAssumed(coveredBy: candidate, until: received))
        }
        // Step 23.3: Take over the creation-time of the old cookie. The order of a header depends on values that do not
        // change, so the entry keeps its place.
        candidate.creation = previous.creation
        candidate.sequence = previous.sequence
        record = CookieRecordHeader(candidate)
        // Steps 23.4 and 24: Remove the old cookie and insert the new one.
        replace(place, with: candidate, record)
        let superseded = removeAssumed(coveredBy: candidate, until: nil)
        let evicted = record.isPartitioned ? removeExcess(candidate.id.partitionKey, limits) : []
        return Reception(outcome: .replaced, previous: [old], superseded: superseded, evicted: evicted)
    }

    /// Removes the cookies known only from requests that a cookie set or deleted by a response replaces: those of its
    /// name, for a host that it covers, from a request that would have carried it.
    ///
    /// - Parameter time: for a deletion, when it was received. Cookies of later requests are kept.
    /// - Returns: the IDs of the cookies removed.
    private mutating func removeAssumed(coveredBy cookie: borrowing Cookie, until time: Timestamp?) -> [Cookie.ID] {
        guard requestCount > 0, cookie.request == nil, cookie.id.partitionKey == nil else { return [] }
        let set = copy cookie
        let covered = cookiesOfRequests(named: cookie.name).filter { told in
            guard told.isAssumed, let request = told.request, time.map({ request.time <= $0 }) ?? true else {
                return false
            }
            return
                (set.isHostOnly
                ? told.domain == set.domain : CookiePolicy.domainMatches(told.domain, set.domain.octets))
                && CookiePolicy.pathMatches(request.path, set.path)
        }
        guard !covered.isEmpty else { return [] }
        let ids = Set(covered.map(\.id))
        remove { cookie in cookie.header.isOfRequest && ids.contains(cookie.cookie.id) }
        return covered.map(\.id)
    }

    /// Returns the stored cookie that completes a record of another program's store. It is the same cookie; the record may
    /// leave open the host-only flag and the partition of its own site. Or it is the twin with the other host-only flag,
    /// since a tool that changed the flag knows no more about the other properties.
    ///
    /// A cookie with the very same ID comes first, then one of the same partition, then the twin.
    mutating func counterpart(
        of cookie: borrowing Cookie, leavingOpen unstated: CookieProperties, now: Timestamp
    ) -> Cookie? {
        let candidate = CookieEntry(cookie, CookieRecordHeader(cookie))
        var best: (rank: Int, cookie: Cookie)?
        let indices = indices(ofCandidatesFor: candidate) ?? Array(entries.indices)
        for index in indices where entries[index].mayHaveSameID(as: candidate) {
            guard !withCookie(at: index, { $0.hasExpired(at: now) }) else { continue }
            let stored = self.cookie(at: index)
            guard stored.name == cookie.name, stored.domain == cookie.domain, stored.path == cookie.path else {
                continue
            }
            var rank = 0
            if stored.id.partitionKey != cookie.id.partitionKey {
                guard unstated.contains(.partition), cookie.id.partitionKey == nil,
                    let key = stored.id.partitionKey, key.isOwnSite(of: stored.domain)
                else { continue }
                rank += 2
            }
            if stored.isHostOnly != cookie.isHostOnly {
                // If the record states the flag, they are two cookies. Even so, the stored one completes the properties
                // that the record leaves open.
                rank += unstated.contains(.hostOnly) ? 1 : 4
            }
            if best.map({ rank < $0.rank }) ?? true { best = (rank, stored) }
        }
        return best?.cookie
    }

    /// Whether there is a cookie with the same ID.
    mutating func contains(_ cookie: Cookie) -> Bool {
        index(of: cookie, CookieEntry(cookie, CookieRecordHeader(cookie))) != nil
    }

    /// Where the cookie with the same ID is.
    private mutating func index(of cookie: borrowing Cookie, _ candidate: CookieEntry) -> Int? {
        if let indices = indices(ofCandidatesFor: candidate) {
            for index in indices where withCookie(at: index, { $0.hasID(cookie.id) }) { return index }
            return nil
        }
        for index in entries.indices where entries[index].mayHaveSameID(as: candidate) {
            if withCookie(at: index, { $0.hasID(cookie.id) }) { return index }
        }
        return nil
    }

    /// Whether a cookie without Secure over an insecure connection would overlay a Secure one (step 16).
    func containsSecureCookie(overlaidBy cookie: borrowing Cookie, now: Timestamp) -> Bool {
        let candidate = copy cookie
        var found = false
        forEach { old, _ in
            // Most cookies differ in these two.
            if old.header.attributes[.secure], old.hasName(candidate.name), !old.hasExpired(at: now),
                CookiePolicy.overlays(candidate, old.cookie)
            {
                found = true
            }
        }
        return found
    }
}
