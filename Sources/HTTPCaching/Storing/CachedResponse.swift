public import WebPrimitives

/// A stored response that answers GET and HEAD requests, without its body.
///
/// It contains everything that its reuse depends on, so a store needs no rules. A store looks up the candidates for a
/// request by origin and path. It may look them up by query as well if no stored response of the path has No-Vary-Search.
///
/// NB: It has values of request fields. A response with `Vary: Cookie` has those of cookies. A store has to seal them like
/// ``fields``.
public struct CachedResponse: Sendable, Hashable {
    /// The target URI of the request.
    public let url: RequestURL
    /// The status code. A partial response is stored as an incomplete one with status 200.
    public let status: Int
    /// The fields that a cache stores.
    public internal(set) var fields: MessageFields {
        didSet {
            directives = ResponseDirectives(fields)
            date = CachedResponse.date(fields, responseTime)
        }
    }
    /// The cache directives among them, which each decision reads several times.
    private(set) var directives: ResponseDirectives
    /// When the server generated it. A stored response has a Date field that is valid.
    private(set) var date: Timestamp
    /// The request fields that Vary names.
    package internal(set) var nominated: NominatedFields
    /// When the request was sent that this response, or its last validation, answered.
    package internal(set) var requestTime: Timestamp
    /// When that answer was received.
    package internal(set) var responseTime: Timestamp {
        didSet { date = CachedResponse.date(fields, responseTime) }
    }
    /// The part of the representation that is stored.
    package internal(set) var extent: BodyExtent
    /// Whether it must be validated before it is reused, however fresh it is.
    package internal(set) var isInvalid: Bool
    /// When the response was last invalidated by another one. Neither a validation nor a response that was requested before
    /// that undoes it.
    package internal(set) var invalidatedAt: Timestamp?
    /// Whether the response may be stored although its message breaks off. Only a response that is not received yet may.
    var mayBeIncomplete = false

    /// A stored response from its parts, as a store has kept them.
    package init(
        url: RequestURL, status: Int, fields: MessageFields, nominated: NominatedFields, requestTime: Timestamp,
        responseTime: Timestamp, extent: BodyExtent, isInvalid: Bool = false, invalidatedAt: Timestamp? = nil
    ) {
        self.url = url
        self.status = status
        self.fields = fields
        directives = ResponseDirectives(fields)
        date = CachedResponse.date(fields, responseTime)
        self.nominated = nominated
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.extent = extent
        self.isInvalid = isInvalid
        self.invalidatedAt = invalidatedAt
    }

    /// The same response, in need of a validation. Any later validation will do.
    package var invalidated: CachedResponse {
        var response = self
        response.isInvalid = true
        return response
    }

    /// The same response, in need of a validation that is requested after a time.
    package func invalidated(at time: Timestamp) -> CachedResponse {
        var response = invalidated
        response.invalidatedAt = max(time, invalidatedAt ?? time)
        return response
    }

    /// Notes that what the response is about was invalidated at a time.
    mutating func inherit(_ invalidation: Timestamp) {
        invalidatedAt = max(invalidation, invalidatedAt ?? invalidation)
        if isRequestedBeforeInvalidation { isInvalid = true }
    }

    /// Whether the response was requested before the last invalidation.
    ///
    /// An invalidation that is more than a day after the response has the time of a clock that was set back since.
    var isRequestedBeforeInvalidation: Bool {
        invalidatedAt.map { requestTime <= $0 && $0 <= responseTime.advanced(bySeconds: 86_400) } ?? false
    }
}

extension CachedResponse {
    /// Whether its fields allow it to be stored. A validation may have changed them.
    var mayBeStored: Bool {
        !directives.forbidsStoring(status) && !FieldList.members(fields.values("vary")).contains("*")
    }
    /// The entity tag, if it has one.
    var entityTag: EntityTag? { fields.onlyValue("etag").flatMap(EntityTag.init) }
    private static func date(_ fields: MessageFields, _ responseTime: Timestamp) -> Timestamp {
        HTTPDate.parse(fields, "date", receivedAt: responseTime) ?? responseTime
    }
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
