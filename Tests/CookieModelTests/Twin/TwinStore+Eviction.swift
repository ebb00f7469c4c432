import CookieModel

extension TwinStore {
    /// "Remove excess cookies" (draft, section 5.7) after `received` came in: what is expired is out already.
    mutating func removeExcess(after received: TwinCookie) {
        let domain = TwinStore.registrableDomain(received)
        func shareDomain(_ cookie: TwinCookie) -> Bool {
            TwinStore.registrableDomain(cookie) == domain && cookie.partitionKey == received.partitionKey
        }
        func octets(_ cookies: [TwinCookie]) -> Int { cookies.reduce(0) { $0 + $1.name.count + $1.value.count } }
        if received.partitionKey == nil {
            // 2 and 3.
            while let limit = limits.domainCookies, cookies.filter(shareDomain).count > limit {
                evict(where: shareDomain, sparesSecure: true)
            }
        } else {
            // CHIPS.
            while let limit = limits.partitionCookies, cookies.filter(shareDomain).count > limit {
                evict(where: shareDomain, sparesSecure: true)
            }
            while let limit = limits.partitionOctets, octets(cookies.filter(shareDomain)) > limit {
                evict(where: shareDomain, sparesSecure: true)
            }
        }
        // 4.
        while let limit = limits.totalCookies, cookies.count > limit {
            evict(where: { _ in true }, sparesSecure: false)
        }
    }

    /// The one with the earliest last-access-time; the store is in the order of creation.
    private mutating func evict(where isCandidate: (TwinCookie) -> Bool, sparesSecure: Bool) {
        var candidates = cookies.indices.filter { isCandidate(cookies[$0]) }
        if sparesSecure {
            let insecure = candidates.filter { !cookies[$0].isSecure }
            if !insecure.isEmpty { candidates = insecure }
        }
        guard let earliest = candidates.map({ cookies[$0].lastAccess }).min(),
            let index = candidates.first(where: { cookies[$0].lastAccess == earliest })
        else { return }
        cookies.remove(at: index)
    }

    private static func registrableDomain(_ cookie: TwinCookie) -> String {
        TwinRequest.Site.registrableDomain(
            String(decoding: cookie.domain, as: UTF8.self), isIPAddress: cookie.domainIsIPAddress)
    }
}
