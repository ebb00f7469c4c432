import CookieModel
import RequestDecoration

/// One request of a chain of redirects: where it goes, and what must not go with it.
struct CurlHop {
    /// Counted from 1.
    private(set) var number = 1
    /// What the cookie rules are asked.
    private(set) var context: RequestContext
    /// Whether the method and the body of the first request are still those.
    private(set) var keepsBody = true
    /// Whether this or an earlier hop left the first origin. Credentials do not come back with the chain.
    private(set) var isForeign = false
    /// Whether an earlier hop went from https to http.
    private(set) var isDowngraded = false
    /// The URL that redirected here.
    private(set) var referrer: RequestURL?

    init(_ context: RequestContext) {
        self.context = context
    }

    /// The hop that a response leads to; `nil` where it is no redirect.
    ///
    /// - Parameter keptPosts: the statuses for which the user wants a POST to stay one.
    func following(_ response: ResponseBlock, keptPosts: Set<Int>) throws -> CurlHop? {
        guard (300...399).contains(response.status), let location = response.location else { return nil }
        // curl follows every 3xx with a Location. Those that the Fetch Standard knows no redirect in change nothing
        // about the request, like 307.
        let changesMethod = [301, 302, 303].contains(response.status)
        let keepsMethod = !changesMethod || (context.method == "POST" && keptPosts.contains(response.status))
        // What stands behind the path may be an authorization code.
        let shown = Octets(Array(location.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
        let found: Redirect?
        do throws(RequestURLError) {
            found = try Redirect(
                status: keepsMethod ? 307 : response.status, location: location, url: context.url,
                method: context.method)
        } catch {
            throw Problem(.redirectInvalid, "\(context.url.origin) redirects to '\(shown)': \(error.description)")
        }
        guard let redirect = found else { return nil }
        guard redirect.url.scheme == .http || redirect.url.scheme == .https else {
            throw Problem(.redirectInvalid, "\(context.url.origin) redirects to '\(shown)': this is not http or https")
        }
        var next = self
        next.number += 1
        next.referrer = context.url
        next.context.redirects.append(context.url)
        next.context.url = redirect.url
        next.context.method = redirect.method
        next.keepsBody = keepsBody && redirect.keepsBody
        next.isForeign = isForeign || redirect.isCrossOrigin
        next.isDowngraded = isDowngraded || (context.url.scheme == .https && redirect.url.scheme == .http)
        return next
    }
}
