package import RequestDecoration

/// What becomes of a jar's header field on a request, in JSON, without its value.
package struct FieldVerdictReport: Codable {
    package let name: String
    /// What the URLs begin with that it is for; left out for all URLs.
    package let scope: String?
    package let isSent: Bool
    /// Why it is not sent; only where it is not.
    package let reason: ReasonReport?

    /// The verdicts on all fields, those that go first; `nil` where the jar has none.
    package static func all(_ selection: FieldSelection) -> [FieldVerdictReport]? {
        let sent = selection.sent.map {
            FieldVerdictReport(name: $0.name, scope: $0.scope, isSent: true, reason: nil)
        }
        let omitted = selection.omitted.map {
            FieldVerdictReport(name: $0.name, scope: $0.scope, isSent: false, reason: ReasonReport($0.reason))
        }
        return sent.isEmpty && omitted.isEmpty ? nil : sent + omitted
    }

    private init(name: String, scope: String?, isSent: Bool, reason: ReasonReport?) {
        self.name = name
        self.scope = scope
        self.isSent = isSent
        self.reason = reason
    }
}
