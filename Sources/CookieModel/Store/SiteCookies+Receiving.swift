/// The end of the storage model (section 5.7): what a received cookie meets among those that are stored.
extension SiteCookies {
    /// Decides on a cookie and stores it: steps 16, 23 and 24, and the removal of excess cookies.
    ///
    /// - Parameters:
    ///   - candidate: the cookie as it would be stored.
    ///   - findings: what is wrong with it so far.
    ///   - overlaysElsewhere: whether step 16 finds a cookie of another registrable domain.
    ///   - sequence: the next place in the order of creation; taken where the cookie is new.
    ///   - total: the number of cookies in the store, kept up to date.
    ///   - now: the present time, at which what is expired goes out. A cookie out of an old capture may have run out
    ///     since it was received.
    package mutating func receive(
        _ candidate: consuming Cookie, _ findings: CandidateFindings, overlaysElsewhere: Bool,
        sequence: inout Int64, total: inout Int, limits: borrowing CookieLimits, now: Timestamp
    ) -> StorageDecision {
        let countBefore = count
        defer { total += count - countBefore }
        removeExpired(at: now)
        var reasons = findings.reasons
        candidate.sequence = sequence
        var record = CookieRecordHeader(candidate)
        let (previous, place) = place(of: candidate, record)
        if findings.mayOverlaySecureCookies, overlaysElsewhere || containsSecureCookie(overlaidBy: candidate) {
            reasons.insert(.overwriteSecure)
        }
        if findings.isFromScript, let previous, previous.isHTTPOnly { reasons.insert(.overwriteHTTPOnly) }
        guard reasons.isEmpty else { return StorageDecision(rejecting: candidate.name, reasons) }
        let isExpired = candidate.isExpired(at: now)
        guard let previous else {
            guard !isExpired else { return StorageDecision(.deleted, candidate, previous: nil) }
            sequence += 1
            insert(candidate, record, at: place)
            let evicted = isOver(limits, record) ? removeExcess(candidate.id.partitionKey, limits) : []
            return StorageDecision(.stored, candidate, previous: nil, evicted: evicted)
        }
        let old = cookie(at: place)
        guard !isExpired else {
            remove(at: place)
            return StorageDecision(.deleted, candidate, previous: old)
        }
        // Step 23.3. The order of a header goes by what does not change, so the entry stays in its place.
        candidate.creation = previous.creation
        candidate.sequence = previous.sequence
        record = CookieRecordHeader(candidate)
        replace(place, with: candidate, record)
        let evicted = record.isPartitioned ? removeExcess(candidate.id.partitionKey, limits) : []
        return StorageDecision(.replaced, candidate, previous: old, evicted: evicted)
    }

    /// The cookie with the same ID and its index; where there is none, in front of which entry a new one belongs.
    private func place(
        of cookie: borrowing Cookie, _ record: CookieRecordHeader
    ) -> (previous: CookieRecordHeader?, index: Int) {
        let candidate = CookieEntry(cookie, record, at: 0)
        var insertion = -1
        for index in entries.indices {
            let entry = entries[index]
            if entry.mayHaveSameID(as: candidate), withCookie(at: index, { $0.hasID(cookie.id) }) {
                return (withCookie(at: index) { $0.header }, index)
            }
            if insertion < 0, candidate.precedes(entry) { insertion = index }
        }
        return (nil, insertion < 0 ? entries.count : insertion)
    }

    /// Whether a cookie without Secure over an insecure connection would overlay a Secure one (step 16).
    func containsSecureCookie(overlaidBy cookie: borrowing Cookie) -> Bool {
        let candidate = copy cookie
        var found = false
        forEach { old, _ in
            // Most cookies differ in these two.
            if old.header.isSecure, old.hasName(candidate.name), CookiePolicy.overlays(candidate, old.cookie) {
                found = true
            }
        }
        return found
    }
}
