import CookieModel

/// Conditions that a cookie meets or not, whatever asks for it.
struct CookieSelection {
    let sites: [WebHost]
    let names: Set<Octets>
    let isHTTPOnly: Bool?
    let isPersistent: Bool?

    /// Whether a cookie meets all of them.
    func admits(_ record: CookieRecord) -> Bool {
        if !names.isEmpty, !names.contains(record.name) { return false }
        if let isHTTPOnly, record.isHTTPOnly != isHTTPOnly { return false }
        if let isPersistent, (record.expiry != nil) != isPersistent { return false }
        guard !sites.isEmpty else { return true }
        guard let domain = WebHost(record.domain) else { return false }
        return sites.contains { CookiePolicy.domainMatches(domain, $0.octets) }
    }
}

extension CookieRecord {
    /// Whether a page of `host` can have set the cookie.
    func belongs(to host: WebHost) -> Bool {
        guard let domain = WebHost(domain) else { return false }
        return isHostOnly ? host == domain : CookiePolicy.domainMatches(host, domain.octets)
    }

    /// The cookie for a person: name, host, path.
    var label: String {
        "\(name.isEmpty ? "(no name)" : name.description)  \(isHostOnly ? "" : ".")\(shown(domain))\(path)"
    }
}
