import CookieModel
import PublicSuffix
import WebPrimitives

/// The evidence of a request's origin in the fields that a browser sends.
struct FetchEvidence {
    /// Whether it loads the page of a tab.
    let isDocument: Bool
    /// Whether it loads a page in a frame of another site's page.
    let isForeignFrame: Bool
    /// Whether it is a CORS preflight, which has no credentials.
    let isPreflight: Bool
    /// The classes that the fields permit.
    let classes: EngineVerdict.Classes
    /// Whether the fields name the same site: `Sec-Fetch-Site`, or without it `Origin`, then `Referer`. The latter two
    /// do not show that the named page may be in a page of another site, so they permit no cookie.
    let isSameSite: Bool
    /// The page that it names.
    let referrer: RequestURL?
    /// The page that it names, if it is of another site.
    let foreignPage: RequestURL?
    /// Whether it requests a page of a tab or a frame, as far as this is visible without https.
    let isPageRequest: Bool
    /// Whether a page of another site has certainly caused it. Redirects by other sites do not count: some browsers
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
        // The scheme does not count: to Firefox and WebKit, http and https are one site.
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
        // The fields show everything only for the page of a tab.
        if !isDocument {
            classes = []
        } else if isSameSiteByFetch {
            classes = .all
        } else {
            classes = hasSafeMethod ? [.none, .lax, .default] : [.none]
        }
    }

    /// Whether a browser has no frames with temporary stores: Firefox and WebKit. The browser laboratory tests for
    /// them.
    private static func lacksTemporaryStores(_ userAgent: String) -> Bool {
        !userAgent.contains("Chrom") && (userAgent.contains("Firefox/") || userAgent.contains("AppleWebKit/"))
    }
}
