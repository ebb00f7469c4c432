public import AsyncHTTPClient
public import CookieModel
public import HTTPTypes
import NIOHTTP1
public import RequestDecoration

/// Header fields are text, sent as UTF-8: cookies that are not UTF-8 stay out, and the report says so.
extension HTTPClientRequest: DecoratableRequest {
    /// Whether header fields hold any octets: they are text.
    public static var carriesAnyOctets: Bool { false }

    /// Whether these octets go out exactly as they are: UTF-8 does.
    public static func carries(_ octets: Octets) -> Bool {
        octets.utf8String != nil
    }

    /// The URL that the request goes to.
    public func requestURL() throws(RequestURLError) -> RequestURL {
        try RequestURL(url)
    }

    /// The method as it is sent.
    public var requestMethod: String { method.rawValue }

    /// Whether the body can be sent again. The client does not tell: whoever follows redirects is asked.
    public var isBodyRepeatable: Bool { true }

    /// Whether there is a header field of that name.
    public func hasField(_ name: HTTPField.Name) -> Bool {
        headers.contains(name: name.canonicalName)
    }

    /// The octets of each header field of that name, in order.
    public func fieldValues(_ name: HTTPField.Name) -> [Octets] {
        headers[name.canonicalName].map { Octets($0) }
    }

    /// Sets one header field in the place of all of that name.
    public mutating func setField(_ name: HTTPField.Name, _ octets: Octets) {
        headers.replaceOrAdd(name: name.rawName, value: String(decoding: octets, as: UTF8.self))
    }

    /// Takes away all header fields of that name.
    public mutating func removeField(_ name: HTTPField.Name) {
        headers.remove(name: name.canonicalName)
    }

    /// Makes it a request for another URL.
    public mutating func retarget(to url: RequestURL) throws(RequestURLError) {
        self.url = url.description
    }

    /// Makes it a GET without a body.
    public mutating func becomeGET() {
        method = .GET
        body = nil
    }
}
