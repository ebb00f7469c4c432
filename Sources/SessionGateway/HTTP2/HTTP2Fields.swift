import HTTPMessages
import NIOHPACK
import WebPrimitives

extension HPACKHeaders {
    /// The names of connection-specific fields (RFC 9113, section 8.2.2), and of those that a codec writes itself.
    private static let omitted: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "host", "cookie",
    ]

    /// The minimum length of a part of a Cookie field that may be in a table. Shorter ones could be guessed there (RFC
    /// 7541, section 7.1.3).
    private static let indexedCookieLength = 20

    /// The fields of a message of HTTP/1.1, without Host. Values that are not UTF-8 are decoded as Latin-1; in
    /// Location, their octets are percent-encoded, as browsers do it.
    ///
    /// - Parameter splitsCookies: Whether each cookie gets its own field, as in browsers (RFC 9113, section 8.2.3).
    init(fieldsOf head: MessageHead, splittingCookies splitsCookies: Bool = false) {
        self.init()
        for field in head.fields {
            let name = head.lowercasedName(field)
            if name == "cookie", splitsCookies {
                for cookie in head.text(field).split(separator: "; ", omittingEmptySubsequences: false) {
                    let isShort = cookie.utf8.count < HPACKHeaders.indexedCookieLength
                    add(name: name, value: String(cookie), indexing: isShort ? .neverIndexed : .indexable)
                }
            } else if name == "cookie" || !HPACKHeaders.omitted.contains(name) {
                let isSecret = name == "set-cookie" || name == "authorization"
                add(name: name, value: head.text(field), indexing: isSecret ? .neverIndexed : .indexable)
            }
        }
    }

    /// The fields without those of a name.
    func without(_ name: String) -> HPACKHeaders {
        HPACKHeaders(map { ($0.name, $0.value) }.filter { $0.0 != name })
    }

    /// The fields as lines of HTTP/1.1, without Host, Cookie and pseudo-fields; `nil` if a field would not be exactly
    /// one line.
    ///
    /// - Parameter isChunked: Whether the body is sent in chunks, so that it has no Content-Length.
    func fieldLines(chunked isChunked: Bool = false) -> [UInt8]? {
        var lines: [UInt8] = []
        for (name, value, _) in self where !name.hasPrefix(":") && !HPACKHeaders.omitted.contains(name) {
            guard name.utf8.allSatisfy(ASCII.isTokenCharacter),
                !value.utf8.contains(where: { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed || $0 == 0 })
            else { return nil }
            if isChunked, name == "content-length" { continue }
            lines.append(field: name, Octets(value))
        }
        return lines
    }

    /// Whether a body is sent in chunks over HTTP/1.1: its length is unknown, or trailers are announced, which a body
    /// with a length cannot have.
    var needsChunks: Bool { !contains(name: "content-length") || contains(name: "trailer") }

    /// Whether all names are in lower case (RFC 9113, section 8.2.1).
    var hasLowerCase: Bool { allSatisfy { !$0.name.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")) ~= $0 } } }

    /// The length of a response's body by its Content-Length; `nil` without one.
    ///
    /// - Parameter endsStream: Whether the response has no body.
    /// - Throws: `MessageError` if it is not exactly one number, or if there is no body of that length.
    func length(endsStream: Bool) throws(MessageError) -> Int? {
        let values = self["content-length"]
        guard let value = values.first else { return nil }
        guard values.allSatisfy({ $0 == value }) else { throw .lengthRepeated }
        guard value.utf8.allSatisfy(ASCII.isDigit), let length = Int(value) else { throw .lengthInvalid }
        guard !endsStream || length == 0 else { throw .bodyLengthWrong }
        return length
    }

    /// Whether a value was not UTF-8. NIOHPACK has replaced its octets by another character.
    var hasLostOctets: Bool { contains { $0.value.unicodeScalars.contains("\u{FFFD}") } }
}

extension MessageHead {
    fileprivate func text(_ field: Field) -> String {
        let octets = octets[field.value]
        if let text = String(validating: octets, as: UTF8.self) { return text }
        let isURL = lowercasedName(field) == "location"
        return octets.map { octet in
            isURL && octet > 0x7F ? "%\(Hexadecimal.text([octet]).uppercased())" : String(UnicodeScalar(octet))
        }.joined()
    }
}
