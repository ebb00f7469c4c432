public import CookieModel
import HTTPTypes

/// A request with its redirects: the current URL, and the parts of the request that must not be sent to it.
///
/// Pure: pass it each response, and it returns the next request.
public struct RedirectChain: Sendable {
    /// The context of the current request for the cookie rules: its URL and method, and the URLs that redirected to it.
    package private(set) var context: RequestContext
    /// The number of the current request, from 1.
    package private(set) var number = 1
    /// Whether method and body are still those of the first request.
    public private(set) var keepsBody = true
    /// Whether this or an earlier redirect left the first origin. The caller's credentials and cookies for it are then
    /// dropped, even if the chain returns.
    package private(set) var hasLeftOrigin = false
    /// Whether an earlier redirect went from https to http.
    package private(set) var isDowngraded = false
    /// The maximum number of redirects.
    package let limit: Int
    /// Returns the name of the login whose token an Authorization field of the current request presents; `nil` if the
    /// token is not a stored one.
    package var login: (@Sendable (Octets) async throws -> Octets?)?

    /// Creates a chain before its first request.
    ///
    /// - Parameters:
    ///   - context: the first request, method and all.
    ///   - limit: how many redirects are followed.
    package init(_ context: RequestContext, limit: Int = Redirect.limit) {
        self.context = context
        self.limit = limit
    }

    /// Whether a request that may change something (RFC 9110, section 9.2.1) was answered with a redirect, as after a form
    /// was posted: sent again from the beginning, it would change the same thing twice.
    package var hasActed: Bool {
        number > 1 && !(keepsBody && context.hasSafeMethod)
    }

    /// The URL that redirected to the current request; `nil` for the first one.
    package var referrer: RequestURL? { number > 1 ? context.redirects.last : nil }

    /// Follows the redirect of a response to the current request.
    ///
    /// - Returns: The redirect; `nil` if the response is not a redirect, or redirects to a URL that is not http or
    ///   https, such as that of an app.
    package mutating func follow(status: Int, location: Octets?) throws(RedirectError) -> Redirect? {
        guard let redirect = try redirect(status: status, location: location) else { return nil }
        guard number <= limit else {
            throw exhausted(isLoop: redirect.url == context.url || context.redirects.contains(redirect.url))
        }
        advance(to: redirect)
        return redirect
    }

    /// Whether the caller never gets the response to the current request, so that its body is of no use: a redirect that is
    /// followed, or that ends the chain with an error.
    package func discards(_ response: ResponseHead) -> Bool {
        var next = self
        do {
            return try next.follow(status: response.status, location: response.location) != nil
        } catch {
            return true
        }
    }

    private func exhausted(isLoop: Bool) -> RedirectError {
        isLoop
            ? RedirectError(.loop, context.url, "redirects in a loop; the jar may not store a cookie that it requires")
            : RedirectError(.tooMany, context.url, "the limit of \(number - 1) redirects is reached")
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
                throw RedirectError(.locationInvalid, context.url, "redirects to an invalid URL: \(error)")
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

extension RedirectChain {
    /// The fields that describe a body and go where it goes (Fetch Standard, "request-body-header name", and those of
    /// the message itself).
    package static let bodyFieldNames = [
        "content-encoding", "content-language", "content-length", "content-location", "content-type", "expect",
        "trailer", "transfer-encoding",
    ]
    private static let bodyFields = bodyFieldNames.compactMap { HTTPField.Name($0) }

    /// The fields that are for the first origin alone: credentials, and the caller's own cookies.
    private static let originFields: [HTTPField.Name] =
        [.authorization, .proxyAuthorization, .cookie] + ["DPoP"].compactMap { HTTPField.Name($0) }

    /// The current request, derived from the first one. It is not decorated yet.
    ///
    /// - Parameter isBodyRepeatable: whether the body can be sent again, if the request itself does not tell.
    /// - Throws: ``RedirectError/Code/bodyNotRepeatable`` if the body is needed again and cannot be repeated.
    package func request<Request: DecoratableRequest>(
        from first: Request, isBodyRepeatable: Bool = true
    ) throws(RedirectError) -> Request {
        guard number > 1 else { return first }
        var request = first
        do {
            try request.retarget(to: context.url)
        } catch {
            throw RedirectError(
                .locationInvalid, referrer ?? context.url, "redirects to a URL that the client does not accept")
        }
        if !keepsBody {
            request.becomeGET()
            for name in RedirectChain.bodyFields { request.removeField(name) }
        } else if !first.isBodyRepeatable || !isBodyRepeatable {
            throw RedirectError(bodyNotRepeatableIn: self)
        }
        if hasLeftOrigin {
            for name in RedirectChain.originFields { request.removeField(name) }
            trimReferer(of: &request)
        }
        return request
    }

    /// Leaves only the origin in the Referer field, as with the policy that browsers have by default:
    /// strict-origin-when-cross-origin.
    private func trimReferer<Request: DecoratableRequest>(of request: inout Request) {
        guard let referer = request.fieldValues(.referer).first else { return }
        request.removeField(.referer)
        guard let page = try? RequestURL(referer.description), page.scheme != .https || context.url.scheme == .https
        else { return }
        request.setField(.referer, Octets("\(page.origin)/"))
    }
}

/// The request that follows a redirect, by the Fetch Standard's "HTTP-redirect fetch".
public struct Redirect: Sendable, Hashable {
    /// The most redirects that are followed, as in the Fetch Standard.
    public static let limit = 20

    /// Where the next request goes.
    package let url: RequestURL
    /// The method of the next request.
    package let method: String
    /// Whether the next request keeps the body and the header fields that describe it.
    package let keepsBody: Bool
    /// Whether scheme, host or port change, so `Authorization` and other fields for one origin are dropped.
    package let isCrossOrigin: Bool

    /// The redirect of a response; `nil` if it is not a redirect.
    ///
    /// - Parameters:
    ///   - status: the response's status code.
    ///   - location: its Location field value, if it has one.
    ///   - url: the URL that was requested.
    ///   - method: the method that was used, upper case.
    /// - Throws: An error if the Location is not a URL that can be requested.
    package init?(
        status: Int, location: Octets?, url: RequestURL, method: String
    ) throws(RequestURLError) {
        guard [301, 302, 303, 307, 308].contains(status), let location else { return nil }
        let target = try url.resolving(location)
        guard target.scheme == .http || target.scheme == .https else {
            throw RequestURLError(code: .schemeUnsupported)
        }
        self.url = target
        isCrossOrigin = !target.isSameOrigin(as: url)
        let becomesGet =
            ((status == 301 || status == 302) && method == "POST")
            || (status == 303 && method != "GET" && method != "HEAD")
        self.method = becomesGet ? "GET" : method
        keepsBody = !becomesGet
    }
}

/// Why a chain of redirects failed: a stable code, the origin that redirected, and one sentence with the next step.
///
/// Contains no path and no query, which may be secret.
public struct RedirectError: DescribedError, Hashable, Sendable {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The Location is not a URL that can be requested.
        package static let locationInvalid = Code(rawValue: "redirect-location-invalid")
        /// The limit of redirects is reached, without a loop.
        package static let tooMany = Code(rawValue: "redirect-too-many")
        /// The limit of redirects is reached, because of a loop.
        package static let loop = Code(rawValue: "redirect-loop")
        /// The next request needs the body again, which can be sent only once.
        package static let bodyNotRepeatable = Code(rawValue: "redirect-body-not-repeatable")
    }

    /// The reason why the chain ends.
    public let code: Code
    /// The origin that redirected.
    package let origin: String
    let detail: String

    package init(_ code: Code, _ url: RequestURL, _ detail: String) {
        self.code = code
        origin = url.origin
        self.detail = detail
    }

    /// The error of a chain whose present request needs a body that can be sent only once.
    package init(bodyNotRepeatableIn chain: RedirectChain) {
        self.init(
            .bodyNotRepeatable, chain.referrer ?? chain.context.url,
            "redirects and requires the body again; pass it as data, not as a stream")
    }

    /// One sentence that names the origin and the remedy.
    public var description: String { "\(origin): \(detail)" }
}
