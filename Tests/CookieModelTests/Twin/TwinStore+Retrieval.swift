import CookieModel

extension TwinStore {
    /// The retrieval algorithm (draft, section 5.8.3).
    mutating func retrieve(_ request: TwinRequest, now: Int) -> [UInt8] {
        evictExpired(now: now)
        // 3.
        let list = cookies.indices.filter { unmetRequirements(cookies[$0], request, now: now).isEmpty }
        // 4. The store is in the order of creation.
        let sorted = list.sorted { left, right in
            if cookies[left].path.count != cookies[right].path.count {
                return cookies[left].path.count > cookies[right].path.count
            }
            if cookies[left].creation != cookies[right].creation {
                return cookies[left].creation < cookies[right].creation
            }
            return left < right
        }
        // 5.
        for index in sorted { cookies[index].lastAccess = now }
        // 6.
        var cookieString: [UInt8] = []
        for (count, index) in sorted.enumerated() {
            // 6.1.
            if !cookies[index].name.isEmpty { cookieString += cookies[index].name + [0x3D] }
            // 6.2.
            cookieString += cookies[index].value
            // 6.3.
            if count < sorted.count - 1 { cookieString += [0x3B, 0x20] }
        }
        return cookieString
    }

    /// Step 3: each requirement that a cookie does not meet.
    func unmetRequirements(_ cookie: TwinCookie, _ request: TwinRequest, now: Int) -> Set<ExclusionReason> {
        var unmet: Set<ExclusionReason> = []
        if cookie.isHostOnly {
            if request.host != cookie.domain { unmet.insert(.hostOnlyMismatch) }
        } else if !TwinText.domainMatches(request.host, cookie.domain, isIPAddress: request.isIPAddress) {
            unmet.insert(.domainMismatch)
        } else if !request.isIPAddress, TwinStore.isPublicSuffix(cookie.domain, for: request) {
            unmet.insert(.domainPublicSuffix)
        }
        if !TwinText.pathMatches(request.path, cookie.path) { unmet.insert(.pathMismatch) }
        if cookie.isSecure, !request.isSecure { unmet.insert(.secureOnly) }
        if cookie.isHTTPOnly, request.isScript { unmet.insert(.httpOnly) }
        if cookie.sameSite != SameSite.none, !request.isSameSite, !mayGoCrossSite(cookie, request, now: now) {
            switch cookie.sameSite {
            case .strict: unmet.insert(.sameSiteStrict)
            case .lax: unmet.insert(.sameSiteLax)
            case .default, .none: unmet.insert(.sameSiteDefault)
            }
        }
        // CHIPS.
        if let key = cookie.partitionKey, key != request.partitionKey { unmet.insert(.partitionMismatch) }
        return unmet
    }

    /// The last requirement: all of its conditions.
    private func mayGoCrossSite(_ cookie: TwinCookie, _ request: TwinRequest, now: Int) -> Bool {
        let isRecent =
            laxAllowingUnsafeAge > 0 && cookie.sameSite == .default
            && now - cookie.creation <= laxAllowingUnsafeAge * 1_000_000
        return !request.isScript && [.lax, .default].contains(cookie.sameSite) && (request.isSafe || isRecent)
            && request.isTopLevelNavigation
    }
}
