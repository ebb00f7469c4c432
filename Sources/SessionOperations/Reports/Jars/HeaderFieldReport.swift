package import CookieModel
import OAuth2
package import RequestDecoration
package import SessionStore

/// A header field that is kept with a jar, in JSON; the value only where it was asked for.
package struct HeaderFieldReport: Codable, Sendable {
    package let name: String
    /// What the URLs begin with that it is for; left out for all URLs.
    package let scope: String?
    package let value: String?
    package let valueBase64: String?
    /// Only where the stored value cannot be read back.
    package let isDamaged: Bool?

    package init(_ field: StoredHeaderField, showingValue: Bool) {
        self.init(
            name: field.name, scope: field.scope,
            value: showingValue ? field.value.map { Octets($0.exposedBytes) } : nil, isDamaged: field.value == nil)
    }

    /// A field that goes onto a request.
    package init(_ sent: FieldSelection.Sent) {
        self.init(name: sent.name, scope: sent.scope, value: sent.value, isDamaged: false)
    }

    /// A field that was kept just now, without its value.
    package init(_ rule: FieldRule) {
        self.init(
            name: rule.name, scope: rule.scope?.description, value: nil, isDamaged: false)
    }

    /// The report from its parts.
    package init(name: String, scope: String?, value: Octets?, isDamaged: Bool = false) {
        let value = value.map(OctetsReport.init)
        self.name = name
        self.scope = scope
        self.value = value?.text
        valueBase64 = value?.base64
        self.isDamaged = isDamaged ? true : nil
    }

    /// The octets of the value; none where it is not in the report.
    package var octets: Octets { OctetsReport(text: value, base64: valueBase64).octets }

    /// The URLs that it is for, for a person.
    package var place: String { scope ?? "all URLs" }
}

/// The header fields that are kept with a jar.
package struct HeaderFieldList: Codable, Sendable {
    package let fields: [HeaderFieldReport]

    package init(fields: [HeaderFieldReport]) {
        self.fields = fields
    }
}
