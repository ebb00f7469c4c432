/// The end of the storage model (section 5.7): what a received cookie meets among those that are stored.
extension SiteCookies {
    /// Decides on a cookie and stores it: steps 16, 23 and 24, and the removal of excess cookies.
    ///
    /// - Parameters:
    ///   - candidate: the cookie, with what is wrong with it so far.
    ///   - overlaysElsewhere: whether step 16 finds a cookie of another registrable domain.
    ///   - sequence: the next place in the order of creation; taken where the cookie is new.
    ///   - now: the present time, at which what is expired goes out. A cookie out of an old capture may have run out
    ///     since it was received.
    package mutating func receive(
        _ candidate: consuming Candidate, overlaysElsewhere: Bool, sequence: inout Int64, limits: CookieLimits,
        now: Timestamp
    ) -> StorageDecision {
        removeExpired(at: now)
        var reasons = candidate.reasons
        candidate.cookie.sequence = sequence
        var record = CookieRecordHeader(candidate.cookie)
        let meeting = meeting(candidate.cookie, record)
        if candidate.mayOverlaySecureCookies, overlaysElsewhere || containsSecureCookie(overlaidBy: candidate.cookie) {
            reasons.insert(.overwriteSecure)
        }
        if candidate.isFromScript, let previous = meeting.previous, previous.isHTTPOnly {
            reasons.insert(.overwriteHTTPOnly)
        }
        guard reasons.isEmpty else { return StorageDecision(rejecting: candidate.cookie.name, reasons) }
        guard let previous = meeting.previous else {
            if candidate.cookie.isExpired(at: now) { return StorageDecision(.deleted, candidate.cookie, previous: nil) }
            sequence += 1
            insert(candidate.cookie, record, at: meeting.place.lowerBound)
            var decision = StorageDecision(.stored, candidate.cookie, previous: nil)
            if isOver(limits, record) { decision.evicted = removeExcess(candidate.cookie.id.partitionKey, limits) }
            return decision
        }
        let old = cookie(at: meeting.place)
        if candidate.cookie.isExpired(at: now) {
            remove(at: meeting.place, previous)
            return StorageDecision(.deleted, candidate.cookie, previous: old)
        }
        // Step 23.3; the order of the header goes by what does not change.
        candidate.cookie.creation = previous.creation
        candidate.cookie.sequence = previous.sequence
        record = CookieRecordHeader(candidate.cookie)
        replace(meeting.place, with: candidate.cookie, record)
        var decision = StorageDecision(.replaced, candidate.cookie, previous: old)
        if record.isPartitioned { decision.evicted = removeExcess(candidate.cookie.id.partitionKey, limits) }
        return decision
    }

    /// Where the cookie with the same ID stands, or, where there is none, in front of what a new one belongs.
    private func meeting(
        _ cookie: borrowing Cookie, _ record: CookieRecordHeader
    ) -> (previous: CookieRecordHeader?, place: Range<Int>) {
        storage.withUnsafeBytes { bytes in
            var offset = 0
            var insertion = -1
            while offset < bytes.count {
                let other = PackedCookie(bytes: bytes, offset: offset)
                let end = offset + other.header.byteCount
                if record.mayHaveSameID(as: other.header), other.hasID(cookie.id) {
                    return (other.header, offset..<end)
                }
                if insertion < 0, record.precedes(other.header) { insertion = offset }
                offset = end
            }
            let place = insertion < 0 ? bytes.count : insertion
            return (nil, place..<place)
        }
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

    private func cookie(at place: Range<Int>) -> Cookie {
        storage.withUnsafeBytes { PackedCookie(bytes: $0, offset: place.lowerBound).cookie }
    }
}
