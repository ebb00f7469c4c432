package import WebPrimitives

/// The text of a HAR 1.2.
///
/// Octets that are not UTF-8 become U+FFFD, but in the values of ``pair(_:_:)``.
package enum HARText {
    /// The text before the entries, and the text after them.
    package static let beginning = Array(
        #"{"log":{"version":"1.2","creator":{"name":"crumb","version":"1"},"pages":[],"entries":["#.utf8)
    package static let end = Array("\n]}}\n".utf8)

    /// A request. The data that it posts may follow.
    package static func request(
        method: String, url: [UInt8], cookies: [[UInt8]] = [], fields: [[UInt8]] = [], parameters: [[UInt8]] = [],
        bodySize: Int
    ) -> JSONObjectWriter {
        var request = JSONObjectWriter()
        request.append("method", method)
        request.append("url", url)
        request.append("httpVersion", "HTTP/1.1")
        request.append("cookies", json: array(cookies))
        request.append("headers", json: array(fields))
        request.append("queryString", json: array(parameters))
        request.append("headersSize", -1)
        request.append("bodySize", Int64(bodySize))
        return request
    }

    /// A response up to its fields.
    package static func response(
        status: Int, reason: [UInt8], version: String = "HTTP/1.1", cookies: [[UInt8]], fields: [[UInt8]]
    ) -> JSONObjectWriter {
        var response = JSONObjectWriter()
        response.append("status", Int64(status))
        response.append("statusText", reason)
        response.append("httpVersion", version)
        response.append("cookies", json: array(cookies))
        response.append("headers", json: array(fields))
        return response
    }

    /// The members of a response after its fields.
    package static func append(redirect: [UInt8], bodySize: Int, to response: inout JSONObjectWriter) {
        response.append("redirectURL", redirect)
        response.append("headersSize", -1)
        response.append("bodySize", Int64(bodySize))
    }

    /// A cookie that a response sets.
    package static func cookie(
        name: Octets, value: Octets, path: Octets?, domain: Octets?, expires: Timestamp?, isHTTPOnly: Bool,
        isSecure: Bool, sameSite: String?
    ) -> [UInt8] {
        var cookie = JSONObjectWriter()
        cookie.append("name", text(name))
        cookie.append("value", text(value))
        if let path { cookie.append("path", text(path)) }
        if let domain { cookie.append("domain", text(domain)) }
        if let expires { cookie.append("expires", expires.rfc3339) }
        cookie.append("httpOnly", isHTTPOnly)
        cookie.append("secure", isSecure)
        if let sameSite { cookie.append("sameSite", sameSite) }
        return cookie.bytes
    }

    /// A field, a parameter or a cookie of a request.
    ///
    /// Octets of the value that are not UTF-8 are written as Python does (PEP 383), and become themselves again when
    /// Crumb reads the text.
    package static func pair(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        var pair = JSONObjectWriter()
        pair.append("name", text(Octets(name)))
        if Octets(value).utf8String != nil {
            pair.append("value", value)
        } else {
            let octets = value.flatMap { octet in
                octet < 0x80 ? [octet] : WebString.octets(ofSurrogate: 0xDC00 | UInt16(octet))
            }
            pair.append("value", webString: Octets(octets))
        }
        return pair.bytes
    }

    /// UTF-8.
    package static func text(_ value: Octets) -> [UInt8] {
        value.utf8String == nil ? Array(String(decoding: value, as: UTF8.self).utf8) : value.bytes
    }

    /// UTF-8 as it is within a string.
    package static func escaped(_ text: some Sequence<UInt8>) -> ArraySlice<UInt8> {
        var writer = JSONWriter()
        writer.append(escaping: text)
        return writer.bytes.dropFirst().dropLast()
    }

    private static func array(_ elements: [[UInt8]]) -> [UInt8] {
        [ASCII.leftBracket] + elements.joined(separator: [ASCII.comma]) + [ASCII.rightBracket]
    }
}
