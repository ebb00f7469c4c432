public import CookieModel
public import HTTPTypes
public import RequestDecoration

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Header fields are text: cookies that text cannot carry exactly are omitted and reported.
extension URLRequest: DecoratableRequest {
    /// Whether header fields can carry any octets: `false`, since they are text.
    public static var carriesAnyOctets: Bool { false }

    /// Whether the octets are sent unchanged: UTF-8 on Linux, ASCII elsewhere.
    public static func carries(_ octets: Octets) -> Bool {
        HeaderText.carries(octets)
    }

    /// The URL of the request.
    public func requestURL() throws(RequestURLError) -> RequestURL {
        try RequestURL(url?.absoluteString ?? "")
    }

    /// The method.
    public var requestMethod: String { httpMethod ?? "GET" }

    /// Whether the body can be sent again: `true` unless it is a stream.
    public var isBodyRepeatable: Bool { httpBodyStream == nil }

    /// Whether the request has a header field with that name.
    public func hasField(_ name: HTTPField.Name) -> Bool {
        value(forHTTPHeaderField: name.rawName) != nil
    }

    /// The octets of the header field with that name. Foundation has at most one.
    public func fieldValues(_ name: HTTPField.Name) -> [Octets] {
        value(forHTTPHeaderField: name.rawName).map { [Octets($0)] } ?? []
    }

    /// Sets the header field with that name.
    public mutating func setField(_ name: HTTPField.Name, _ octets: Octets) {
        setValue(HeaderText.text(octets), forHTTPHeaderField: name.rawName)
    }

    /// Removes the header field with that name.
    public mutating func removeField(_ name: HTTPField.Name) {
        setValue(nil, forHTTPHeaderField: name.rawName)
    }

    /// Changes the URL of the request.
    public mutating func retarget(to url: RequestURL) throws(RequestURLError) {
        guard let url = URL(string: url.description) else { throw RequestURLError(code: .hostInvalid) }
        self.url = url
    }

    /// Changes the method to GET and removes the body.
    public mutating func becomeGET() {
        httpMethod = "GET"
        httpBody = nil
        httpBodyStream = nil
    }

    /// Turns off Foundation's own cookies. On Linux, Foundation ignores this: use
    /// ``Foundation/URLSessionConfiguration/withoutClientCookies`` for the session.
    public mutating func refuseClientCookies() {
        httpShouldHandleCookies = false
    }
}

/// Octets in Foundation's header fields, which are text.
///
/// Foundation on Linux sends text as UTF-8 and decodes what it receives as UTF-8. Apple's decodes it as Latin-1; the
/// way in which it sends text that is not ASCII is not documented.
enum HeaderText {
    /// Whether these octets go out exactly as they are.
    static func carries(_ octets: Octets) -> Bool {
        #if canImport(FoundationNetworking)
            octets.utf8String != nil
        #else
            octets.allSatisfy { $0 < 0x80 }
        #endif
    }

    /// Octets as text for a field; they are some that a field carries.
    static func text(_ octets: Octets) -> String {
        String(decoding: octets, as: UTF8.self)
    }

    /// The text that Foundation makes of a field that it receives.
    static func received(_ octets: Octets) -> String {
        #if canImport(FoundationNetworking)
            String(decoding: octets, as: UTF8.self)
        #else
            String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
        #endif
    }

    /// The octets of a field that was received.
    static func octets(received text: String) -> Octets {
        #if !canImport(FoundationNetworking)
            let scalars = text.unicodeScalars
            if scalars.allSatisfy({ $0.value < 0x100 }) {
                return Octets(scalars.map { UInt8(truncatingIfNeeded: $0.value) })
            }
        #endif
        return Octets(text)
    }
}

extension URLSessionConfiguration {
    /// This configuration without Foundation's own cookies. On Linux, these would replace the jar's cookies, and they
    /// would be stored a second time, unencrypted.
    public var withoutClientCookies: URLSessionConfiguration {
        guard let configuration = copy() as? URLSessionConfiguration else { return self }
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        return configuration
    }
}
