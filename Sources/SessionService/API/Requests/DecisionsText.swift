import SessionOperations
import WebPrimitives

/// The answer to one response in JSON: ``ResponseDecisions``, as its encoder writes it.
///
/// What nearly every line comes to, a cookie that is stored and nothing to say about it, is written by hand.
struct DecisionsText {
    /// The JSON.
    let bytes: [UInt8]

    init(_ decisions: [StorageDecisionReport]) {
        var text = JSONWriter()
        text.append(#"{"decisions":["#)
        for (index, decision) in decisions.enumerated() {
            if index > 0 { text.append(",") }
            DecisionsText.append(decision, to: &text)
        }
        text.append("]}")
        bytes = text.bytes
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
