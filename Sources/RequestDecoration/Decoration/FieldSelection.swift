package import CookieModel
import HTTPTypes
package import SessionStore

/// Which of the header fields that are kept with a jar go onto a request, and why the others do not.
package struct FieldSelection: Sendable {
    /// A field that does not go.
    package struct Omission: Sendable {
        package let name: String
        /// What the URLs begin with that it is for; `nil` for all.
        package let scope: String?
        package let reason: FieldOmissionReason
    }

    /// A field that goes.
    package struct Sent: Sendable {
        /// What the URLs begin with that it is for; `nil` for all.
        package let scope: String?
        package let name: String
        package let value: Octets
    }

    /// The fields that go, by name.
    package private(set) var sent: [Sent] = []
    /// The fields that do not.
    package private(set) var omitted: [Omission] = []

    /// Nothing is kept.
    package init() {}

    /// What becomes of `fields` for a request to `url`. Of several of one name, the first one counts that is for the URL.
    ///
    /// - Parameter isSetByCaller: whether the request has a field of a name already, which is in lower case.
    package init(
        _ fields: [StoredHeaderField], for url: RequestURL, isSetByCaller: (String) -> Bool = { _ in false }
    ) {
        var names: Set<HTTPField.Name> = []
        for stored in fields {
            guard let rule = FieldRule(stored) else {
                omit(stored, .unreadable)
                continue
            }
            let name = rule.field.name
            let reason = rule.omission(
                from: url, isSetByCaller: isSetByCaller(name.canonicalName), isSetByOtherRule: names.contains(name))
            if let reason {
                omit(stored, reason)
            } else {
                names.insert(name)
                sent.append(Sent(scope: stored.scope, name: rule.name, value: rule.value))
            }
        }
    }

    private mutating func omit(_ field: StoredHeaderField, _ reason: FieldOmissionReason) {
        omitted.append(Omission(name: field.name, scope: field.scope, reason: reason))
    }
}
