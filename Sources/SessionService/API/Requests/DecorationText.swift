import CookieModel
import Foundation
import HTTPTypes
import RequestDecoration
import SessionOperations

/// The answer to `decorate` in JSON: the header fields to set, which cookies went in, and why others stayed out.
///
/// Written by hand, since this is the answer that is asked for most.
struct DecorationText {
    /// The JSON.
    let bytes: [UInt8]

    /// The answer for a request that has cookies of its own.
    ///
    /// - Parameters:
    ///   - credential: header fields that present a token, which go out as they are.
    ///   - rule: the name of the login rule by which the request is signed in again.
    init(_ retrieval: Retrieval, own: [Octets], credential: [HTTPField] = [], rule: String? = nil) {
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
            if !text.append(ifPlain: cookieString, after: #""value":"#) {
                let value = cookieString.utf8String
                text.append(value == nil ? #""valueBase64":"# : #""value":"#)
                text.append(string: value ?? Data(cookieString).base64EncodedString())
            }
            text.append("}")
        }
        for (index, field) in credential.enumerated() {
            text.append(index == 0 && cookieString.isEmpty ? #"{"name":"# : #",{"name":"#)
            text.append(string: field.name.canonicalName)
            text.append(#","value":"#)
            text.append(string: field.value)
            text.append("}")
        }
        text.append(#"],"included":["#)
        for (index, cookie) in included.enumerated() {
            if index > 0 { text.append(",") }
            text.append(octets: cookie.name)
        }
        text.append("]")
        if let rule {
            text.append(#","rule":"#)
            text.append(string: rule)
        }
        text.append("}")
        bytes = text.bytes
    }
}
