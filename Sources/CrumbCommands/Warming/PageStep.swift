import CookieModel
import PublicSuffix

/// One request of a page load: for the page or for a resource that it names, perhaps after redirects.
struct PageStep {
    var url: RequestURL
    /// How it is requested.
    let link: PageLink
    /// The page in the address bar; `nil` if the request is for it.
    let page: RequestURL?
    /// What names the resource: the page or a stylesheet.
    let referrer: RequestURL?
    /// How many resources are between it and the page.
    let depth: Int
    /// The URLs that have redirected here.
    var redirects: [RequestURL] = []
    /// Whether it is only to be read, and not stored: the other response has a coding that cannot be read.
    var isReadableCopy = false

    /// The User-Agent field, unless the jar has one.
    static let userAgent =
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"

    /// The request as the cookie rules see it.
    var context: RequestContext {
        var context = page.map { RequestContext(url: url, topLevel: $0, initiator: .origin($0)) }
        context?.redirects = redirects
        if let context { return context }
        var ofPage = RequestContext(url: url)
        (ofPage.initiator, ofPage.redirects) = (.user, redirects)
        return ofPage
    }

    /// Whether the request has cookies, and its response sets some.
    var hasCookies: Bool {
        switch link.credentials {
        case .include: true
        case .sameOrigin: page.map { $0.isSameOrigin(as: url) } ?? true
        case .omit: false
        }
    }

    /// Where the request comes from, as `Sec-Fetch-Site` has it: the farthest of all URLs that it has gone to.
    func site(_ suffixes: PublicSuffixList) -> String {
        guard let page else { return "none" }
        let urls = redirects + [url]
        if urls.allSatisfy(page.isSameOrigin) { return "same-origin" }
        let site = SchemefulSite(page, suffixes)
        return urls.allSatisfy { SchemefulSite($0, suffixes) == site } ? "same-site" : "cross-site"
    }

    /// The fields that Chromium sends.
    ///
    /// - Parameter cookies: The value of the Cookie field; empty for none.
    func fields(cookies: Octets, _ suffixes: PublicSuffixList) -> [(name: String, value: String)] {
        // Others learn neither where a request comes from, nor which codings a browser knows.
        let isTrustworthy = url.scheme.isCryptographic || url.host.isLoopback
        let site = site(suffixes)
        var fields: [(name: String, value: String)] = []
        if isReadableCopy { fields.append(("Cache-Control", "no-store")) }
        if let page, link.isCORS, link.destination != .manifest || site != "same-origin" {
            fields.append(("Origin", page.origin))
        }
        if page == nil { fields.append(("Upgrade-Insecure-Requests", "1")) }
        fields += [("User-Agent", PageStep.userAgent), ("Accept", link.destination.accept)]
        if isTrustworthy {
            fields += [
                ("Sec-Fetch-Site", site),
                ("Sec-Fetch-Mode", page == nil ? "navigate" : link.isCORS ? "cors" : "no-cors"),
            ]
            if page == nil { fields.append(("Sec-Fetch-User", "?1")) }
            fields.append(("Sec-Fetch-Dest", link.destination.rawValue))
            if site == "cross-site", hasCookies { fields.append(("Sec-Fetch-Storage-Access", "none")) }
        }
        if let referrer = referrerField { fields.append(("Referer", referrer)) }
        let codings = isTrustworthy && !isReadableCopy ? "gzip, deflate, br, zstd" : "gzip, deflate"
        fields += [("Accept-Encoding", codings), ("Accept-Language", "en-US,en;q=0.9")]
        if !cookies.isEmpty { fields.append(("Cookie", String(decoding: cookies, as: UTF8.self))) }
        return fields
    }

    /// The fields that a program sends: no field by which servers tell programs apart but the User-Agent.
    var fieldsOfProgram: [(name: String, value: String)] {
        (isReadableCopy ? [("Cache-Control", "no-store")] : []) + [("User-Agent", "crumb"), ("Accept", "*/*")]
    }

    /// The Referer field by the policy `strict-origin-when-cross-origin`, which browsers have.
    private var referrerField: String? {
        guard let referrer, !referrer.scheme.isCryptographic || url.scheme.isCryptographic else { return nil }
        return referrer.isSameOrigin(as: url) ? referrer.description : "\(referrer.origin)/"
    }
}

extension PageLink.Destination {
    /// The Accept field.
    fileprivate var accept: String {
        switch self {
        case .document:
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/jxl,image/avif,image/webp,image/apng,*/*;q=0.8,"
                + "application/signed-exchange;v=b3;q=0.7"
        case .style: "text/css,*/*;q=0.1"
        case .image: "image/jxl,image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
        case .script, .font, .manifest, .empty: "*/*"
        }
    }
}
