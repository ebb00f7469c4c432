import CookieModel
import HTTPTypes
import RequestDecoration
import SessionOperations
import WebPrimitives

extension DecorationReport {
    /// The report on a decoration in JSON, without an encoder: it is the most frequent answer.
    ///
    /// - Parameters:
    ///   - rule: the name of the login rule by which the request is signed in again.
    ///   - mayRepeat: whether the request may be sent again; `nil` if it has not been sent.
    static func fastJSON(
        _ decoration: Decoration, renewedBy rule: String? = nil, mayRepeat: Bool? = nil
    ) -> [UInt8] {
        let cookieString = decoration.cookies.octets
        var text = JSONWriter()
        text.append(#"{"excluded":["#)
        var isFirst = true
        for exclusion in decoration.retrieval.excluded {
            text.append(isFirst ? "{" : ",{")
            if exclusion.reasons.contains(.unreadable) {
                // Someone has to look after this one, and must know which it is.
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
        for omission in decoration.cookies.omissions {
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
            text.append(value: cookieString)
            text.append("}")
        }
        isFirst = cookieString.isEmpty
        for sent in decoration.fields.sent {
            text.append(isFirst ? #"{"name":"# : #",{"name":"#)
            text.append(string: sent.name)
            if let scope = sent.scope {
                text.append(#","scope":"#)
                text.append(string: scope)
            }
            text.append(",")
            text.append(value: sent.value)
            text.append("}")
            isFirst = false
        }
        for field in decoration.credential {
            text.append(isFirst ? #"{"name":"# : #",{"name":"#)
            text.append(string: field.name.canonicalName)
            text.append(#","value":"#)
            text.append(string: field.value)
            text.append("}")
            isFirst = false
        }
        text.append(#"],"included":["#)
        for (index, cookie) in decoration.cookies.cookies.enumerated() {
            if index > 0 { text.append(",") }
            text.append(octets: cookie.name)
        }
        text.append("]")
        if let mayRepeat { text.append(mayRepeat ? #","mayRepeat":true"# : #","mayRepeat":false"#) }
        text.append(omitted: decoration.fields)
        if let rule {
            text.append(#","rule":"#)
            text.append(string: rule)
        }
        text.append("}")
        return text.bytes
    }
}

extension JSONWriter {
    /// Appends the member that holds the octets of a field's value.
    fileprivate mutating func append(value octets: Octets) {
        guard !append(ifPlain: octets, after: #""value":"#) else { return }
        let value = octets.utf8String
        append(value == nil ? #""valueBase64":"# : #""value":"#)
        append(string: value ?? octets.base64)
    }

    /// Appends the member for the fields that are for the URL and are not sent, unless it would be empty.
    fileprivate mutating func append(omitted fields: FieldSelection) {
        var isFirst = true
        for omission in fields.omitted where omission.reason != .outsideScope {
            append(isFirst ? #","omittedFields":[{"name":"# : #",{"name":"#)
            append(string: omission.name)
            append(#","reason":"#)
            append(string: omission.reason.identifier)
            if let scope = omission.scope {
                append(#","scope":"#)
                append(string: scope)
            }
            append("}")
            isFirst = false
        }
        if !isFirst { append("]") }
    }
}

extension ResponseDecisions {
    /// The decisions on one response in JSON, as an encoder writes them. The most frequent decision, a stored cookie
    /// without reasons, needs no encoder.
    static func fastJSON(_ decisions: [StorageDecisionReport]) -> [UInt8] {
        var text = JSONWriter()
        text.append(#"{"decisions":["#)
        for (index, decision) in decisions.enumerated() {
            if index > 0 { text.append(",") }
            append(decision, to: &text)
        }
        text.append("]}")
        return text.bytes
    }

    private static func append(_ decision: StorageDecisionReport, to text: inout JSONWriter) {
        guard decision.reasons.isEmpty, decision.evicted.isEmpty, let cookie = decision.cookie, let name = cookie.name,
            cookie.partitionKey == nil, cookie.reason == nil
        else { return text.append(json: JSONText.of(decision)) }
        text.append(#"{"cookie":{"domain":"#)
        text.append(string: cookie.domain)
        text.append(cookie.hostOnly ? #","hostOnly":true,"name":"# : #","hostOnly":false,"name":"#)
        text.append(string: name)
        text.append(#","path":"#)
        text.append(string: cookie.path)
        text.append(#"},"evicted":[],"outcome":"#)
        text.append(string: decision.outcome)
        text.append(#","reasons":[]}"#)
    }
}
