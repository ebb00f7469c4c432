public import CookieModel

/// A request and the redirects that it has come through: where it stands, and what must not go on with it.
///
/// Pure: it is told what the answers say, and says what the next request is. ``RedirectedExchange`` joins it with a jar.
public struct RedirectChain: Sendable {
    /// What the cookie rules are asked for the present request: its URL and method, and the URLs that redirected here.
    public private(set) var context: RequestContext
    /// The present request, counted from 1.
    public private(set) var number = 1
    /// Whether method and body are still those of the first request.
    public private(set) var keepsBody = true
    /// Whether this or an earlier redirect left the first origin: what the caller meant for it, credentials and cookies,
    /// stays behind, and does not come back where the chain does.
    public private(set) var hasLeftOrigin = false
    /// Whether an earlier redirect went from https to http.
    public private(set) var isDowngraded = false
    /// How many redirects are followed.
    public let limit: Int

    /// A chain before its first request.
    ///
    /// - Parameters:
    ///   - context: the first request, method and all.
    ///   - limit: how many redirects are followed.
    public init(_ context: RequestContext, limit: Int = Redirect.limit) {
        self.context = context
        self.limit = limit
    }

    /// Whether a request that may change something (RFC 9110, section 9.2.1) was answered with a redirect, as after a form
    /// was posted: sent again from the beginning, it would change the same thing twice.
    package var hasActed: Bool {
        number > 1 && (!keepsBody || !["GET", "HEAD", "OPTIONS", "TRACE"].contains(context.method))
    }

    /// The URL that redirected to the present request; `nil` for the first one.
    public var referrer: RequestURL? { number > 1 ? context.redirects.last : nil }

    /// Goes on to where an answer to the present request redirects.
    ///
    /// - Returns: the redirect; `nil` where the answer is one for the caller: it is no redirect, or one to a URL that is
    ///   not http or https, as to an app of one's own.
    public mutating func follow(status: Int, location: Octets?) throws(RedirectError) -> Redirect? {
        guard let redirect = try redirect(status: status, location: location) else { return nil }
        guard number <= limit else {
            throw exhausted(isLoop: redirect.url == context.url || context.redirects.contains(redirect.url))
        }
        advance(to: redirect)
        return redirect
    }

    /// Why the chain ends where a client says, before ``limit`` is reached, that its own redirects are used up.
    package var exhaustedByClient: RedirectError {
        exhausted(isLoop: context.redirects.contains(context.url))
    }

    private func exhausted(isLoop: Bool) -> RedirectError {
        isLoop
            ? RedirectError(.loop, context.url, "redirects in a loop; a cookie that it wants may not be kept")
            : RedirectError(.tooMany, context.url, "the \(number - 1) redirects that are followed are used up")
    }

    private func redirect(status: Int, location: Octets?) throws(RedirectError) -> Redirect? {
        do {
            return try Redirect(status: status, location: location, url: context.url, method: context.method)
        } catch {
            switch error.code {
            case .schemeUnsupported, .schemeMissing:
                // `tel:1` is read as a host and port that lack a scheme; resolved, it is a scheme all the same.
                return nil
            case .hostInvalid, .portInvalid:
                throw RedirectError(.locationInvalid, context.url, "redirects to what is no URL: \(error)")
            }
        }
    }

    /// Goes on to a redirect, whatever the limit is.
    package mutating func advance(to redirect: Redirect) {
        number += 1
        keepsBody = keepsBody && redirect.keepsBody
        hasLeftOrigin = hasLeftOrigin || redirect.isCrossOrigin
        isDowngraded = isDowngraded || (context.url.scheme == .https && redirect.url.scheme == .http)
        context.redirects.append(context.url)
        context.url = redirect.url
        context.method = redirect.method
    }
}
