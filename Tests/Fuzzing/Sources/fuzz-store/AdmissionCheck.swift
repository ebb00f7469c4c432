import FuzzSupport

@testable import CookieModel

/// What a response can never get into the store: section 5.7, told from the cookie that came of it.
enum AdmissionCheck {
    static func check(
        _ cookie: Cookie, _ setCookie: SetCookie, _ context: RequestContext, _ policy: CookiePolicy, now: Timestamp
    ) {
        let host = context.url.host
        Invariant.holds(
            cookie.isHostOnly
                ? cookie.domain == host
                : CookiePolicy.domainMatches(host, cookie.domain.octets)
                    && !cookie.domain.isPublicSuffix(policy.publicSuffixes),
            "a host sets cookies for itself and for the names above it below the suffix")
        Invariant.holds(
            cookie.name == setCookie.name && cookie.value == setCookie.value, "a cookie keeps its octets")
        Invariant.holds(!cookie.isSecure || policy.isSecure(context.url), "a Secure cookie comes over a secure way")
        Invariant.holds(!cookie.isHTTPOnly || context.interface == .http, "a script sets no HttpOnly cookie")
        Invariant.holds(cookie.sameSite != .none || cookie.isSecure, "SameSite=None is Secure")
        Invariant.holds(cookie.id.partitionKey == nil || cookie.isSecure, "a partitioned cookie is Secure")
        Invariant.holds(
            cookie.path.first == UInt8(ascii: "/") && !cookie.path.contains(where: \.isControl), "a path is absolute")
        let latest = now.advanced(bySeconds: policy.lifetimeLimit)
        Invariant.holds(cookie.expiry.map { $0 <= latest } ?? true, "a lifetime has a limit")
        checkPrefix(of: cookie)
    }

    private static func checkPrefix(of cookie: Cookie) {
        let name = (cookie.name.isEmpty ? cookie.value : cookie.name).map(\.lowercased)
        let isSecure = name.starts(with: "__secure-".utf8)
        let isHost = name.starts(with: "__host-".utf8)
        guard isSecure || isHost else { return }
        Invariant.holds(!cookie.name.isEmpty && cookie.isSecure, "a prefix needs a name and Secure")
        Invariant.holds(isSecure || (cookie.isHostOnly && cookie.path == "/"), "__Host- is for one host, at its root")
    }
}
