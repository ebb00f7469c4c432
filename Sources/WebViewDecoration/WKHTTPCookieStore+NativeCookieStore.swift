#if canImport(WebKit)
    public import RequestDecoration
    public import WebKit

    extension WKHTTPCookieStore: NativeCookieStore {
        /// Everything the store holds, `HttpOnly` included.
        public func nativeCookies() async -> [NativeCookie] {
            await allCookies().map { NativeCookie($0) }
        }

        /// Puts a cookie in; what Foundation has no cookie for is left out.
        public func putNativeCookie(_ cookie: NativeCookie) async {
            if let cookie = cookie.httpCookie { await setCookie(cookie) }
        }

        /// Takes a cookie out.
        public func removeNativeCookie(_ cookie: NativeCookie) async {
            if let cookie = cookie.httpCookie { await deleteCookie(cookie) }
        }
    }
#endif
