public import CookieModel
public import HTTPTypes
public import RequestDecoration

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Header fields are text: cookies that text cannot carry exactly stay out, and the report says so.
extension URLRequest: DecoratableRequest {
    /// Whether header fields hold any octets: they are text.
    public static var carriesAnyOctets: Bool { false }

    /// Whether these octets go out exactly as they are: UTF-8 on Linux, ASCII elsewhere.
    public static func carries(_ octets: Octets) -> Bool {
        HeaderText.carries(octets)
    }

    /// The URL that the request goes to.
    public func requestURL() throws(RequestURLError) -> RequestURL {
        try RequestURL(url?.absoluteString ?? "")
    }

    /// The method as it is sent.
    public var requestMethod: String { httpMethod ?? "GET" }

    /// Whether there is no stream as the body.
    public var isBodyRepeatable: Bool { httpBodyStream == nil }

    /// Whether there is a header field of that name.
    public func hasField(_ name: HTTPField.Name) -> Bool {
        value(forHTTPHeaderField: name.rawName) != nil
    }

    /// The octets of the header field of that name: Foundation has one at most.
    public func fieldValues(_ name: HTTPField.Name) -> [Octets] {
        value(forHTTPHeaderField: name.rawName).map { [Octets($0)] } ?? []
    }

    /// Sets the header field of that name.
    public mutating func setField(_ name: HTTPField.Name, _ octets: Octets) {
        setValue(HeaderText.text(octets), forHTTPHeaderField: name.rawName)
    }

    /// Takes away the header field of that name.
    public mutating func removeField(_ name: HTTPField.Name) {
        setValue(nil, forHTTPHeaderField: name.rawName)
    }

    /// Makes it a request for another URL.
    public mutating func retarget(to url: RequestURL) throws(RequestURLError) {
        guard let url = URL(string: url.description) else { throw RequestURLError(code: .hostInvalid) }
        self.url = url
    }

    /// Makes it a GET without a body.
    public mutating func becomeGET() {
        httpMethod = "GET"
        httpBody = nil
        httpBodyStream = nil
    }

    /// Keeps Foundation's own cookies out. Foundation on Linux does not heed it: there the session's configuration has
    /// to, see ``Foundation/URLSessionConfiguration/withoutClientCookies``.
    public mutating func refuseClientCookies() {
        httpShouldHandleCookies = false
    }
}

/// Octets in Foundation's header fields, which are text.
///
/// Foundation on Linux sends text as UTF-8 and decodes what it receives as UTF-8. Apple's takes what it receives for
/// Latin-1; how it sends text that is not ASCII is nowhere said.
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
    /// This configuration without cookies of Foundation's own, which would otherwise take the place of the jar's on Linux
    /// and be stored a second time, in the open.
    public var withoutClientCookies: URLSessionConfiguration {
        guard let configuration = copy() as? URLSessionConfiguration else { return self }
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        return configuration
    }
}
