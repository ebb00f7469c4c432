/// A JSON document of another program, which is written back with one change.
///
/// `JSONSerialization` would do the same, and would link all of Foundation.
enum JSONTree: Codable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case large(UInt64)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// The members of an object.
    var members: [String: JSONTree]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// A value as a person reads it in a message.
    var shown: String {
        switch self {
        case .string(let text): text
        case .null, .boolean, .integer, .large, .number, .array, .object: "a value that is not text"
        }
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? value.decode(UInt64.self) {
            self = .large(number)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let elements = try? value.decode([JSONTree].self) {
            self = .array(elements)
        } else {
            self = .object(try value.decode([String: JSONTree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .boolean(let flag): try value.encode(flag)
        case .integer(let number): try value.encode(number)
        case .large(let number): try value.encode(number)
        case .number(let number): try value.encode(number)
        case .string(let text): try value.encode(text)
        case .array(let elements): try value.encode(elements)
        case .object(let members): try value.encode(members)
        }
    }
}
