import WebPrimitives

extension CookiePolicy {
    /// What a received cookie comes to before it meets those that are stored: section 5.7, every step that needs none of
    /// them, all reasons at once.
    ///
    /// - Parameters:
    ///   - setCookie: the parsed line.
    ///   - context: the request that was answered, or the script's access.
    ///   - site: what the public suffix list says of the request's host.
    ///   - now: the time of the response.
    package func candidate(
        for setCookie: SetCookie, in context: RequestContext, site: WebHost.Site, now: Timestamp
    ) -> (cookie: Cookie, findings: CandidateFindings) {
        var reasons = ReasonSet<RejectionReason>()
        let isSecureRequest = isSecure(context.url)
        let isScript = context.interface == .script
        let (domain, isHostOnly) = domain(of: setCookie, host: context.url.host, site: site, &reasons)
        let path = path(of: setCookie, requestPath: context.url.path, &reasons)
        // Steps 12 to 15.
        if setCookie.isSecure, !isSecureRequest { reasons.insert(.secureFromInsecure) }
        if setCookie.isHTTPOnly, isScript { reasons.insert(.httpOnlyFromScript) }
        let sameSite = sameSite(of: setCookie, in: context, &reasons)
        var partitionKey: PartitionKey?
        if setCookie.isPartitioned {
            partitionKey = self.partitionKey(context, isSameSite: isSameSite(context))
            if !setCookie.isSecure { reasons.insert(.partitionedInsecure) }
            if !context.isPartitionKnown { reasons.insert(.partitionUnknown) }
        }
        let name = setCookie.name
        let value = setCookie.value
        checkPrefixes(
            name: name, value: value, isSecure: setCookie.isSecure, isHostOnly: isHostOnly,
            isHTTPOnly: setCookie.isHTTPOnly, isRootPath: isRootPath(path, setCookie), &reasons)
        let cookie = Cookie(
            id: Cookie.ID(name: name, domain: domain, isHostOnly: isHostOnly, path: path, partitionKey: partitionKey),
            value: value, isSecure: setCookie.isSecure, isHTTPOnly: setCookie.isHTTPOnly, sameSite: sameSite,
            expiry: expiry(of: setCookie, now: now), creation: now, lastAccess: now)
        let findings = CandidateFindings(
            reasons: reasons, mayOverlaySecureCookies: !setCookie.isSecure && !isSecureRequest, isFromScript: isScript)
        return (cookie, findings)
    }

    /// Step 6, with the lifetime limit of section 5.5.
    private func expiry(of setCookie: SetCookie, now: Timestamp) -> Timestamp? {
        let latest = now.advanced(bySeconds: lifetimeLimit)
        if let maxAge = setCookie.maxAge {
            return maxAge <= 0 ? .distantPast : min(now.advanced(bySeconds: maxAge), latest)
        }
        return setCookie.expires.map { min($0, latest) }
    }

    /// Steps 7 to 10.
    func domain(
        of setCookie: SetCookie, host: WebHost, site: WebHost.Site, _ reasons: inout ReasonSet<RejectionReason>
    ) -> (WebHost, isHostOnly: Bool) {
        guard let attribute = setCookie.domain, !attribute.isEmpty else { return (host, true) }
        let isPublicSuffix = host.kind == .domain && site.publicSuffixLength >= host.octets.count
        if attribute == host.octets {
            // Step 9.3: a public suffix may set a cookie for itself alone.
            return (host, isPublicSuffix)
        }
        // By a rule such as `*.kawasaki.jp`, what stands above the suffix is none itself, yet reaches every site under the
        // rule: browsers refuse it too.
        let domain = WebHost(canonical: attribute, kind: .domain)
        if CookiePolicy.domainMatches(host, attribute) {
            if attribute.count <= site.publicSuffixLength { reasons.insert(.domainPublicSuffix) }
        } else {
            reasons.insert(.domainMismatch)
            if domain.isPublicSuffix(publicSuffixes) { reasons.insert(.domainPublicSuffix) }
            if attribute.contains(where: { $0 >= 0x80 }) { reasons.insert(.domainNotASCII) }
        }
        return (domain, false)
    }

    /// Step 11.
    func path(
        of setCookie: SetCookie, requestPath: Octets, _ reasons: inout ReasonSet<RejectionReason>
    ) -> Octets {
        guard case .path(let path) = setCookie.path else { return CookiePolicy.defaultPath(requestPath) }
        if profile.contains(.rejectsNonASCIIPath), path.contains(where: { $0 >= 0x80 }) {
            reasons.insert(.pathNotASCII)
        }
        return path
    }

    /// Steps 17 to 19.
    private func sameSite(
        of setCookie: SetCookie, in context: RequestContext, _ reasons: inout ReasonSet<RejectionReason>
    ) -> SameSite {
        let sameSite = setCookie.sameSite ?? .default
        if sameSite == .none {
            if !setCookie.isSecure { reasons.insert(.sameSiteNoneInsecure) }
        } else if context.interface == .script || !context.isTopLevelNavigation, !isSameSite(context) {
            reasons.insert(.sameSiteCrossSite)
        }
        return sameSite
    }

    /// Step 21.3: the path is `/` and a Path attribute is there (or says so itself, with the profile's flag).
    private func isRootPath(_ path: Octets, _ setCookie: SetCookie) -> Bool {
        guard path.count == 1 else { return false }
        switch setCookie.path {
        case .absent: return false
        case .default: return !profile.contains(.hostPrefixNeedsExplicitPath)
        case .path: return true
        }
    }

    /// Steps 20 to 22.
    func checkPrefixes(
        name: Octets, value: Octets, isSecure: Bool, isHostOnly: Bool, isHTTPOnly: Bool, isRootPath: Bool,
        _ reasons: inout ReasonSet<RejectionReason>
    ) {
        guard let prefix = NamePrefix(name.isEmpty ? value : name, profile) else { return }
        if name.isEmpty { reasons.insert(.prefixNameless) }
        guard !name.isEmpty else { return }
        switch prefix {
        case .secure:
            if !isSecure { reasons.insert(.prefixSecure) }
        case .host:
            if !(isSecure && isHostOnly && isRootPath) { reasons.insert(.prefixHost) }
        case .http:
            if !(isSecure && isHTTPOnly) { reasons.insert(.prefixHTTP) }
        case .hostHTTP:
            if !(isSecure && isHostOnly && isRootPath) { reasons.insert(.prefixHost) }
            if !(isSecure && isHTTPOnly) { reasons.insert(.prefixHTTP) }
        }
    }
}

/// A name prefix that promises attributes (section 5.4).
private enum NamePrefix {
    case secure, host, http, hostHTTP

    init?(_ octets: Octets, _ profile: CookieProfile) {
        guard octets.count >= 2, octets[0] == 0x5F, octets[1] == 0x5F else { return nil }
        let honoursHTTP = profile.contains(.honoursHTTPPrefixes)
        let found: NamePrefix? = octets.withSpan { bytes in
            if bytes.hasPrefixIgnoringCase("__secure-") { return .secure }
            if honoursHTTP, bytes.hasPrefixIgnoringCase("__host-http-") { return .hostHTTP }
            if bytes.hasPrefixIgnoringCase("__host-") { return .host }
            if honoursHTTP, bytes.hasPrefixIgnoringCase("__http-") { return .http }
            return nil
        }
        guard let found else { return nil }
        self = found
    }
}

/// What section 5.7 finds about a received cookie before it meets those that are stored.
package struct CandidateFindings {
    /// Everything that is wrong with it, by every step up to 22 but step 16.
    package internal(set) var reasons: ReasonSet<RejectionReason>
    /// Whether step 16 applies: a cookie without Secure over an insecure connection.
    let mayOverlaySecureCookies: Bool
    /// Whether a script sets it, for step 23.2.
    let isFromScript: Bool
}

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
