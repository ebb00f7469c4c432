public import HTTPTypes
internal import WebPrimitives

/// A request to an authorization server, ready to be sent.
///
/// It contains secrets, so it prints only method and URL. The members for transports have names that begin with
/// `exposed`.
public struct EndpointRequest: Sendable, Equatable {
    /// The endpoint to send the request to.
    public let endpoint: EndpointURL
    /// `POST` with a form, or `GET`.
    package let method: HTTPRequest.Method
    private let accept: String
    private let authorization: Secret?
    private let body: Secret
    private let contentType: String?
    /// The access token that the request presents and that is bound to a key.
    let boundToken: Secret?
    private var proof: Secret?
    private var clientCertificate: Secret?
    /// The latest time to begin sending the request; `nil` for no limit.
    ///
    /// A transport checks the time before it writes the body, after it has connected. The clock is monotonic and cannot be set,
    /// and that runs while the machine sleeps.
    public private(set) var latestSending: ContinuousClock.Instant?
    /// How long to wait for the complete response; `nil` if the transport decides.
    ///
    /// The response to a refresh has the only copy of the next refresh token, so wait longer for a slow server.
    public private(set) var answerTimeout: Duration?

    private init(
        _ method: HTTPRequest.Method, _ endpoint: EndpointURL, accept: String = "application/json",
        authorization: Secret? = nil, body: Secret = Secret([]), contentType: String? = nil, boundToken: Secret? = nil
    ) {
        (self.method, self.endpoint, self.accept) = (method, endpoint, accept)
        (self.authorization, self.body, self.contentType) = (authorization, body, contentType)
        self.boundToken = boundToken
    }

    /// A form that a client posts (RFC 6749, section 3.2).
    init(endpoint: EndpointURL, authentication: ClientAuthentication, body: FormBody) {
        var body = body
        authentication.addParameters(to: &body)
        self.init(
            .post, endpoint, authorization: authentication.authorization, body: body.secret,
            contentType: FormEncoding.mediaType)
    }

    /// A JSON object, sent with an access token if there is one.
    init(endpoint: EndpointURL, sending object: JSONObjectWriter, token: Secret?) {
        self.init(
            .post, endpoint, authorization: token.map { Secret(Array("Bearer ".utf8) + $0.exposedBytes) },
            body: Secret(object.bytes), contentType: "application/json")
    }

    /// A document that anyone may read.
    package init(reading endpoint: EndpointURL) {
        self.init(.get, endpoint)
    }

    /// Creates a request without a body that presents an access token, such as one to an endpoint that returns a
    /// cookie.
    ///
    /// A bound token needs a ``DPoPTransport`` with its key.
    ///
    /// - Returns: `nil` if no header field can present the token.
    package init?(presenting tokens: TokenSet, to endpoint: EndpointURL) {
        let bound = tokens.exposedBoundField
        guard let field = tokens.exposedAuthorizationField ?? bound else { return nil }
        self.init(
            .post, endpoint, accept: "*/*", authorization: field.withUnsafeBytesOfValue { Secret($0) },
            boundToken: bound == nil ? nil : tokens.accessToken)
    }

    /// The request's head, including the fields that authenticate the client.
    public var exposedHead: HTTPRequest {
        var fields = HTTPFields()
        if let contentType { fields[.contentType] = contentType }
        fields[.accept] = accept
        if let authorization { fields.append(EndpointRequest.field(.authorization, authorization)) }
        if let proof, let name = HTTPField.Name("DPoP") { fields.append(EndpointRequest.field(name, proof)) }
        return HTTPRequest(
            method: method, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.path,
            headerFields: fields)
    }

    /// The request's body.
    public var exposedBody: [UInt8] { body.exposedBytes }

    /// The client's certificate for the connection, with its private key, as one PEM text. `nil` for none.
    public var exposedClientCertificate: [UInt8]? { clientCertificate?.exposedBytes }

    /// The same request over a connection on which the client shows a certificate (RFC 8705).
    func showing(_ certificate: Secret) -> Self {
        var request = self
        request.clientCertificate = certificate
        return request
    }

    /// The same request with a proof that the client has a key (RFC 9449, section 4).
    func proving(with proof: Secret) -> Self {
        var request = self
        request.proof = proof
        return request
    }

    /// The same request, which must be sent before that moment.
    ///
    /// - Parameter timeout: how long the answer is worth waiting for.
    package func sent(before moment: ContinuousClock.Instant, answeredWithin timeout: Duration) -> Self {
        var request = self
        request.latestSending = moment
        request.answerTimeout = timeout
        return request
    }

    private static func field(_ name: HTTPField.Name, _ value: Secret) -> HTTPField {
        var field = HTTPField(name: name, value: value.exposedBytes)
        field.indexingStrategy = .disallow
        return field
    }
}

extension EndpointRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// Method and URL, without the query.
    public var description: String { "\(method.rawValue) \(endpoint.withoutQuery)" }

    /// Method and URL, without the query.
    public var debugDescription: String { description }
}

/// The response of an authorization server. It may contain secrets, so it prints only its status.
public struct EndpointResponse: Sendable {
    /// The status.
    public let status: HTTPResponse.Status
    /// The header fields.
    public let exposedFields: HTTPFields
    /// The body without content encodings, of at most one byte more than ``maximumBodySize``.
    public let exposedBody: [UInt8]

    /// The endpoint that responded, for errors; `nil` if the transport does not set it.
    package var endpoint: EndpointURL?

    /// The maximum number of bytes of a body that are read. A transport can stop one byte after it.
    public static let maximumBodySize = 1_048_576

    /// Creates a response from its parts.
    public init(status: HTTPResponse.Status, fields: HTTPFields = HTTPFields(), body: [UInt8]) {
        self.status = status
        exposedFields = fields
        exposedBody = body
    }

    var isSuccess: Bool { (200..<300).contains(statusCode) }

    /// The status as a number.
    package var statusCode: Int { status.code }

    /// The members of a successful reply.
    ///
    /// - Throws: The server's error, or the defect of the reply.
    func members(redacting secrets: [Secret]) throws(OAuth2Error) -> JSONObject {
        do {
            return try ReplyBody.members(ofReply: exposedBody, status: statusCode, redacting: secrets)
        } catch {
            throw error.annotated(by: self)
        }
    }

    /// Accepts a success whatever its body is.
    package func expectSuccess(redacting secrets: [Secret] = []) throws(OAuth2Error) {
        guard !isSuccess else { return }
        _ = try members(redacting: secrets)
    }
}

extension EndpointResponse: CustomStringConvertible, CustomReflectable {
    /// The status.
    public var description: String { "\(status.code)" }

    /// A mirror with only the status.
    public var customMirror: Mirror { Mirror(self, children: ["status": status.code]) }
}

/// Sends requests to authorization servers: an HTTP client, or a test.
///
/// A transport follows no redirects, verifies the server's certificate, presents the client's
/// (``EndpointRequest/exposedClientCertificate``) on a connection that no other client uses, gives up after a time of its own, and stops
/// receiving a body after ``EndpointResponse/maximumBodySize`` bytes and one more. It sends no request after its
/// ``EndpointRequest/latestSending``.
public protocol EndpointTransport: Sendable {
    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: ``OAuth2Error/init(unreachable:)``: the request may or may not have been received.
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse
}
