/// A JSON value whose members keep their order, and which a table can write as a literal.
enum PrintedJSON: Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case string(String)
    case array([PrintedJSON])
    case object([(name: String, value: PrintedJSON)])

    /// The members of an object; empty for any other value.
    var members: [(name: String, value: PrintedJSON)] {
        if case .object(let members) = self { members } else { [] }
    }

    subscript(name: String) -> PrintedJSON? { members.first { $0.name == name }?.value }

    /// An object with these members and those of another, which take precedence.
    func adding(_ other: PrintedJSON?) -> PrintedJSON {
        guard let other else { return self }
        return .object(members.filter { other[$0.name] == nil } + other.members)
    }

    /// The value on one line if it fits there, otherwise with a line for each member or element.
    func text(indentedBy indentation: Int = 0, after column: Int = 0) -> String {
        let line = self.line
        guard indentation + column + line.utf8.count > 119 else { return line }
        let outer = String(repeating: " ", count: indentation)
        let inner = outer + "  "
        switch self {
        case .array(let elements):
            let lines = elements.map { inner + $0.text(indentedBy: indentation + 2) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        case .object(let members):
            let lines = members.map { member in
                let name = "\(Self.quoted(member.name)): "
                return inner + name + member.value.text(indentedBy: indentation + 2, after: name.utf8.count)
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        default: return line
        }
    }

    private var line: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let elements): "[\(elements.map(\.line).joined(separator: ", "))]"
        case .object(let members):
            members.isEmpty
                ? "{}"
                : "{ \(members.map { "\(Self.quoted($0.name)): \($0.value.line)" }.joined(separator: ", ")) }"
        }
    }

    /// A text of the tables, which have no control characters.
    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#))\""
    }
}

extension PrintedJSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(nilLiteral: ()) { self = .null }
    init(booleanLiteral value: Bool) { self = .boolean(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral elements: PrintedJSON...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, PrintedJSON)...) {
        self = .object(elements.map { (name: $0, value: $1) })
    }
}
