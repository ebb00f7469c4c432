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
