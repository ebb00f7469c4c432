public import CookieModel
public import HTTPTypes

/// A request of some HTTP client that a ``RequestDecorator`` can put header fields on.
///
/// `HTTPRequest` is one; the requests of URLSession and AsyncHTTPClient are made one by the libraries
/// `URLSessionDecoration` and `AsyncHTTPClientDecoration`.
public protocol DecoratableRequest: Sendable {
    /// Whether header fields hold any octets: those of a client that takes text do not.
    static var carriesAnyOctets: Bool { get }

    /// Whether these octets go out exactly as they are where they are set as a field's value.
    static func carries(_ octets: Octets) -> Bool

    /// The URL that the request goes to.
    func requestURL() throws(RequestURLError) -> RequestURL

    /// The method as it is sent.
    var requestMethod: String { get }

    /// Whether the request's body, if it has one, can be sent a second time: that of a stream cannot.
    var isBodyRepeatable: Bool { get }

    /// Whether there is a header field of that name.
    func hasField(_ name: HTTPField.Name) -> Bool

    /// The octets of each header field of that name, in order.
    func fieldValues(_ name: HTTPField.Name) -> [Octets]

    /// Sets one header field in the place of all of that name. The octets are some that ``carries(_:)``.
    mutating func setField(_ name: HTTPField.Name, _ octets: Octets)

    /// Takes away all header fields of that name.
    mutating func removeField(_ name: HTTPField.Name)

    /// Makes it a request for another URL; everything else stays.
    mutating func retarget(to url: RequestURL) throws(RequestURLError)

    /// Makes it a GET without a body; header fields stay.
    mutating func becomeGET()

    /// Keeps the client from adding cookies of its own, where it has any.
    mutating func refuseClientCookies()
}

extension DecoratableRequest {
    /// Does nothing: most clients have no cookies of their own.
    public mutating func refuseClientCookies() {}
}

/// Octets go as they are; the body is apart from the request, in the transport's hands.
extension HTTPRequest: DecoratableRequest {
    /// Whether header fields hold any octets: they do.
    public static var carriesAnyOctets: Bool { true }

    /// Whether these octets go out exactly as they are: they do, since no cookie and no field holds a line end.
    public static func carries(_ octets: Octets) -> Bool { true }

    /// The URL that scheme, authority and path make.
    public func requestURL() throws(RequestURLError) -> RequestURL {
        try RequestURL((scheme ?? "") + "://" + (authority ?? "") + (path ?? "/"))
    }

    /// The method as it is sent.
    public var requestMethod: String { method.rawValue }

    /// Whether the body can be sent again: the transport knows, and is asked to.
    public var isBodyRepeatable: Bool { true }

    /// Whether there is a header field of that name.
    public func hasField(_ name: HTTPField.Name) -> Bool {
        headerFields.contains(name)
    }

    /// The octets of each header field of that name, in order.
    public func fieldValues(_ name: HTTPField.Name) -> [Octets] {
        guard headerFields.contains(name) else { return [] }
        return headerFields.octets(of: name)
    }

    /// Sets one header field in the place of all of that name.
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

    /// Takes away all header fields of that name.
    public mutating func removeField(_ name: HTTPField.Name) {
        headerFields[fields: name] = []
    }

    /// Makes it a request for another URL.
    public mutating func retarget(to url: RequestURL) throws(RequestURLError) {
        scheme = url.scheme.name
        authority = String(url.origin.dropFirst(url.scheme.name.count + 3))
        path = String(decoding: url.path, as: UTF8.self) + String(decoding: url.query, as: UTF8.self)
    }

    /// Makes it a GET; the transport leaves the body out.
    public mutating func becomeGET() {
        method = .get
    }
}

extension HTTPFields {
    /// The octets of each field of that name, in order.
    func octets(of name: HTTPField.Name) -> [Octets] {
        self[fields: name].map(\.octets)
    }
}

extension HTTPField {
    /// The octets of the value.
    var octets: Octets { withUnsafeBytesOfValue { Octets(Array($0)) } }
}
