import CookieModel
import RequestDecoration
import SessionOperations

extension RedirectChain {
    /// The chain behind a response that curl would follow; `nil` where it would not.
    ///
    /// - Parameter keptPosts: the statuses for which the user wants a POST to stay one.
    func following(_ response: ResponseBlock, keptPosts: Set<Int>) throws -> RedirectChain? {
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
        var next = self
        next.advance(to: redirect)
        return next
    }
}
