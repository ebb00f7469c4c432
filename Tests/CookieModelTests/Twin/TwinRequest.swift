import CookieModel
import PublicSuffix

/// What the twin's storage and retrieval ask of a request, worked out from URLs and the public suffix list alone.
struct TwinRequest {
    /// Scheme and registrable domain; a WebSocket's scheme counts as that of the page it belongs to.
    struct Site: Equatable {
        let scheme: String
        let domain: String

        init(_ url: RequestURL) {
            scheme = ["https", "wss"].contains(url.scheme.name) ? "https" : "http"
            domain = Site.registrableDomain(url.host.description, isIPAddress: url.host.isIPAddress)
        }

        static func registrableDomain(_ name: String, isIPAddress: Bool) -> String {
            if isIPAddress { return name }
            guard name.hasSuffix(".") else { return PublicSuffixList.bundled.registrableDomain(of: name) ?? name }
            return PublicSuffixList.bundled.registrableDomain(of: String(name.dropLast())).map { $0 + "." } ?? name
        }
    }

    let host: [UInt8]
    let isIPAddress: Bool
    let path: [UInt8]
    let isSecure: Bool
    let isScript: Bool
    let isSafe: Bool
    let isTopLevelNavigation: Bool
    let isSameSite: Bool
    let partitionKey: String

    init(_ context: RequestContext, trustsLoopback: Bool, considersRedirects: Bool) {
        let name = context.url.host.description
        host = Array(name.utf8)
        isIPAddress = context.url.host.isIPAddress
        path = context.url.path.bytes
        let dotless = name.hasSuffix(".") ? String(name.dropLast()) : name
        let isLoopback =
            dotless == "localhost" || dotless.hasSuffix(".localhost") || name == "[::1]"
            || (isIPAddress && name.hasPrefix("127."))
        isSecure = ["https", "wss"].contains(context.url.scheme.name) || (trustsLoopback && isLoopback)
        isScript = context.interface == .script
        isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(context.method)
        isTopLevelNavigation = context.isTopLevelNavigation

        let site = Site(context.url)
        let topSite = context.topLevel.map(Site.init) ?? site
        // Who caused it: nobody but a person, or a client of some site; an opaque origin is of no site.
        var clients: [Site?] =
            switch context.initiator {
            case .user: []
            case .topLevel: [topSite]
            case .origin(let url): [Site(url)]
            case .opaque: [nil]
            }
        // All of a page's frames count unless the page itself is left.
        if !isTopLevelNavigation { clients.append(topSite) }
        if considersRedirects { clients += context.redirects.map { Site($0) } }
        isSameSite = clients.allSatisfy { $0 == site }

        let keySite = isTopLevelNavigation ? site : topSite
        partitionKey =
            "\(keySite.scheme)://\(keySite.domain)" + (isTopLevelNavigation || isSameSite ? "" : " cross-site")
    }
}
