import PublicSuffix
import WebPrimitives

/// "Leave Secure cookies alone": section 5.7 of the draft, step 16. An insecure connection sets no cookie without
/// Secure that would overlay a Secure one.
extension CookiePolicy {
    /// Whether step 16 applies at all: a cookie without Secure over an insecure connection.
    package func mayOverlaySecureCookies(_ setCookie: SetCookie, in context: RequestContext) -> Bool {
        !setCookie.isSecure && !isSecure(context.url)
    }

    /// Whether `new` would overlay `old`: step 16's test. The path test is not symmetric.
    ///
    /// Departure: the draft knows no partitions. CHIPS keeps each one apart, so cookies of two partitions are never
    /// sent together and none overlays the other; Chromium, Firefox and WebKit agree.
    static func overlays(_ new: Cookie, _ old: Cookie) -> Bool {
        // Step 16.1: The names are the same.
        // Step 16.2: The stored cookie is Secure.
        // Step 16.3: One of the two domains domain-matches the other.
        // Step 16.4: The path of the new cookie path-matches that of the stored one.
        old.isSecure && old.name == new.name && old.id.partitionKey == new.id.partitionKey
            && pathMatches(new.path, old.path)
            && (domainMatches(old.domain, new.domain.octets) || domainMatches(new.domain, old.domain.octets))
    }

    /// The names above `site`, nearest first, of which a store may have cookies that step 16 looks at: `b.c` and `c`
    /// for `a.b.c`.
    package static func sitesAbove(_ site: Octets) -> [Octets] {
        var sites: [Octets] = []
        var name = site
        while let dot = name.withSpan({ $0.firstIndex(of: ASCII.dot, in: 0..<$0.count) }) {
            name = name[(dot + 1)..<name.count]
            sites.append(name)
        }
        return sites
    }

    /// Whether a store may have sites below `site` that step 16 looks at: only below a public suffix, and below a name
    /// that the list has rules for.
    package func mayHaveSitesBelow(_ site: Octets) -> Bool {
        site.withSpan { publicSuffixes.isPublicSuffix($0) || publicSuffixes.hasRulesBelow($0) }
    }
}
