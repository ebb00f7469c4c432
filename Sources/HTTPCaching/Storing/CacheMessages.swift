public import WebPrimitives

/// A request as a cache sees it: after everything that identifies its user was added.
public struct CacheRequest: Sendable {
    /// The method. Methods are case-sensitive.
    package var method: Octets
    /// The target URI.
    package var url: RequestURL
    /// The fields.
    package var fields: MessageFields

    /// A request from its parts.
    public init(method: Octets = "GET", url: RequestURL, fields: MessageFields = [:]) {
        self.method = method
        self.url = url
        self.fields = fields
    }

    /// Whether the method is one that is known to be safe (RFC 9110, section 9.2.1).
    var isSafe: Bool { isAnswerable || method == "OPTIONS" || method == "TRACE" }
    /// Whether the method is GET or HEAD, so that a stored response may answer it.
    package var isAnswerable: Bool { isGet || method.withSpan { $0.equals("HEAD") } }
    /// Whether the method is GET.
    var isGet: Bool { method.withSpan { $0.equals("GET") } }
    /// The cache directives.
    var directives: RequestDirectives { RequestDirectives(fields) }
}

/// A response as it came from the server that the request was forwarded to.
public struct OriginResponse: Sendable {
    /// The status code.
    package var status: Int
    /// The fields of its header section. Trailer fields are not stored (RFC 9111, section 3.1).
    package var fields: MessageFields
    /// When the request was sent.
    package var requestTime: Timestamp
    /// When the header section was received.
    package var responseTime: Timestamp

    /// A response from its parts.
    public init(status: Int, fields: MessageFields, requestTime: Timestamp, responseTime: Timestamp) {
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// The cache directives.
    var directives: ResponseDirectives { ResponseDirectives(fields) }
}

/// The part of a representation that is stored.
package enum BodyExtent: Sendable, Hashable {
    /// All of it. The length is unknown only until the body was received.
    case whole(length: Int64?)
    /// A range of positions, and the length of the whole if it is known.
    case part(Range<Int64>, total: Int64?)

    /// The length of the whole representation, if it is known.
    package var total: Int64? {
        switch self {
        case .whole(let length): length
        case .part(_, let total): total
        }
    }

    /// Whether the representation is stored completely.
    var isWhole: Bool { if case .whole = self { true } else { false } }
}
