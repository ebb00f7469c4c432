public import RequestDecoration

/// A web view's own cookie store: `WKHTTPCookieStore`, or what stands in for it.
@MainActor
public protocol NativeCookieStore: AnyObject {
    /// Everything it holds, `HttpOnly` included.
    func nativeCookies() async -> [NativeCookie]
    /// Puts a cookie in, in the place of one with the same identity; returns when a request would carry it.
    func putNativeCookie(_ cookie: NativeCookie) async
    /// Takes a cookie out.
    func removeNativeCookie(_ cookie: NativeCookie) async
}
