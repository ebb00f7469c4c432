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
            if text.append(ifPlain: cookieString, after: #""value":"#) {
                // As nearly always.
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

    /// Appends octets as a string where they are printable ASCII, as nearly all cookies.
    ///
    /// - Parameter prefix: goes before them.
    /// - Returns: whether they are.
    mutating func append(ifPlain octets: Octets, after prefix: StaticString = "") -> Bool {
        var isPrintable = true
        var isEscaped = false
        octets.withContiguousStorageIfAvailable { buffer in
            for byte in buffer {
                if byte < 0x20 || byte > 0x7E { isPrintable = false }
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { isEscaped = true }
            }
        }
        guard isPrintable else { return false }
        append(prefix)
        if isEscaped {
            append(escaping: octets)
        } else {
            bytes.append(UInt8(ascii: "\""))
            octets.withContiguousStorageIfAvailable { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: "\""))
        }
        return true
    }

    /// Appends octets as a person sees them.
    mutating func append(octets: Octets) {
        if !append(ifPlain: octets) { append(string: octets.description) }
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
