package import CookieModel
import OAuth2
package import RequestDecoration
package import SessionStore

/// The Cookie header in JSON.
package struct HeaderReport: Codable {
    package let url: String
    package let cookie: String?
    package let cookieBase64: String
    package let names: [String]
    /// Cookies that are not sent because their value cannot be read back. They are reported, not printed.
    package private(set) var unreadable: [CookieIdentityReport] = []
    /// The header fields of the jar that are sent with it; `nil` unless they were requested.
    package private(set) var fields: [HeaderFieldReport]?
    /// Header fields that are not sent because their value cannot be read.
    package private(set) var damagedFields: [HeaderFieldReport] = []

    private enum CodingKeys: CodingKey {
        case url, cookie, cookieBase64, names, fields
    }

    /// Creates the report of the cookies and fields that a request carries. It is empty if nothing is kept at all.
    package init(url: String, _ decoration: Decoration?, withFields: Bool) {
        let decoration = decoration ?? Decoration(Retrieval())
        let unreadable = decoration.retrieval.excluded.filter { $0.reasons.contains(.unreadable) }
        self.init(
            url: url, cookieString: decoration.cookies.octets,
            names: decoration.cookies.cookies.map(\.name.description),
            unreadable: unreadable.map { CookieIdentityReport($0.cookie) })
        if withFields { add(decoration.fields) }
    }

    /// The report from its parts.
    package init(url: String, cookieString: Octets, names: [String], unreadable: [CookieIdentityReport]) {
        self.url = url
        cookie = cookieString.utf8String
        cookieBase64 = cookieString.base64
        self.names = names
        self.unreadable = unreadable
    }

    /// Adds the header fields of the jar.
    private mutating func add(_ selection: FieldSelection) {
        add(
            selection.sent.map { HeaderFieldReport($0) },
            damaged: selection.omitted.filter { $0.reason == .unreadable }.map {
                HeaderFieldReport(name: $0.name, scope: $0.scope, value: nil, isDamaged: true)
            })
    }

    /// Adds header fields, those that go and those that cannot be read back.
    package mutating func add(_ fields: [HeaderFieldReport], damaged: [HeaderFieldReport]) {
        self.fields = fields
        damagedFields = damaged
    }

    /// The octets of the header's value; empty if there is nothing to send.
    package var cookieString: Octets { OctetsReport(text: cookie, base64: cookieBase64).octets }
}

extension HeaderFieldReport {
    package init(_ field: StoredHeaderField, showingValue: Bool) {
        self.init(
            name: field.name, scope: field.scope,
            value: showingValue ? field.value.map { Octets($0.exposedBytes) } : nil, isDamaged: field.value == nil)
    }

    /// A field that goes onto a request.
    package init(_ sent: FieldSelection.Sent) {
        self.init(name: sent.name, scope: sent.scope, value: sent.value, isDamaged: false)
    }

    /// A field that was stored just now, without its value.
    package init(_ rule: FieldRule) {
        self.init(
            name: rule.name, scope: rule.scope?.description, value: nil, isDamaged: false)
    }

    /// The URLs that it is for, for a person.
    package var place: String { scope ?? "all URLs" }
}

extension FieldVerdictReport {
    /// The verdicts on all fields, those that go first; `nil` if the jar has none.
    package static func all(_ selection: FieldSelection) -> [FieldVerdictReport]? {
        let sent = selection.sent.map {
            FieldVerdictReport(name: $0.name, scope: $0.scope, isSent: true)
        }
        let omitted = selection.omitted.map {
            FieldVerdictReport(name: $0.name, scope: $0.scope, isSent: false, reason: ReasonReport($0.reason))
        }
        return sent.isEmpty && omitted.isEmpty ? nil : sent + omitted
    }
}
