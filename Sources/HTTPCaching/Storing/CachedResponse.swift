public import WebPrimitives

/// A stored response to a GET request, without its body.
///
/// It contains everything that its reuse depends on, so a store needs no rules. A store looks up the candidates for a
/// request by origin and path. It may look them up by query as well if no stored response of the path has No-Vary-Search.
///
/// NB: ``nominated`` has values of request fields. A response with `Vary: Cookie` has those of cookies.
public struct CachedResponse: Sendable, Hashable {
    /// The target URI of the request.
    public let url: RequestURL
    /// The status code. A partial response is stored as an incomplete one with status 200.
    public let status: Int
    /// The fields that a cache stores.
    public internal(set) var fields: MessageFields
    /// The request fields that Vary names.
    public internal(set) var nominated: NominatedFields
    /// When the request was sent that this response, or its last validation, answered.
    public internal(set) var requestTime: Timestamp
    /// When that answer was received.
    public internal(set) var responseTime: Timestamp
    /// The part of the representation that is stored.
    public internal(set) var extent: BodyExtent
    /// Whether it must be validated before it is reused, however fresh it is.
    public internal(set) var isInvalid: Bool

    /// A stored response from its parts, as a store has kept them.
    public init(
        url: RequestURL, status: Int, fields: MessageFields, nominated: NominatedFields, requestTime: Timestamp,
        responseTime: Timestamp, extent: BodyExtent, isInvalid: Bool = false
    ) {
        self.url = url
        self.status = status
        self.fields = fields
        self.nominated = nominated
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.extent = extent
        self.isInvalid = isInvalid
    }

    /// The same response, in need of a validation.
    public var invalidated: CachedResponse {
        var response = self
        response.isInvalid = true
        return response
    }
}

extension CachedResponse {
    /// The cache directives.
    var directives: ResponseDirectives { ResponseDirectives(fields) }
    /// The entity tag, if it has one.
    var entityTag: EntityTag? { fields.onlyValue("etag").flatMap(EntityTag.init) }
    /// When the server generated it. A stored response has a Date field that is valid.
    var date: Timestamp { HTTPDate.parse(fields, "date", receivedAt: responseTime) ?? responseTime }
    /// When the representation was last modified.
    var lastModified: Timestamp? { HTTPDate.parse(fields, "last-modified", receivedAt: responseTime) }

    /// Whether Last-Modified is a strong validator (RFC 9110, section 8.8.2.2): the representation cannot have changed
    /// twice in the second of that time, since Date is a minute later, whichever clocks gave them.
    var hasStrongModification: Bool { lastModified.map { $0.advanced(bySeconds: 60) <= date } ?? false }
}

extension HTTPDate {
    /// The date in the only field line of that name; `nil` if there is none, or none that is valid.
    static func parse(_ fields: MessageFields, _ name: StaticString, receivedAt time: Timestamp) -> Timestamp? {
        fields.onlyValue(name).flatMap { parse($0, now: time) }
    }
}
