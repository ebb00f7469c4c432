import WebPrimitives

extension CookiePolicy {
    /// Applies the storage model (section 5.7 of the draft) to a received cookie: every step that does not depend on
    /// stored cookies.
    ///
    /// Departure: the draft stops at the first reason to ignore the cookie; this collects all of them. ``SetCookie``
    /// has done steps 2 to 4, which are the same for every request.
    ///
    /// - Parameters:
    ///   - setCookie: the parsed line.
    ///   - context: the request that was answered, or the script's access.
    ///   - site: the request's host, as the public suffix list divides it.
    ///   - now: the time of the response.
    package func candidate(
        for setCookie: SetCookie, in context: RequestContext, site: WebHost.Site, now: Timestamp
    ) -> (cookie: Cookie, findings: CandidateFindings) {
        var reasons = ReasonSet<RejectionReason>()
        let isSecureRequest = isSecure(context.url)
        let isScript = context.interface == .script
        // Steps 7 to 10: Find the domain and the host-only-flag.
        let (domain, isHostOnly) = domain(of: setCookie, host: context.url.host, site: site, &reasons)
        // Step 11: Find the path.
        let path = path(of: setCookie, requestPath: context.url.path, &reasons)
        // Step 12: Set the secure-only-flag if there is a Secure attribute.
        // Step 13: Ignore a Secure cookie from an insecure connection.
        if setCookie.isSecure, !isSecureRequest { reasons.insert(.secureFromInsecure) }
        // Step 14: Set the http-only-flag if there is an HttpOnly attribute.
        // Step 15: Ignore an HttpOnly cookie from a script.
        if setCookie.isHTTPOnly, isScript { reasons.insert(.httpOnlyFromScript) }
        // Steps 17 to 19: Find the same-site-flag.
        let sameSite = sameSite(of: setCookie, in: context, &reasons)
        // CHIPS; the draft does not have it.
        var partitionKey: PartitionKey?
        if setCookie.isPartitioned {
            partitionKey = self.partitionKey(context, isSameSite: isSameSite(context))
            if !setCookie.isSecure { reasons.insert(.partitionedInsecure) }
            if !context.isPartitionKnown || partitionKey == nil { reasons.insert(.partitionUnknown) }
        } else if let verdict = context.verdict, verdict.classes.isEmpty || isOmitted(sameSite, by: verdict) {
            reasons.insert(.browserOmits)
        }
        // Steps 20 to 22: Check the name's prefix.
        let name = setCookie.name
        let value = setCookie.value
        checkPrefixes(
            name: name, value: value, isSecure: setCookie.isSecure, isHostOnly: isHostOnly,
            isHTTPOnly: setCookie.isHTTPOnly, isRootPath: isRootPath(path, setCookie), &reasons)
        // Step 5: Create the cookie; its creation-time and last-access-time are now.
        // Step 6: Find the expiry-time.
        let cookie = Cookie(
            id: Cookie.ID(name: name, domain: domain, isHostOnly: isHostOnly, path: path, partitionKey: partitionKey),
            value: value, attributes: setCookie.attributes.flags, sameSite: sameSite,
            expiry: expiry(of: setCookie, now: now), creation: now, lastAccess: now)
        checkDepartures(cookie.id, &reasons)
        // Step 16 looks at cookies of the store if neither the cookie nor the connection is secure.
        let findings = CandidateFindings(
            reasons: reasons, mayOverlaySecureCookies: !setCookie.isSecure && !isSecureRequest, isFromScript: isScript)
        return (cookie, findings)
    }

    /// Departures: a witness of a gateway belongs to no jar, and a database may have a limit.
    private func checkDepartures(_ id: Cookie.ID, _ reasons: inout ReasonSet<RejectionReason>) {
        if !keepsWitnesses, WitnessName.matches(id.name) { reasons.insert(.gatewayWitness) }
        if let identityLimit, id.octetCount > identityLimit { reasons.insert(.identityTooLong) }
    }

    /// Step 6: The expiry-time comes from the last Max-Age, or else from the last Expires. Without either, the cookie
    /// ends with the session.
    private func expiry(of setCookie: SetCookie, now: Timestamp) -> Timestamp? {
        // Section 5.5: No lifetime is longer than 400 days, or the policy's limit.
        let latest = now.advanced(bySeconds: lifetimeLimit)
        // Section 5.6.2, steps 5 to 7: A Max-Age of zero or less ends in the past; any other ends that long from now,
        // at most at the limit.
        if let maxAge = setCookie.maxAge {
            return maxAge <= 0 ? .distantPast : min(now.advanced(bySeconds: maxAge), latest)
        }
        // Section 5.6.1, steps 3 and 4: A later date is cut to the limit.
        return setCookie.expires.map { min($0, latest) }
    }

    /// Steps 7 to 10: The domain and the host-only-flag.
    ///
    /// The steps come in another order than in the draft; but for the departure from step 9, the result is the same.
    func domain(
        of setCookie: SetCookie, host: WebHost, site: WebHost.Site, _ reasons: inout ReasonSet<RejectionReason>
    ) -> (WebHost, isHostOnly: Bool) {
        // Step 7: Take the last Domain attribute; without one, the domain-attribute is empty.
        // Step 10, otherwise: With an empty one, the cookie is host-only and its domain is the request's host.
        guard let attribute = setCookie.domain, !attribute.isEmpty else { return (host, true) }
        // Steps 9.1 and 9.2: The host is canonical; a `WebHost` always is.
        let isPublicSuffix = host.kind == .domain && site.publicSuffixLength >= host.octets.count
        if attribute == host.octets {
            // Step 9.3: A host that is a public suffix itself may set a host-only cookie.
            return (host, isPublicSuffix)
        }
        let domain = WebHost(canonical: attribute, kind: .domain)
        // Step 10.1: If the request's host domain-matches the attribute, that is the cookie's domain, and the cookie is
        // not host-only.
        if CookiePolicy.domainMatches(host, attribute) {
            // Step 9: Ignore the cookie if the attribute is a public suffix. Departure: under a rule such as
            // `*.kawasaki.jp`, the domain above the suffix is not a suffix itself, yet it covers every site under the
            // rule. Browsers reject it too.
            if attribute.count <= site.publicSuffixLength { reasons.insert(.domainPublicSuffix) }
        } else {
            // Step 10.1, otherwise: Ignore the cookie if the host does not match.
            reasons.insert(.domainMismatch)
            // Step 9: A public suffix is a reason of its own.
            if domain.isPublicSuffix(publicSuffixes) { reasons.insert(.domainPublicSuffix) }
            // Step 8: Ignore the cookie if the attribute is not ASCII. Such a one matches no host.
            if attribute.contains(where: { $0 >= 0x80 }) { reasons.insert(.domainNotASCII) }
        }
        return (domain, false)
    }

    /// Step 11: The path is that of the last Path attribute, or the default-path without one.
    func path(
        of setCookie: SetCookie, requestPath: Octets, _ reasons: inout ReasonSet<RejectionReason>
    ) -> Octets {
        guard case .path(let path) = setCookie.path else { return CookiePolicy.defaultPath(requestPath) }
        // Departure, with the profile's flag.
        if profile.contains(.rejectsNonASCIIPath), path.contains(where: { $0 >= 0x80 }) {
            reasons.insert(.pathNotASCII)
        }
        return path
    }

    /// Steps 17 to 19: The same-site-flag, and whether the request may set it.
    private func sameSite(
        of setCookie: SetCookie, in context: RequestContext, _ reasons: inout ReasonSet<RejectionReason>
    ) -> SameSite {
        // Step 17: Take the last SameSite attribute; without one, or with an unknown value, the flag is `default`.
        let sameSite = setCookie.sameSite ?? .default
        if sameSite == .none {
            // Step 19: Ignore a cookie with `SameSite=None` that is not Secure.
            if !setCookie.isSecure { reasons.insert(.sameSiteNoneInsecure) }
        } else if context.interface == .script || !context.isTopLevelNavigation, !isSameSite(context) {
            // Step 18.1: Without `SameSite=None`, ignore a cookie that a script sets in a cross-site frame.
            // Steps 18.2 and 18.3: Go on if it is from a same-site request or a top-level navigation.
            // Step 18.4: Ignore it if it is from any other request.
            reasons.insert(.sameSiteCrossSite)
        }
        return sameSite
    }

    /// Whether a browser that sends none of its unpartitioned `SameSite=None` cookies stores none either.
    private func isOmitted(_ sameSite: SameSite, by verdict: EngineVerdict) -> Bool {
        sameSite == .none && !verdict.classes.contains(.none)
    }

    /// Step 21.3: The path is `/` and there is a Path attribute, which with the profile's flag is itself `/`.
    private func isRootPath(_ path: Octets, _ setCookie: SetCookie) -> Bool {
        guard path.count == 1 else { return false }
        switch setCookie.path {
        case .absent: return false
        case .default: return !profile.contains(.hostPrefixNeedsExplicitPath)
        case .path: return true
        }
    }

    /// Steps 20 to 22: A name with a prefix needs the attributes that the prefix promises. Case does not matter
    /// (section 5.4 of the draft).
    func checkPrefixes(
        name: Octets, value: Octets, isSecure: Bool, isHostOnly: Bool, isHTTPOnly: Bool, isRootPath: Bool,
        _ reasons: inout ReasonSet<RejectionReason>
    ) {
        guard let prefix = NamePrefix(name.isEmpty ? value : name, profile) else { return }
        // Step 22: Ignore a cookie without a name whose value begins with a prefix.
        if name.isEmpty { reasons.insert(.prefixNameless) }
        guard !name.isEmpty else { return }
        switch prefix {
        case .secure:
            // Step 20: "__Secure-" needs Secure.
            if !isSecure { reasons.insert(.prefixSecure) }
        case .host:
            // Step 21: "__Host-" needs Secure, no Domain, and a Path of `/`.
            if !(isSecure && isHostOnly && isRootPath) { reasons.insert(.prefixHost) }
        // Departure, with the profile's flag: the prefixes of the draft's successor.
        case .http:
            if !(isSecure && isHTTPOnly) { reasons.insert(.prefixHTTP) }
        case .hostHTTP:
            if !(isSecure && isHostOnly && isRootPath) { reasons.insert(.prefixHost) }
            if !(isSecure && isHTTPOnly) { reasons.insert(.prefixHTTP) }
        }
    }
}

/// A name prefix that promises attributes (section 5.4 of the draft).
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

/// The findings of section 5.7 of the draft about a received cookie, before it is compared with stored cookies.
package struct CandidateFindings {
    /// Everything that is wrong with it, by every step up to 22 but step 16.
    package internal(set) var reasons: ReasonSet<RejectionReason>
    /// Whether step 16 applies: a cookie without Secure over an insecure connection.
    let mayOverlaySecureCookies: Bool
    /// Whether a script sets it, for step 23.2.
    let isFromScript: Bool
}

extension CookiePolicy {
    /// Applies the rules of section 5.7 of the draft that need no request to a cookie out of another program's store.
    ///
    /// The record's creation time is kept if it has one; the lifetime limit counts from now.
    package func candidate(for record: CookieRecord, now: Timestamp) -> (cookie: Cookie, findings: CandidateFindings) {
        var reasons = ReasonSet<RejectionReason>()
        // Step 3: Ignore the cookie if its name or value contains a control character other than tab. The path of a
        // line has none either.
        if record.name.contains(where: ASCII.isControl) || record.value.contains(where: ASCII.isControl)
            || record.path.contains(where: ASCII.isControl)
        {
            reasons.insert(.controlCharacter)
        }
        // Step 4: Ignore it if name and value together have more than 4096 octets.
        if record.name.count + record.value.count > SetCookie.nameAndValueLimit { reasons.insert(.nameAndValueTooLong) }
        // Step 2: Ignore it if name and value are empty.
        if record.name.isEmpty, record.value.isEmpty { reasons.insert(.emptyNameAndValue) }
        if !CookiePolicy.isPair(record.name, record.value) { reasons.insert(.pairInvalid) }
        if record.path.first != ASCII.slash || record.path.last.map(ASCII.isBlank) == true {
            reasons.insert(.pathInvalid)
        }
        // Step 19: Ignore a cookie with `SameSite=None` that is not Secure.
        if record.sameSite == .none, !record.isSecure { reasons.insert(.sameSiteNoneInsecure) }
        if record.partitionKey != nil, !record.isSecure { reasons.insert(.partitionedInsecure) }
        let host = WebHost(record.domain)
        // Step 9: A domain that is a public suffix and the host itself is ignored, and the cookie is host-only. No other host
        // could have set it for "localhost".
        let isHostOnly = record.isHostOnly || host?.octets == "localhost"
        if let host {
            // Step 9: Ignore it if its domain is a public suffix and it is not host-only.
            if !isHostOnly, host.isPublicSuffix(publicSuffixes) { reasons.insert(.domainPublicSuffix) }
        } else {
            reasons.insert(.hostInvalid)
        }
        // Steps 20 to 22: Check the name's prefix.
        checkPrefixes(
            name: record.name, value: record.value, isSecure: record.isSecure, isHostOnly: isHostOnly,
            isHTTPOnly: record.isHTTPOnly, isRootPath: record.path == "/", &reasons)
        // Step 5: Create the cookie.
        // Step 6: The expiry-time is cut to the limit of section 5.5.
        var cookie = Cookie(
            id: Cookie.ID(
                name: record.name, domain: host ?? WebHost(canonical: Octets(record.domain), kind: .domain),
                isHostOnly: isHostOnly, path: record.path, partitionKey: record.partitionKey),
            value: record.value, attributes: record.attributes, sameSite: record.sameSite,
            expiry: record.expiry.map { min($0, now.advanced(bySeconds: lifetimeLimit)) },
            creation: record.creation ?? now, lastAccess: record.lastAccess.map { min($0, now) } ?? now)
        cookie.request = record.request
        checkDepartures(cookie.id, &reasons)
        return (cookie, CandidateFindings(reasons: reasons, mayOverlaySecureCookies: false, isFromScript: false))
    }

    /// Whether a Set-Cookie line could have given this name and value (section 5.6 of the draft, steps 2 to 4):
    /// anything else would go back as another cookie, or as two.
    private static func isPair(_ name: Octets, _ value: Octets) -> Bool {
        !name.contains(ASCII.equals)
            && ![name, value].contains { part in
                part.contains(ASCII.semicolon) || part.first.map(ASCII.isBlank) == true
                    || part.last.map(ASCII.isBlank) == true
            }
    }
}
