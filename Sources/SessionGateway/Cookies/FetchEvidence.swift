import CookieModel
import PublicSuffix
import WebPrimitives

/// The evidence of a request's origin in the fields that a browser sends.
struct FetchEvidence {
    /// Whether it loads the page of a tab.
    let isDocument: Bool
    /// Whether it loads a page in one of another site.
    let isForeignFrame: Bool
    /// Whether it asks if another request is allowed; such a one has no credentials.
    let isPreflight: Bool
    /// The classes that the fields vouch for.
    let classes: EngineVerdict.Classes
    /// Whether the fields say that it is of the same site: `Sec-Fetch-Site`, or without it `Origin`, then `Referer`. The
    /// latter two do not tell of a page of another site around the one that they name, so they vouch for no cookie.
    let isSameSite: Bool
    /// The page that it names.
    let referrer: RequestURL?
    /// The same if it is of another site.
    let foreignPage: RequestURL?
    /// Whether it asks for a page, of a tab or a frame, as far as can be told without https.
    let isPageRequest: Bool
    /// Whether a page of another site has caused it for certain. Redirects by other sites do not count: some browsers
    /// send Strict cookies after them.
    let isForeign: Bool
    /// Whether no frame with a temporary store (`<iframe credentialless>`, a fenced frame) has sent it.
    let isOfOrdinaryStore: Bool

    init(_ request: BrowserKnowledge.Request, _ suffixes: PublicSuffixList) {
        let site = request.field("sec-fetch-site")
        let hasSafeMethod = RequestContext.isSafe(request.method)
        isPageRequest = request.field("upgrade-insecure-requests") != nil
        isPreflight = request.method == "OPTIONS" && request.field("access-control-request-method") != nil
        let isSameSiteByFetch = ["none", "same-origin", "same-site"].contains(site)
        // Chromium fetches links of other sites in advance with a temporary store.
        let isPrefetch = !isSameSiteByFetch && request.field("sec-purpose")?.hasPrefix("prefetch") == true
        isDocument =
            request.field("sec-fetch-dest") == "document" && request.field("sec-fetch-mode") == "navigate"
            && !isPrefetch
        let (origin, page) = (request.field("origin"), request.field("referer"))
        referrer = (page ?? origin).flatMap { try? RequestURL($0) }
        let target = SchemefulSite(request.url, suffixes)
        foreignPage = referrer.flatMap { SchemefulSite($0, suffixes) == target ? nil : $0 }
        if site == nil {
            let source = (origin ?? page).flatMap { try? RequestURL($0) }
            isSameSite = source.map { SchemefulSite($0, suffixes) } == target
        } else {
            isSameSite = isSameSiteByFetch
        }
        let storageAccess = request.field("sec-fetch-storage-access")
        let domain = request.url.host.registrableDomain(suffixes)
        func isOther(_ url: RequestURL) -> Bool { url.host.registrableDomain(suffixes) != domain }
        // Not the scheme: Firefox and WebKit take http and https for one site.
        let originURL = origin.flatMap { try? RequestURL($0) }
        switch site {
        case nil: isForeign = originURL.map(isOther) ?? false
        case "cross-site": isForeign = (originURL ?? referrer).map(isOther) ?? true
        // Chromium sends this in frames of other sites only.
        default: isForeign = !isSameSiteByFetch || storageAccess != nil
        }
        isOfOrdinaryStore =
            storageAccess == "active"
            || request.field("sec-ch-ua") == nil
                && request.field("user-agent").map(FetchEvidence.lacksTemporaryStores) == true
        isForeignFrame = !isDocument && !isSameSiteByFetch && request.field("sec-fetch-mode") == "navigate"
        // Only of a tab's own page do they tell everything.
        if !isDocument {
            classes = []
        } else if isSameSiteByFetch {
            classes = .all
        } else {
            classes = hasSafeMethod ? [.none, .lax, .default] : [.none]
        }
    }

    /// Whether a browser has no frames with temporary stores: Firefox and WebKit. The browser laboratory looks for them.
    private static func lacksTemporaryStores(_ userAgent: String) -> Bool {
        !userAgent.contains("Chrom") && (userAgent.contains("Firefox/") || userAgent.contains("AppleWebKit/"))
    }
}
