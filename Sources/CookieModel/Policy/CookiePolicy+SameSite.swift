public import WebPrimitives

extension CookiePolicy {
    /// Whether a request is "same-site" (section 5.2 of the draft).
    ///
    /// For a top-level navigation the client is who caused it; for anything else the client's "site for cookies" is
    /// the page in the address bar, as long as the initiator is of that site as well.
    func isSameSite(_ context: RequestContext) -> Bool {
        guard context.topLevel != nil || hasForeignInitiator(context) || considersRedirectChain else { return true }
        let site = SchemefulSite(context.url, publicSuffixes)
        if considersRedirectChain {
            for url in context.redirects where SchemefulSite(url, publicSuffixes) != site { return false }
        }
        let topLevelSite = context.topLevel.map { SchemefulSite($0, publicSuffixes) } ?? site
        let initiatorSite: SchemefulSite? =
            switch context.initiator {
            case .user: context.isTopLevelNavigation ? site : topLevelSite
            case .topLevel: topLevelSite
            case .origin(let url): SchemefulSite(url, publicSuffixes)
            case .opaque: nil
            }
        return initiatorSite == site && (context.isTopLevelNavigation || topLevelSite == site)
    }

    /// Whether a request is a third party's: neither a top-level navigation nor same-site. A cookie that it sets needs
    /// `SameSite=None` (section 5.7, step 18).
    public func isThirdParty(_ context: RequestContext) -> Bool {
        !context.isTopLevelNavigation && !isSameSite(context)
    }

    /// The site of a URL, serialized as in a partition's key: `https://example.com`.
    public func site(of url: RequestURL) -> String {
        SchemefulSite(url, publicSuffixes).description
    }

    private func hasForeignInitiator(_ context: RequestContext) -> Bool {
        switch context.initiator {
        case .topLevel, .user: false
        case .origin, .opaque: true
        }
    }

    /// The partition that partitioned cookies of a request live in (CHIPS).
    ///
    /// A top-level navigation is the root of its own partition. Otherwise the key is the site of the page in the
    /// address bar, with the cross-site-ancestor bit where the request or its initiator is of another site.
    func partitionKey(_ context: RequestContext, isSameSite: Bool) -> PartitionKey {
        partitionKey(of: context.partitionPage, hasCrossSiteAncestor: context.hasCrossSiteAncestor(isSameSite))
    }

    /// The partition of a page.
    func partitionKey(of page: RequestURL, hasCrossSiteAncestor: Bool) -> PartitionKey {
        PartitionKey(
            topLevelSite: site(of: page), hasCrossSiteAncestor: hasCrossSiteAncestor)
    }
}

extension RequestContext {
    /// The page whose partition the request's partitioned cookies live in.
    var partitionPage: RequestURL { isTopLevelNavigation ? url : topLevel ?? url }

    /// Whether the key of that partition has the cross-site-ancestor bit.
    func hasCrossSiteAncestor(_ isSameSite: Bool) -> Bool { !isTopLevelNavigation && !isSameSite }
}
