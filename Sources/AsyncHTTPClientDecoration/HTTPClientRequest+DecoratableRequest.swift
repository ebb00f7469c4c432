public import AsyncHTTPClient
public import CookieModel
public import HTTPTypes
import NIOCore
import NIOHTTP1
public import RequestDecoration

/// Header fields are text, sent as UTF-8: cookies that are not UTF-8 are omitted and reported.
extension HTTPClientRequest: DecoratableRequest {
    /// Whether header fields can carry any octets: `false`, since they are text.
    public static var carriesAnyOctets: Bool { false }

    /// Whether the octets are sent unchanged: `true` for UTF-8.
    public static func carries(_ octets: Octets) -> Bool {
        octets.utf8String != nil
    }

    /// The URL of the request.
    public func requestURL() throws(RequestURLError) -> RequestURL {
        try RequestURL(url)
    }

    /// The method.
    public var requestMethod: String { method.rawValue }

    /// Whether the body can be sent again: `true`, since the caller states this separately.
    public var isBodyRepeatable: Bool { true }

    /// Whether the request has a header field with that name.
    public func hasField(_ name: HTTPField.Name) -> Bool {
        headers.contains(name: name.canonicalName)
    }

    /// The octets of each header field with that name, in order.
    public func fieldValues(_ name: HTTPField.Name) -> [Octets] {
        headers[name.canonicalName].map { Octets($0) }
    }

    /// Replaces all header fields with that name by one.
    public mutating func setField(_ name: HTTPField.Name, _ octets: Octets) {
        headers.replaceOrAdd(name: name.rawName, value: String(decoding: octets, as: UTF8.self))
    }

    /// Removes all header fields with that name.
    public mutating func removeField(_ name: HTTPField.Name) {
        headers.remove(name: name.canonicalName)
    }

    /// Changes the URL of the request.
    public mutating func retarget(to url: RequestURL) throws(RequestURLError) {
        self.url = url.description
    }

    /// Changes the method to GET and removes the body.
    public mutating func becomeGET() {
        method = .GET
        body = nil
    }
}

extension HTTPClientRequest {
    /// Whether AsyncHTTPClient itself would send the body again at a redirect. It knows, but does not offer it: what it
    /// knows is read by reflection. A body of a new kind cannot be repeated.
    var hasBodyInMemory: Bool {
        guard let body else { return true }
        let mirror = Mirror(reflecting: body)
        return mirror.descendant("mode", "byteBuffer") is ByteBuffer
            || mirror.descendant("mode", "sequence", "canBeConsumedMultipleTimes") as? Bool ?? false
    }
}
