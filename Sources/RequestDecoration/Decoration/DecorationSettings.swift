import HTTPTypes
public import OAuth2

/// What goes onto the requests of a jar besides its cookies. The caller's own field always wins.
public struct DecorationSettings: Sendable {
    /// The header fields, each for its URLs.
    public var fields: [FieldRule]
    /// The value of the field `User-Agent`; `nil` leaves it to the client.
    public var userAgent: String?
    /// Which URLs get an `Authorization` field; the first rule that a URL is within the scope of counts.
    public var authorization: [AuthorizationRule]
    /// The nonces that servers want in the proofs of bound tokens; decorators that go to the same servers share them.
    public var nonces = DPoPNonces()

    /// Settings from their parts; without any, cookies are all that goes onto a request.
    public init(
        fields: [FieldRule] = [], userAgent: String? = nil, authorization: [AuthorizationRule] = []
    ) {
        self.fields = fields
        self.userAgent = userAgent
        self.authorization = authorization
    }

    /// Whether there is nothing to set.
    var isEmpty: Bool { fields.isEmpty && userAgent == nil && authorization.isEmpty }

    /// The fields with their scopes, the user agent's among them.
    var rules: [FieldRule] {
        guard let userAgent else { return fields }
        return fields + [FieldRule(HTTPField(name: .userAgent, value: userAgent))]
    }
}
