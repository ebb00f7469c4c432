public import CookieModel
public import RequestDecoration

/// A web view's own cookie store: `WKHTTPCookieStore`, or a substitute.
@MainActor
public protocol NativeCookieStore: AnyObject {
    /// Everything it holds, `HttpOnly` included.
    func nativeCookies() async -> [NativeCookie]
    /// Puts a cookie in, in the place of one with the same identity; returns when a request would carry it.
    func putNativeCookie(_ cookie: NativeCookie) async
    /// Removes a cookie.
    func removeNativeCookie(_ cookie: NativeCookie) async
}

#if canImport(WebKit)
    public import RequestDecoration
    public import WebKit

    extension WKHTTPCookieStore: NativeCookieStore {
        /// All cookies of the store, including `HttpOnly` ones.
        public func nativeCookies() async -> [NativeCookie] {
            await allCookies().map { NativeCookie($0) }
        }

        /// Adds a cookie. Ignores one that Foundation cannot represent.
        public func putNativeCookie(_ cookie: NativeCookie) async {
            if let cookie = cookie.httpCookie { await setCookie(cookie) }
        }

        /// Removes a cookie.
        public func removeNativeCookie(_ cookie: NativeCookie) async {
            if let cookie = cookie.httpCookie { await deleteCookie(cookie) }
        }
    }
#endif

/// The scripts of a web view that run at document start: `WKUserContentController`, or a substitute.
@MainActor
public protocol UserScriptHost: AnyObject {
    /// Installs scripts in the place of those that were installed through here before. Others stay.
    func replaceUserScripts(_ scripts: [DocumentStartScript])
}

/// A script that runs at document start, in every frame.
public struct DocumentStartScript: Sendable, Hashable {
    /// Which globals it sees.
    public enum World: Sendable {
        /// The page's own.
        case page
        /// Its own globals, which a page can neither see nor change. `document.cookie` is that of the page.
        case isolated
    }

    /// The source.
    public let source: String
    /// The world.
    public let world: World

    /// A script.
    package init(source: String, world: World) {
        self.source = source
        self.world = world
    }
}

extension DocumentStartScript: ValueHiding {
    /// The world, without the source, which may contain values of cookies.
    public var description: String { "DocumentStartScript (\(world) world, source hidden)" }
}

#if canImport(WebKit)
    internal import Foundation
    public import RequestDecoration
    public import WebKit

    extension NativeCookie {
        /// The property for which Foundation has no public name.
        private static let httpOnly = HTTPCookiePropertyKey("HttpOnly")

        /// A cookie of a `WKHTTPCookieStore`. Foundation has no word for `SameSite=None`, nor for partitions.
        init(_ cookie: HTTPCookie) {
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

        /// The cookie for Foundation; `nil` if Foundation cannot represent it.
        var httpCookie: HTTPCookie? {
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
