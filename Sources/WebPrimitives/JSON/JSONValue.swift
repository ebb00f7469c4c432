/// A JSON value that is held in memory: one cookie, one event, one message, never a whole capture.
package indirect enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case number(JSONNumber)
    case string(Octets)
    /// A string longer than ``JSONLimits/stringByteCount``, which is gone.
    case tooLong
    case array([JSONValue])
    case object(JSONObject)

    /// The string's octets.
    package var octets: Octets? {
        if case .string(let octets) = self { octets } else { nil }
    }

    /// The string as text; what is not UTF-8 in it becomes U+FFFD.
    package var text: String? {
        octets.map { $0.withSpan { String(repairing: $0) } }
    }

    package var integer: Int? {
        if case .number(let number) = self { number.integer } else { nil }
    }

    package var boolean: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// The members of a JSON object, in order and with those that repeat a name.
package struct JSONObject: Sendable {
    package private(set) var names: [Octets] = []
    package private(set) var values: [JSONValue] = []

    package init() {}

    package mutating func append(_ name: Octets, _ value: JSONValue) {
        names.append(name)
        values.append(value)
    }

    /// The member called `name`: the last one counts. `null` is no member.
    package subscript(name: StaticString) -> JSONValue? {
        for index in names.indices.reversed() where names[index].withSpan({ $0.equals(name) }) {
            if case .null = values[index] { return nil }
            return values[index]
        }
        return nil
    }

    /// All members called `name`, in order.
    package func all(_ name: StaticString) -> [JSONValue] {
        names.indices.filter { names[$0].withSpan { $0.equals(name) } }.map { values[$0] }
    }
}

/// Puts one JSON value together out of a stream's events, within ``JSONLimits/valueByteCount``.
package struct JSONValueBuilder: Sendable {
    private struct Container {
        let kind: JSONContainer
        var name = Octets([])
        var elements: [JSONValue] = []
        var members = JSONObject()
    }

    /// How deep a value is kept; what is deeper is nothing that any format has, and missing from it.
    private static let depthLimit = 64

    private var containers: [Container] = []
    /// How many bytes are held, each value counted with 64.
    package private(set) var byteCount = 0
    /// Whether the value is larger than the limit, so that a part of it is missing.
    package private(set) var isOverfull = false

    package init() {}

    /// Whether a value has begun.
    package var isOpen: Bool { !containers.isEmpty }

    /// Begins a container; false where it is too deep to be kept.
    package mutating func begin(_ kind: JSONContainer) -> Bool {
        guard containers.count < Self.depthLimit else { return false }
        containers.append(Container(kind: kind))
        return true
    }

    package mutating func key(_ name: Span<UInt8>) {
        guard isRoom(for: name.count), let last = containers.indices.last else { return }
        containers[last].name = name.withUnsafeBufferPointer { Octets($0) }
    }

    /// Ends the container at hand; the whole value where that was the outermost one.
    package mutating func end() -> JSONValue? {
        guard let container = containers.popLast() else { return nil }
        return add(container.kind == .array ? .array(container.elements) : .object(container.members))
    }

    /// Adds a value to the container at hand; gives it back where there is none.
    package mutating func add(_ value: JSONValue) -> JSONValue? {
        guard let last = containers.indices.last else { return value }
        guard isRoom(for: value.octets?.count ?? 0) else { return nil }
        if containers[last].kind == .array {
            containers[last].elements.append(value)
        } else {
            containers[last].members.append(containers[last].name, value)
        }
        return nil
    }

    /// Makes ready for the next value.
    package mutating func reset() {
        self = JSONValueBuilder()
    }

    private mutating func isRoom(for count: Int) -> Bool {
        byteCount += count + 64
        if byteCount > JSONLimits.valueByteCount { isOverfull = true }
        return !isOverfull
    }
}

extension JSONValue {
    package init(_ scalar: JSONScalar) {
        switch scalar {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .number(let number): self = .number(number)
        }
    }
}

extension JSONValue {
    /// The value that a text of one line is; `nil` where it is no JSON.
    package init?(parsing text: Span<UInt8>) {
        var stream = JSONStream(handler: WholeValue(), line: 1, column: 1)
        stream.read(text)
        // A number ends with what follows it.
        stream.read([ASCII.lineFeed].span)
        guard stream.isComplete, let value = stream.handler.value else { return nil }
        self = value
    }
}

/// Takes a whole document as one value.
private struct WholeValue: JSONHandler, Sendable {
    private(set) var value: JSONValue?
    private var builder = JSONValueBuilder()

    mutating func key(_ name: Span<UInt8>) { builder.key(name) }

    mutating func begin(_ container: JSONContainer) -> Bool { builder.begin(container) }

    mutating func end() { value = builder.end() }
    mutating func beginString() -> Bool { true }
    mutating func string(_ text: Span<UInt8>) {
        value = builder.add(.string(text.withUnsafeBufferPointer { .init($0) }))
    }
    mutating func stringTooLong() { value = builder.add(.tooLong) }
    mutating func scalar(_ scalar: JSONScalar) { value = builder.add(JSONValue(scalar)) }
}
