import FuzzSupport

@testable import CookieModel

/// What a request can never carry: section 5.8.3, told from the cookies that go and those that stay.
enum RetrievalCheck {
    static func check(
        _ retrieval: Retrieval, of stored: [Cookie], for context: RequestContext, _ policy: CookiePolicy
    ) {
        for cookie in retrieval.included {
            checkScope(of: cookie, context, policy)
            Invariant.holds(
                !cookie.isSecure || policy.isSecure(context.url), "no Secure cookie goes in the clear")
            Invariant.holds(!cookie.isHTTPOnly || context.interface == .http, "no script sees an HttpOnly cookie")
            Invariant.holds(
                cookie.sameSite == .none || context.initiator != .opaque || context.isTopLevelNavigation,
                "a frame of no origin is of no site")
        }
        for exclusion in retrieval.excluded {
            Invariant.holds(!exclusion.reasons.isEmpty, "a cookie that stays has a reason to")
        }
        for (first, second) in zip(retrieval.included, retrieval.included.dropFirst()) {
            Invariant.holds(first.precedes(second) && !second.precedes(first), "the order is total")
        }
        checkHeader(retrieval, of: stored)
    }

    private static func checkScope(of cookie: Cookie, _ context: RequestContext, _ policy: CookiePolicy) {
        let host = Array(context.url.host.octets)
        let domain = Array(cookie.domain.octets)
        let isBelow = !context.url.host.isIPAddress && host.suffix(domain.count + 1) == [UInt8(ascii: ".")] + domain
        Invariant.holds(host == domain || (!cookie.isHostOnly && isBelow), "no cookie goes to a foreign host")
        Invariant.holds(
            cookie.isHostOnly || !cookie.domain.isPublicSuffix(policy.publicSuffixes), "a suffix shares no cookies")
        let path = context.url.path
        Invariant.holds(
            path.starts(with: cookie.path)
                && (path.count == cookie.path.count || cookie.path.last == UInt8(ascii: "/")
                    || path[cookie.path.count] == UInt8(ascii: "/")),
            "no cookie goes to a foreign path")
    }

    /// The header is the stored octets, and a server takes it apart into what was stored.
    private static func checkHeader(_ retrieval: Retrieval, of stored: [Cookie]) {
        let values = Dictionary(stored.map { ($0.id, $0.value) }) { first, _ in first }
        let pairs = retrieval.included.map { cookie in
            (cookie.name.isEmpty ? [] : Array(cookie.name) + [UInt8(ascii: "=")]) + (values[cookie.id]?.bytes ?? [])
        }
        let header = retrieval.cookieString.bytes
        Invariant.holds(Array(pairs.joined(separator: Array("; ".utf8))) == header, "the octets stored are those sent")
        Invariant.holds(
            header.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).count == max(pairs.count, 1),
            "a server takes the header apart")
        Invariant.holds(!header.contains(where: \.isControl), "no control character goes out")
    }
}
