public import CookieModel
public import HTTPTypes

/// A request of an HTTP client that a jar can add header fields to.
///
/// `HTTPRequest` conforms. The libraries `URLSessionDecoration` and `AsyncHTTPClientDecoration` add conformances for
/// the requests of URLSession and AsyncHTTPClient.
public protocol DecoratableRequest: Sendable {
    /// Whether header fields hold any octets: those of a client that takes text do not.
    static var carriesAnyOctets: Bool { get }

    /// Whether octets that are set as a field's value are sent unchanged.
    static func carries(_ octets: Octets) -> Bool

    /// The URL that the request goes to.
    func requestURL() throws(RequestURLError) -> RequestURL

    /// The method.
    var requestMethod: String { get }

    /// Whether the request's body, if it has one, can be sent a second time: that of a stream cannot.
    var isBodyRepeatable: Bool { get }

    /// Whether the request has a header field with that name.
    func hasField(_ name: HTTPField.Name) -> Bool

    /// The octets of each header field with that name, in order.
    func fieldValues(_ name: HTTPField.Name) -> [Octets]

    /// Replaces all header fields with that name by one. The octets are some that ``carries(_:)``.
    mutating func setField(_ name: HTTPField.Name, _ octets: Octets)

    /// Removes all header fields with that name.
    mutating func removeField(_ name: HTTPField.Name)

    /// Makes it a request for another URL; everything else stays.
    mutating func retarget(to url: RequestURL) throws(RequestURLError)

    /// Makes it a GET without a body; header fields stay.
    mutating func becomeGET()

    /// Keeps the client from adding cookies of its own.
    mutating func refuseClientCookies()
}

extension DecoratableRequest {
    /// Does nothing, since most clients have no cookie storage of their own.
    public mutating func refuseClientCookies() {}
}

/// Octets go as they are; the body is apart from the request, in the transport's hands.
extension HTTPRequest: DecoratableRequest {
    /// Whether header fields can carry any octets: `true`.
    public static var carriesAnyOctets: Bool { true }

    /// Whether the octets are sent unchanged: `true`, since no cookie and no field contains a line break.
    public static func carries(_ octets: Octets) -> Bool { true }

    /// The URL of the request's scheme, authority and path.
    public func requestURL() throws(RequestURLError) -> RequestURL {
        try RequestURL((scheme ?? "") + "://" + (authority ?? "") + (path ?? "/"))
    }

    /// The method.
    public var requestMethod: String { method.rawValue }

    /// Whether the body can be sent again: `true`, since the transport provides the body.
    public var isBodyRepeatable: Bool { true }

    /// Whether the request has a header field with that name.
    public func hasField(_ name: HTTPField.Name) -> Bool {
        headerFields.contains(name)
    }

    /// The octets of each header field with that name, in order.
    public func fieldValues(_ name: HTTPField.Name) -> [Octets] {
        guard headerFields.contains(name) else { return [] }
        return headerFields.octets(of: name)
    }

    /// Replaces all header fields with that name by one.
    public mutating func setField(_ name: HTTPField.Name, _ octets: Octets) {
        // Octets, not text; and one field, not the several that an assignment of text makes of cookies.
        var field = HTTPField(name: name, lenientValue: octets)
        if name == .authorization { field.indexingStrategy = .disallow }
        if headerFields.contains(name) {
            headerFields[fields: name] = [field]
        } else {
            headerFields.append(field)
        }
    }

    /// Removes all header fields with that name.
    public mutating func removeField(_ name: HTTPField.Name) {
        headerFields[fields: name] = []
    }

    /// Changes the URL of the request.
    public mutating func retarget(to url: RequestURL) throws(RequestURLError) {
        scheme = url.scheme.name
        authority = String(url.origin.dropFirst(url.scheme.name.count + 3))
        path = String(decoding: url.path, as: UTF8.self) + String(decoding: url.query, as: UTF8.self)
    }

    /// Changes the method to GET. The transport omits the body.
    public mutating func becomeGET() {
        method = .get
    }
}

extension HTTPFields {
    /// The octets of each field of that name, in order.
    package func octets(of name: HTTPField.Name) -> [Octets] {
        self[fields: name].map(\.octets)
    }
}

extension HTTPField {
    /// The octets of the value.
    package var octets: Octets { withUnsafeBytesOfValue { Octets(Array($0)) } }
}
