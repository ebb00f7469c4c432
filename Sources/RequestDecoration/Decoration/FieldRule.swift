import CookieModel
public import HTTPTypes

/// A header field that goes onto requests, and for which URLs.
public struct FieldRule: Sendable, Hashable {
    /// The field.
    public let field: HTTPField
    /// The URLs it is for; `nil` for all of them. A field that is a secret, as an API key is, needs a scope.
    public let scope: URLScope?

    /// A rule from its parts.
    public init(_ field: HTTPField, scope: URLScope? = nil) {
        self.field = field
        self.scope = scope
    }

    /// Why the field stays off a request, or `nil` if it goes.
    ///
    /// Of several reasons, the first one counts that another request would not change: what the rule is, where it is for,
    /// what the request has already, what another rule has set.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - isSetByCaller: Whether the request has a field of the name already.
    ///   - isSetByOtherRule: Whether a rule before this one has set the field.
    func omission(
        from url: RequestURL, isSetByCaller: @autoclosure () -> Bool, isSetByOtherRule: Bool
    ) -> FieldOmissionReason? {
        if FieldRule.reserved.contains(field.name) { return .reserved }
        if let scope, !scope.contains(url) { return .outsideScope }
        // A field that a rule has set is on the request, too.
        if isSetByOtherRule { return .setByOtherRule }
        return isSetByCaller() ? .setByCaller : nil
    }

    /// The fields that a rule cannot set: cookies come from the jar, credentials from an ``AuthorizationRule``, and the
    /// others from the client, which knows the message that they describe (RFC 9110, section 7.6.1; RFC 9112).
    static let reserved: Set<HTTPField.Name> = {
        let names = ["dpop", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]
        return Set(
            names.compactMap { HTTPField.Name($0) } + [
                .authorization, .connection, .contentLength, .cookie, .proxyAuthorization, .setCookie,
            ])
    }()
}
