import WebPrimitives

extension CookiePolicy {
    /// What a cookie out of another program's store comes to: the rules of section 5.7 that need no request.
    ///
    /// The record's creation time is kept where it has one; the lifetime limit counts from now.
    package func candidate(for record: CookieRecord, now: Timestamp) -> (cookie: Cookie, findings: CandidateFindings) {
        var reasons = ReasonSet<RejectionReason>()
        if record.name.contains(where: ASCII.isControl) || record.value.contains(where: ASCII.isControl)
            || record.path.contains(where: ASCII.isControl)
        {
            reasons.insert(.controlCharacter)
        }
        if record.name.count + record.value.count > SetCookie.nameAndValueLimit { reasons.insert(.nameAndValueTooLong) }
        if record.name.isEmpty, record.value.isEmpty { reasons.insert(.emptyNameAndValue) }
        if !CookiePolicy.isPair(record.name, record.value) { reasons.insert(.pairInvalid) }
        if record.path.first != ASCII.slash || record.path.last.map(ASCII.isBlank) == true {
            reasons.insert(.pathInvalid)
        }
        if record.sameSite == .none, !record.isSecure { reasons.insert(.sameSiteNoneInsecure) }
        if record.partitionKey != nil, !record.isSecure { reasons.insert(.partitionedInsecure) }
        let host = WebHost(record.domain)
        if let host {
            if !record.isHostOnly, host.isPublicSuffix(publicSuffixes) { reasons.insert(.domainPublicSuffix) }
        } else {
            reasons.insert(.hostInvalid)
        }
        checkPrefixes(
            name: record.name, value: record.value, isSecure: record.isSecure, isHostOnly: record.isHostOnly,
            isHTTPOnly: record.isHTTPOnly, isRootPath: record.path == "/", &reasons)
        var cookie = Cookie(
            id: Cookie.ID(
                name: record.name, domain: host ?? WebHost(canonical: Octets(record.domain), kind: .domain),
                isHostOnly: record.isHostOnly, path: record.path, partitionKey: record.partitionKey),
            value: record.value, isSecure: record.isSecure, isHTTPOnly: record.isHTTPOnly, sameSite: record.sameSite,
            expiry: record.expiry.map { min($0, now.advanced(bySeconds: lifetimeLimit)) },
            creation: record.creation ?? now, lastAccess: record.lastAccess.map { min($0, now) } ?? now)
        cookie.request = record.request
        return (cookie, CandidateFindings(reasons: reasons, mayOverlaySecureCookies: false, isFromScript: false))
    }

    /// Whether a Set-Cookie line could have given this name and value (section 5.6, steps 2 to 4): anything else would
    /// go back as another cookie, or as two.
    private static func isPair(_ name: Octets, _ value: Octets) -> Bool {
        !name.contains(ASCII.equals)
            && ![name, value].contains { part in
                part.contains(ASCII.semicolon) || part.first.map(ASCII.isBlank) == true
                    || part.last.map(ASCII.isBlank) == true
            }
    }
}
