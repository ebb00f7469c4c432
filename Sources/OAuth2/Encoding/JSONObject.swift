/// The members of a JSON object (RFC 8259, section 4).
struct JSONObject: Sendable {
    private var members: [String: JSONValue] = [:]

    /// A member's value. Of members with one name the last counts, as in ECMAScript.
    subscript(name: String) -> JSONValue? {
        get { members[name] }
        set { members[name] = newValue }
    }

    /// The first of `names` that has a value other than `null`.
    func first(of names: [String]) -> JSONValue? {
        for name in names {
            switch members[name] {
            case .null?, nil: continue
            case let value?: return value
            }
        }
        return nil
    }
}
