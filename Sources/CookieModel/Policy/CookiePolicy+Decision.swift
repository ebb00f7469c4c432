extension CookiePolicy {
    /// Decides what becomes of a received cookie: the storage model (section 5.7), every step, all reasons at once.
    ///
    /// - Parameters:
    ///   - setCookie: the parsed line.
    ///   - context: the request that was answered, or the script's access.
    ///   - existing: the unexpired cookies of the same registrable domain, in any order.
    ///   - overlaysElsewhere: whether step 16 finds a cookie outside `existing`.
    ///   - now: the time of the response.
    public func decision(
        for setCookie: SetCookie, in context: RequestContext, existing: [Cookie], overlaysElsewhere: Bool = false,
        now: Timestamp
    ) -> StorageDecision {
        var reasons = ReasonSet<RejectionReason>()
        let isSecureRequest = isSecure(context.url)
        let (domain, isHostOnly) = domain(of: setCookie, host: context.url.host, &reasons)
        let path = path(of: setCookie, requestPath: context.url.path, &reasons)
        // Steps 12 to 15.
        if setCookie.isSecure, !isSecureRequest { reasons.insert(.secureFromInsecure) }
        if setCookie.isHTTPOnly, context.interface == .script { reasons.insert(.httpOnlyFromScript) }
        let sameSite = sameSite(of: setCookie, in: context, &reasons)
        var partitionKey: PartitionKey?
        if setCookie.isPartitioned {
            partitionKey = self.partitionKey(context, isSameSite: isSameSite(context))
            if !setCookie.isSecure { reasons.insert(.partitionedInsecure) }
        }
        checkPrefixes(
            name: setCookie.name, value: setCookie.value, isSecure: setCookie.isSecure, isHostOnly: isHostOnly,
            isHTTPOnly: setCookie.isHTTPOnly, isRootPath: isRootPath(path, setCookie.path), &reasons)
        let cookie = Cookie(
            id: Cookie.ID(
                name: setCookie.name, domain: domain, isHostOnly: isHostOnly, path: path, partitionKey: partitionKey),
            value: setCookie.value, isSecure: setCookie.isSecure, isHTTPOnly: setCookie.isHTTPOnly, sameSite: sameSite,
            expiry: expiry(of: setCookie, now: now), creation: now, lastAccess: now)
        // Step 16.
        if mayOverlaySecureCookies(setCookie, in: context),
            overlaysElsewhere || existing.contains(where: { CookiePolicy.overlays(cookie, $0) })
        {
            reasons.insert(.overwriteSecure)
        }
        return conclude(cookie, existing: existing, isScript: context.interface == .script, reasons, now: now)
    }

    /// Steps 23 and 24, and the eviction of what is expired on arrival.
    func conclude(
        _ candidate: Cookie, existing: [Cookie], isScript: Bool, _ reasonsSoFar: ReasonSet<RejectionReason>,
        now: Timestamp
    ) -> StorageDecision {
        var cookie = candidate
        var reasons = reasonsSoFar
        let previous = existing.first { $0.id == cookie.id }
        if let previous {
            if isScript, previous.isHTTPOnly { reasons.insert(.overwriteHTTPOnly) }
            cookie.creation = previous.creation
            cookie.sequence = previous.sequence
        }
        guard reasons.isEmpty else {
            return StorageDecision(outcome: .rejected, name: candidate.name, reasons: reasons)
        }
        let outcome: StorageDecision.Outcome =
            cookie.isExpired(at: now) ? .deleted : previous == nil ? .stored : .replaced
        return StorageDecision(outcome: outcome, name: candidate.name, cookie: cookie, previous: previous)
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
    private func domain(
        of setCookie: SetCookie, host: WebHost, _ reasons: inout ReasonSet<RejectionReason>
    ) -> (WebHost, isHostOnly: Bool) {
        guard let attribute = setCookie.domain, !attribute.isEmpty else { return (host, true) }
        if attribute == host.octets {
            // Step 9.3: a public suffix may set a cookie for itself alone.
            return (host, host.isPublicSuffix(publicSuffixes))
        }
        if attribute.contains(where: { $0 >= 0x80 }) { reasons.insert(.domainNotASCII) }
        let domain = WebHost(canonical: attribute, kind: .domain)
        if !CookiePolicy.domainMatches(host, attribute) {
            reasons.insert(.domainMismatch)
            if domain.isPublicSuffix(publicSuffixes) { reasons.insert(.domainPublicSuffix) }
        } else if attribute.count <= host.publicSuffixLength(publicSuffixes) {
            // By a rule such as `*.kawasaki.jp`, what stands above the suffix is none itself, yet reaches every site
            // under the rule: browsers refuse it too.
            reasons.insert(.domainPublicSuffix)
        }
        return (domain, false)
    }

    /// Step 11.
    private func path(
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
    private func isRootPath(_ path: Octets, _ attribute: SetCookie.PathAttribute) -> Bool {
        switch attribute {
        case .absent: false
        case .default: path == "/" && !profile.contains(.hostPrefixNeedsExplicitPath)
        case .path: path == "/"
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

    /// Whether step 16 applies at all: a cookie without Secure over an insecure connection.
    public func mayOverlaySecureCookies(_ setCookie: SetCookie, in context: RequestContext) -> Bool {
        !setCookie.isSecure && !isSecure(context.url)
    }

    /// The cookie to ask step 16 about outside of the registrable domain, whatever else is wrong with it; `nil` where
    /// the step does not apply.
    public func overlayCandidate(
        for setCookie: SetCookie, in context: RequestContext, now: Timestamp
    ) -> Cookie? {
        guard mayOverlaySecureCookies(setCookie, in: context) else { return nil }
        var reasons = ReasonSet<RejectionReason>()
        let (domain, isHostOnly) = domain(of: setCookie, host: context.url.host, &reasons)
        let path = path(of: setCookie, requestPath: context.url.path, &reasons)
        return Cookie(
            id: Cookie.ID(name: setCookie.name, domain: domain, isHostOnly: isHostOnly, path: path, partitionKey: nil),
            value: setCookie.value, isSecure: false, isHTTPOnly: setCookie.isHTTPOnly,
            sameSite: setCookie.sameSite ?? .default, expiry: nil, creation: now, lastAccess: now)
    }

    /// Step 16's test ("leave Secure cookies alone"): the path test is not symmetric.
    public static func overlays(_ new: Cookie, _ old: Cookie) -> Bool {
        old.isSecure && old.name == new.name && pathMatches(new.path, old.path)
            && (domainMatches(old.domain, new.domain.octets) || domainMatches(new.domain, old.domain.octets))
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
