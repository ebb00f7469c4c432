import CookieModel
import HTTPTypes

extension RedirectChain {
    /// The fields that describe a body and go where it goes (Fetch Standard, "request-body-header name", and those of
    /// the message itself).
    package static let bodyFieldNames = [
        "content-encoding", "content-language", "content-length", "content-location", "content-type", "expect",
        "trailer", "transfer-encoding",
    ]
    private static let bodyFields = bodyFieldNames.compactMap { HTTPField.Name($0) }

    /// The fields that are for the first origin alone: credentials, and the caller's own cookies.
    static let originFields: [HTTPField.Name] =
        [.authorization, .proxyAuthorization, .cookie] + ["DPoP"].compactMap { HTTPField.Name($0) }

    /// The present request, made from the first one as the caller gave it; not yet decorated.
    ///
    /// - Parameter isBodyRepeatable: whether the body can be sent again, where the request itself does not tell.
    /// - Throws: ``RedirectError/Code/bodyNotRepeatable`` where a body would have to go once more and cannot.
    public func request<Request: DecoratableRequest>(
        from first: Request, isBodyRepeatable: Bool = true
    ) throws(RedirectError) -> Request {
        guard number > 1 else { return first }
        var request = first
        do {
            try request.retarget(to: context.url)
        } catch {
            throw RedirectError(
                .locationInvalid, referrer ?? context.url, "redirects to what the client takes for no URL")
        }
        if !keepsBody {
            request.becomeGET()
            for name in RedirectChain.bodyFields { request.removeField(name) }
        } else if !first.isBodyRepeatable || !isBodyRepeatable {
            throw RedirectError(bodyNotRepeatableIn: self)
        }
        if hasLeftOrigin {
            for name in RedirectChain.originFields { request.removeField(name) }
        }
        return request
    }
}
