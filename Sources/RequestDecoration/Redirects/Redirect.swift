public import CookieModel

/// What a redirect makes of the request that it answers: the Fetch Standard's "HTTP-redirect fetch".
public struct Redirect: Sendable, Hashable {
    /// The most redirects that are followed, as in the Fetch Standard.
    public static let limit = 20

    /// Where the next request goes.
    public let url: RequestURL
    /// The method of the next request.
    public let method: String
    /// Whether the next request keeps the body and the header fields that describe it.
    public let keepsBody: Bool
    /// Whether scheme, host or port change: `Authorization` and whatever else is meant for one origin stays behind.
    public let isCrossOrigin: Bool

    /// The redirect that a response asks for; `nil` where it asks for none.
    ///
    /// - Parameters:
    ///   - status: the response's status code.
    ///   - location: its Location field value, if it has one.
    ///   - url: the URL that was requested.
    ///   - method: the method that was used, upper case.
    /// - Throws: where the Location is no URL that can be requested.
    public init?(
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
