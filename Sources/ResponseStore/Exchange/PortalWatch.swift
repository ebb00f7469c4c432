import CookieModel
import HTTPCaching
import PublicSuffix
import Synchronization
import WebPrimitives

/// Recognizes the answers of a portal: a network that wants the user to sign in answers in place of all http servers.
///
/// A site's own login may look the same. So what could be either is passed on, until servers of several sites answer in the
/// same way.
final class PortalWatch: Sendable {
    /// Whose answer a response is.
    enum Verdict: Sendable, Hashable {
        case ofServer
        /// It may be a portal's. It is passed on, but not stored.
        case doubtful
        case ofPortal
    }

    /// A sign of a portal.
    private struct Sign {
        /// The site that it came in place of.
        let site: Octets
        /// What signs of the same portal have in common: where it leads to.
        let target: Octets
        let time: Timestamp
    }

    private let suffixes: PublicSuffixList
    private let signs = Mutex<[Sign]>([])

    /// How many seconds a sign counts.
    private static let lifetime: Int64 = 10
    private static let signLimit = 100
    /// The target of a portal that answers with a page, or with its own status.
    private static let page: Octets = "page"
    private static let own: Octets = "511"

    init(_ suffixes: PublicSuffixList) {
        self.suffixes = suffixes
    }

    /// Decides whose answer a response is, and remembers the signs of a portal in it.
    ///
    /// - Parameters:
    ///   - stored: The stored response that the response would replace; `nil` for none.
    func verdict(
        on response: OriginResponse, to request: CacheRequest, inPlaceOf stored: CachedResponse?, now: Timestamp
    ) -> Verdict {
        guard !request.url.scheme.isCryptographic else { return .ofServer }
        // RFC 6585, section 6: 511 (Network Authentication Required) is for proxies that control access to the network.
        let url = request.url
        if response.status == 511 {
            note(PortalWatch.own, url, now)
            return .ofPortal
        }
        let target = target(of: response, to: url)
        let isPage = response.status == 200 && response.fields.isHTML
        guard target != nil || isPage else {
            // A portal does not know what is stored.
            if stored != nil, response.status == 304 { signs.withLock { $0 = [] } }
            return .ofServer
        }
        if let stored, !stored.fields.isHTML, !request.asksForHTML {
            note(target.map(\.host.description).map { Octets($0) } ?? PortalWatch.page, url, now)
            return .ofPortal
        }
        if let target {
            guard let stored, stored.status == 200, stored.fields.isHTML, !target.scheme.isCryptographic
            else { return .ofServer }
            note(Octets(target.host.description), url, now)
            return isSeen(now) ? .ofPortal : .doubtful
        }
        if isSeen(now) { return stored?.fields.isHTML == true ? .ofPortal : .doubtful }
        return stored == nil && !request.acceptsHTML ? .doubtful : .ofServer
    }

    /// Where a temporary redirect to another site leads to; `nil` for other responses.
    private func target(of response: OriginResponse, to url: RequestURL) -> RequestURL? {
        guard [302, 303, 307].contains(response.status), let location = response.fields.values("location").first,
            let target = try? url.resolving(location),
            target.host.registrableDomain(suffixes) != url.host.registrableDomain(suffixes)
        else { return nil }
        return target
    }

    private func note(_ target: Octets, _ url: RequestURL, _ now: Timestamp) {
        let site = url.host.registrableDomain(suffixes)
        signs.withLock { signs in
            signs.removeAll { $0.site == site || !PortalWatch.counts($0, now) }
            if signs.count < PortalWatch.signLimit { signs.append(Sign(site: site, target: target, time: now)) }
        }
    }

    /// Whether a portal has just answered: with its own status, or for several sites in the same way.
    private func isSeen(_ now: Timestamp) -> Bool {
        signs.withLock { signs in
            let targets = signs.filter { PortalWatch.counts($0, now) }.map(\.target)
            return targets.contains(PortalWatch.own) || Set(targets).count < targets.count
        }
    }

    private static func counts(_ sign: Sign, _ now: Timestamp) -> Bool {
        now < sign.time.advanced(bySeconds: lifetime)
    }
}
