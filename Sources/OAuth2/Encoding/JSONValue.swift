/// A value of a JSON text (RFC 8259, section 3).
///
/// Numbers keep their text: a number that no type of ours can hold must not cost the rest of the reply.
enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The text of a string, `nil` for any other value.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The text of a string that has one, `nil` for any other value.
    var nonEmptyText: String? {
        text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The text of a string, or those of an array of strings; empty for any other value.
    var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.compactMap(\.text)
        default: []
        }
    }
}
