#if canImport(WebKit)
    internal import CookieModel
    public import Foundation
    public import RequestDecoration
    public import WebKit

    extension NativeCookie {
        /// What Foundation has no name for in public.
        private static let httpOnly = HTTPCookiePropertyKey("HttpOnly")

        /// A cookie of a `WKHTTPCookieStore`. Foundation has no word for `SameSite=None`, nor for partitions.
        public init(_ cookie: HTTPCookie) {
            let sameSite: SameSite =
                switch cookie.sameSitePolicy {
                case .sameSiteStrict: .strict
                case .sameSiteLax: .lax
                default: .default
                }
            self.init(
                name: cookie.name, value: cookie.value, domain: cookie.domain, path: cookie.path,
                expiry: cookie.expiresDate.flatMap(NativeCookie.timestamp), isSecure: cookie.isSecure,
                isHTTPOnly: cookie.isHTTPOnly, sameSite: sameSite)
        }

        /// The cookie as Foundation has it; `nil` where it has no such cookie.
        public var httpCookie: HTTPCookie? {
            var properties: [HTTPCookiePropertyKey: Any] = [
                .name: name, .value: value, .domain: domain, .path: path,
            ]
            if let expiry { properties[.expires] = Date(timeIntervalSince1970: TimeInterval(expiry.seconds)) }
            if isSecure { properties[.secure] = "TRUE" }
            if isHTTPOnly { properties[NativeCookie.httpOnly] = "TRUE" }
            switch sameSite {
            case .strict: properties[.sameSitePolicy] = HTTPCookieStringPolicy.sameSiteStrict
            case .lax: properties[.sameSitePolicy] = HTTPCookieStringPolicy.sameSiteLax
            case .none, .default: break
            }
            return HTTPCookie(properties: properties)
        }

        private static func timestamp(_ date: Date) -> Timestamp? {
            Int64(exactly: date.timeIntervalSince1970.rounded(.down)).map { Timestamp(seconds: $0) }
        }
    }
#endif
