import CookieModel
import Foundation
import RequestDecoration
import SessionOperations

/// The answer to `decorate` in JSON: the header fields to set, which cookies went in, and why others stayed out.
///
/// Written by hand, since this is the answer that is asked for most.
struct DecorationText {
    /// The JSON.
    let bytes: [UInt8]

    /// The answer for a request that has cookies of its own.
    init(_ retrieval: Retrieval, own: [Octets]) {
        let cookieString: Octets
        let included: [Cookie]
        var omitted: [DecorationReport.CookieOmission] = []
        if own.isEmpty {
            cookieString = retrieval.cookieString
            included = retrieval.included
        } else {
            let merge = CookieMerge(own: own, jar: retrieval.included)
            cookieString = merge.octets
            included = merge.cookies
            omitted = merge.omissions
        }
        var text = JSONWriter()
        text.append(#"{"excluded":["#)
        var isFirst = true
        for exclusion in retrieval.excluded {
            text.append(isFirst ? "{" : ",{")
            if exclusion.reasons.contains(.unreadable) {
                // Somebody has to look after this one, and must know which it is.
                text.append(#""cookie":"#)
                text.append(json: JSONText.of(CookieIdentityReport(exclusion.cookie)))
                text.append(",")
            }
            text.append(#""name":"#)
            text.append(octets: exclusion.cookie.name)
            text.append(#","reasons":["#)
            text.append(strings: exclusion.reasons.identifiers)
            text.append("]}")
            isFirst = false
        }
        for omission in omitted {
            text.append(isFirst ? #"{"name":"# : #",{"name":"#)
            text.append(octets: omission.cookie.name)
            text.append(#","reasons":["#)
            text.append(string: omission.reason.identifier)
            text.append("]}")
            isFirst = false
        }
        text.append(#"],"fields":["#)
        if !cookieString.isEmpty {
            text.append(#"{"name":"cookie","#)
            if JSONWriter.isPlain(cookieString) {
                text.append(#""value":"#)
                text.append(octets: cookieString)
            } else if let value = cookieString.utf8String {
                text.append(#""value":"#)
                text.append(string: value)
            } else {
                text.append(#""valueBase64":"#)
                text.append(string: Data(cookieString).base64EncodedString())
            }
            text.append("}")
        }
        text.append(#"],"included":["#)
        for (index, cookie) in included.enumerated() {
            if index > 0 { text.append(",") }
            text.append(octets: cookie.name)
        }
        text.append("]}")
        bytes = text.bytes
    }
}

/// Writes JSON (RFC 8259) piece by piece.
private struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(1024)
    }

    /// Appends JSON as it is.
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends JSON that was written elsewhere.
    mutating func append(json: [UInt8]) {
        bytes += json
    }

    mutating func append(strings: [String]) {
        for (index, text) in strings.enumerated() {
            if index > 0 { append(",") }
            append(string: text)
        }
    }

    /// Whether a text has only printable ASCII, as nearly all cookies.
    static func isPlain(_ octets: Octets) -> Bool {
        octets.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Appends octets as a person sees them.
    mutating func append(octets: Octets) {
        if JSONWriter.isPlain(octets) { append(escaping: octets) } else { append(string: octets.description) }
    }

    mutating func append(string: String) {
        append(escaping: string.utf8)
    }

    /// Appends a string with what has to be escaped (section 7).
    private mutating func append(escaping text: some Sequence<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x00..<0x20:
                bytes += Array("\\u00".utf8)
                bytes.append(JSONWriter.hexDigits[Int(byte >> 4)])
                bytes.append(JSONWriter.hexDigits[Int(byte & 0xF)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}
