extension CookiePolicy {
    /// Retrieves cookies for a request or a script's access: the retrieval algorithm (section 5.8.3).
    ///
    /// The caller updates the last-access-times of ``Retrieval/included`` (step 5).
    ///
    /// - Parameters:
    ///   - cookies: the cookies of the request host's registrable domain, in any order.
    ///   - context: the request or access.
    ///   - now: the time of the retrieval.
    public func retrieval(from cookies: [Cookie], for context: RequestContext, now: Timestamp) -> Retrieval {
        let request = RetrievalRequest(context, self, now: now)
        var retrieval = Retrieval()
        for cookie in cookies.sorted(by: { $0.precedes($1) }) {
            let reasons = request.exclusionReasons(for: cookie)
            if reasons.isEmpty {
                retrieval.included.append(cookie)
            } else {
                retrieval.excluded.append(Retrieval.Exclusion(cookie: cookie, reasons: reasons))
            }
        }
        return retrieval
    }
}

/// What the retrieval algorithm asks of a request, found out once for all cookies.
private struct RetrievalRequest {
    let host: WebHost
    let path: Octets
    let isSecure: Bool
    let isScript: Bool
    let isSameSite: Bool
    /// Whether Lax cookies go cross-site too: a top-level navigation over HTTP by a safe method.
    let allowsLax: Bool
    /// The creation-time from which on cookies without SameSite go as well ("Lax-allowing-unsafe").
    let allowsDefaultSince: Timestamp?
    let partitionKey: PartitionKey
    let publicSuffixLength: Int
    let now: Timestamp

    init(_ context: RequestContext, _ policy: CookiePolicy, now: Timestamp) {
        host = context.url.host
        path = context.url.path
        isSecure = policy.isSecure(context.url)
        isScript = context.interface == .script
        isSameSite = policy.isSameSite(context)
        let isNavigation = context.interface == .http && context.isTopLevelNavigation
        allowsLax = isNavigation && context.hasSafeMethod
        allowsDefaultSince =
            isNavigation && policy.laxAllowingUnsafeAge > 0
            ? now.advanced(bySeconds: -policy.laxAllowingUnsafeAge) : nil
        partitionKey = policy.partitionKey(context, isSameSite: isSameSite)
        publicSuffixLength = host.publicSuffixLength(policy.publicSuffixes)
        self.now = now
    }

    /// Step 3: all requirements that `cookie` fails.
    func exclusionReasons(for cookie: Cookie) -> ReasonSet<ExclusionReason> {
        var reasons = ReasonSet<ExclusionReason>()
        if cookie.isHostOnly {
            if cookie.domain != host { reasons.insert(.hostOnlyMismatch) }
        } else if !CookiePolicy.domainMatches(host, cookie.domain.octets) {
            reasons.insert(.domainMismatch)
        } else if cookie.domain.octets.count <= publicSuffixLength {
            reasons.insert(.domainPublicSuffix)
        }
        if !CookiePolicy.pathMatches(path, cookie.path) { reasons.insert(.pathMismatch) }
        if cookie.isSecure, !isSecure { reasons.insert(.secureOnly) }
        if cookie.isHTTPOnly, isScript { reasons.insert(.httpOnly) }
        if !isSameSite { checkSameSite(cookie, &reasons) }
        if let key = cookie.id.partitionKey, key != partitionKey { reasons.insert(.partitionMismatch) }
        if cookie.isExpired(at: now) { reasons.insert(.expired) }
        return reasons
    }

    /// The last requirement of step 3, for a cross-site retrieval.
    private func checkSameSite(_ cookie: Cookie, _ reasons: inout ReasonSet<ExclusionReason>) {
        switch cookie.sameSite {
        case .none:
            break
        case .strict:
            reasons.insert(.sameSiteStrict)
        case .lax:
            if !allowsLax { reasons.insert(.sameSiteLax) }
        case .default:
            let isRecent = allowsDefaultSince.map { cookie.creation >= $0 } ?? false
            if !allowsLax, !isRecent { reasons.insert(.sameSiteDefault) }
        }
    }
}
