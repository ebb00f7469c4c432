package import CookieModel

/// Conditions that a cookie meets or not, whatever asks for it.
package struct CookieSelection {
    package let sites: [WebHost]
    private let siteNames: Set<Octets>
    package let names: Set<Octets>
    package let isHTTPOnly: Bool?
    package let isPersistent: Bool?

    /// Conditions from their parts; those that are empty or `nil` hold for every cookie.
    package init(sites: [WebHost], names: Set<Octets>, isHTTPOnly: Bool?, isPersistent: Bool?) {
        self.sites = sites
        siteNames = Set(sites.map(\.octets))
        self.names = names
        self.isHTTPOnly = isHTTPOnly
        self.isPersistent = isPersistent
    }

    /// Whether a cookie meets all of them; takes no longer the more sites and names there are.
    package func admits(_ record: CookieRecord) -> Bool {
        if !names.isEmpty, !names.contains(record.name) { return false }
        if let isHTTPOnly, record.isHTTPOnly != isHTTPOnly { return false }
        if let isPersistent, (record.expiry != nil) != isPersistent { return false }
        return admits(WebHost(record.domain))
    }

    /// Whether the web storage of an origin is meant: any of the sites, unless a condition is one that only cookies meet.
    package func admits(storageOf origin: String) -> Bool {
        names.isEmpty && isHTTPOnly == nil && isPersistent == nil && admits((try? RequestURL(origin))?.host)
    }

    private func admits(_ domain: WebHost?) -> Bool {
        guard !sites.isEmpty else { return true }
        guard let domain else { return false }
        if siteNames.contains(domain.octets) { return true }
        return domain.octets.indices.contains { index in
            guard domain.octets[index] == UInt8(ascii: ".") else { return false }
            let site = domain.octets[(index + 1)...]
            return siteNames.contains(site) && CookiePolicy.domainMatches(domain, site)
        }
    }
}

extension CookieRecord {
    /// Whether a page of `host` can have set the cookie.
    package func belongs(to host: WebHost) -> Bool {
        guard let domain = WebHost(domain) else { return false }
        return isHostOnly ? host == domain : CookiePolicy.domainMatches(host, domain.octets)
    }
}
