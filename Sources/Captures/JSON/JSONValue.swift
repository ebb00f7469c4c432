import CookieModel

/// A JSON value that is held in memory: one cookie, one event, one message, never a whole capture.
indirect enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case number(JSONNumber)
    case string(Octets)
    /// A string longer than ``CaptureLimits/fieldByteCount``, which is gone.
    case tooLong
    case array([JSONValue])
    case object(JSONObject)

    /// The string's octets.
    var octets: Octets? {
        if case .string(let octets) = self { octets } else { nil }
    }

    /// The string as text; what is not UTF-8 in it becomes U+FFFD.
    var text: String? {
        octets.map { $0.withSpan { String(repairing: $0) } }
    }

    var integer: Int? {
        if case .number(let number) = self { number.integer } else { nil }
    }

    var boolean: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// The members of a JSON object, in order and with those that repeat a name.
struct JSONObject: Sendable {
    private(set) var names: [Octets] = []
    private(set) var values: [JSONValue] = []

    mutating func append(_ name: Octets, _ value: JSONValue) {
        names.append(name)
        values.append(value)
    }

    /// The member called `name`: the last one counts. `null` is no member.
    subscript(name: StaticString) -> JSONValue? {
        for index in names.indices.reversed() where names[index].withSpan({ $0.equals(name) }) {
            if case .null = values[index] { return nil }
            return values[index]
        }
        return nil
    }

    /// All members called `name`, in order.
    func all(_ name: StaticString) -> [JSONValue] {
        names.indices.filter { names[$0].withSpan { $0.equals(name) } }.map { values[$0] }
    }
}
