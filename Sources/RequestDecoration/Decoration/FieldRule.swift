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
