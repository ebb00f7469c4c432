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

    init(_ request: BrowserKnowledge.Request, _ suffixes: PublicSuffixList) {
        let site = request.field("sec-fetch-site")
        let hasSafeMethod = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method)
        isPageRequest = request.field("upgrade-insecure-requests") != nil
        isPreflight = request.method == "OPTIONS" && request.field("access-control-request-method") != nil
        isDocument = request.field("sec-fetch-dest") == "document" && request.field("sec-fetch-mode") == "navigate"
        let (origin, page) = (request.field("origin"), request.field("referer"))
        referrer = (page ?? origin).flatMap { try? RequestURL($0) }
        let target = SchemefulSite(request.url, suffixes)
        foreignPage = referrer.flatMap { SchemefulSite($0, suffixes) == target ? nil : $0 }
        let isSameSiteByFetch = ["none", "same-origin", "same-site"].contains(site)
        if site == nil {
            let source = (origin ?? page).flatMap { try? RequestURL($0) }
            isSameSite = source.map { SchemefulSite($0, suffixes) } == target
        } else {
            isSameSite = isSameSiteByFetch
        }
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
}
