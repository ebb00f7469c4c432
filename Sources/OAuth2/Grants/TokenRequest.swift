public import HTTPTypes

/// A request to a token endpoint, ready to be sent (RFC 6749, section 3.2).
///
/// It is full of secrets, so it prints as method and URL only, and what a transport needs is under names that begin
/// with `exposed`. A transport must not follow redirects with it, and need not receive more than
/// ``TokenResponse/maximumBodySize`` bytes of the reply.
public struct TokenRequest: Sendable, Equatable {
    /// Where the request goes.
    public let endpoint: EndpointURL
    private let authorization: Secret?
    private let body: Secret

    init(endpoint: EndpointURL, authentication: ClientAuthentication, body: FormBody) {
        var body = body
        authentication.addParameters(to: &body)
        self.endpoint = endpoint
        self.authorization = authentication.authorization
        self.body = body.secret
    }

    /// The request's head, with the client's authentication where that goes in a field.
    public var exposedHead: HTTPRequest {
        var fields = HTTPFields()
        fields[.contentType] = FormEncoding.mediaType
        fields[.accept] = "application/json"
        if let value = authorization?.exposedBytes {
            var field = HTTPField(name: .authorization, value: value)
            field.indexingStrategy = .disallow
            fields.append(field)
        }
        return HTTPRequest(
            method: .post, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.path,
            headerFields: fields)
    }

    /// The request's body.
    public var exposedBody: [UInt8] { body.exposedBytes }
}

extension TokenRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// Method and URL, without the query.
    public var description: String { "POST \(endpoint.withoutQuery)" }

    /// Method and URL, without the query.
    public var debugDescription: String { description }
}
