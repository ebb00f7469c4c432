public import CookieModel

/// The context of a captured response's request, and the source of that knowledge.
public struct CapturedContext: Sendable {
    /// The evidence for the page in the address bar, or for a request from another site.
    package enum Source: String, Sendable {
        /// Nothing: the request counts as a navigation by a person.
        case none
        /// The `Sec-Fetch-` fields of the request.
        case fetchMetadata = "sec-fetch"
        /// The partition that the recorder names.
        case partitionKey = "partition-key"
        /// The page that the capture names, or that an earlier entry navigated to.
        case page
        /// The caller.
        case given
        /// The `Referer`, `Origin` or initiator of the request.
        case referrer
    }

    /// The request, for the cookie rules.
    public let request: RequestContext
    /// The evidence that decided the context.
    package let source: Source
    /// Whether the request is a third party's: neither a top-level navigation nor same-site.
    package let isThirdParty: Bool
}

extension CapturedResponse {
    /// Decides in which context the request was made. This is the one place where evidence becomes a
    /// `RequestContext`.
    ///
    /// 1. A request that fills the address bar is a top-level navigation, whatever caused it.
    /// 2. Any other request has the page that the recorder's partition names; or else the capture's page; or else where
    ///    its `Referer`, `Origin` or initiator points to; or else `topLevel`.
    /// 3. Its initiator is its `Origin`, `Referer` or recorded initiator, unless `Sec-Fetch-Site` says otherwise.
    /// 4. A request without evidence in the capture is within `topLevel`, or a navigation if that is `nil`.
    ///
    /// - Parameters:
    ///   - topLevel: the page that the caller names for requests without evidence in the capture.
    ///   - policy: the rules, which know what a site is.
    /// - Throws: `RequestURLError` if the response's URL carries no cookies.
    public func context(
        topLevel: RequestURL? = nil, policy: CookiePolicy
    ) throws(RequestURLError) -> CapturedContext {
        let url = try RequestURL(url)
        var request = RequestContext(url: url)
        request.interface = interface
        if let method { request.method = method.uppercased() }
        request.redirects = evidence.redirects.compactMap { try? RequestURL($0) }
        let (page, source) = page(or: topLevel)
        switch destination(url, topLevel, policy) {
        case nil: return CapturedContext(request: request, source: .none, isThirdParty: false)
        case .page:
            if let initiator = initiatorURL { request.initiator = .origin(initiator) }
            if evidence.fetchSite == .user { request.initiator = .user }
            return CapturedContext(request: request, source: .page, isThirdParty: false)
        case .frame, .subresource: break
        }
        request.isTopLevelNavigation = false
        request.topLevel = page
        request.initiator = initiator(of: url, in: page, policy)
        let isThirdParty = policy.isThirdParty(request)
        request.isPartitionKnown = page != nil || !isThirdParty
        let isTold = evidence.fetchSite == .crossSite && isThirdParty && source != .given
        return CapturedContext(
            request: request, source: isTold || source == .none ? .fetchMetadata : source, isThirdParty: isThirdParty)
    }

    private var initiatorURL: RequestURL? {
        for text in [evidence.origin, evidence.referrer, evidence.initiator] {
            if let text, let url = try? RequestURL(text) { return url }
        }
        return nil
    }

    /// The destination that the response is loaded into; `nil` if neither the capture nor the caller knows it.
    private func destination(
        _ url: RequestURL, _ topLevel: RequestURL?, _ policy: CookiePolicy
    ) -> RequestEvidence.Destination? {
        if let destination = evidence.destination { return destination }
        if let key = evidence.partitionKey {
            // Within its own site's partition a document needs no more than that.
            let isOwn = !key.hasCrossSiteAncestor && policy.site(of: url) == key.topLevelSite
            return isOwn && evidence.isDocument ? .page : .subresource
        }
        if evidence.fetchSite == .crossSite || evidence.hasStorageAccessField { return .subresource }
        guard let topLevel else { return nil }
        return interface == .http && url.isSameOrigin(as: topLevel) && url.path == topLevel.path ? .page : .subresource
    }

    private func page(or topLevel: RequestURL?) -> (RequestURL?, CapturedContext.Source) {
        if let key = evidence.partitionKey, let url = try? RequestURL(key.topLevelSite) { return (url, .partitionKey) }
        let page = evidence.page.flatMap { try? RequestURL($0) }
        if let page { return (page, evidence.isPageInferred ? .referrer : .page) }
        return topLevel.map { ($0, .given) } ?? (nil, .none)
    }

    /// Returns the initiator of a request within a page.
    private func initiator(
        of url: RequestURL, in page: RequestURL?, _ policy: CookiePolicy
    ) -> RequestContext.Initiator {
        let site = policy.site(of: url)
        let pageSite = page.map { policy.site(of: $0) }
        if let key = evidence.partitionKey, key.topLevelSite == site {
            return key.hasCrossSiteAncestor ? .opaque : .origin(url)
        }
        // Browsers send the field with third-party requests alone, whatever the pages' sites are.
        if evidence.hasStorageAccessField, pageSite ?? site == site { return .opaque }
        let found = initiatorURL
        switch evidence.fetchSite {
        // After a redirect, the field is about every URL of the chain, and the draft about the last.
        case .crossSite where evidence.redirects.isEmpty && found.map({ policy.site(of: $0) }) ?? site == site:
            return .opaque
        case .sameOrigin, .sameSite: return .origin(url)
        case .crossSite, .user, nil: break
        }
        if let found { return .origin(found) }
        return interface == .script ? .origin(url) : .topLevel
    }
}
