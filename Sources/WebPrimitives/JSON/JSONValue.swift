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

    /// The string as text. Octets that are not UTF-8 become U+FFFD.
    package var text: String? {
        octets.map { $0.withSpan { String(repairing: $0) } }
    }

    /// The text of a string that has one, `nil` for any other value.
    package var nonEmptyText: String? {
        text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The text of a string, or those of an array of strings; empty for any other value.
    package var texts: [String] {
        switch self {
        case .string: text.map { [$0] } ?? []
        case .array(let elements): elements.compactMap(\.text)
        default: []
        }
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

    /// The member whose name is not known until the program runs: the last one counts. `null` is no member.
    package func value(named name: String) -> JSONValue? {
        guard let index = names.lastIndex(where: { $0.elementsEqual(name.utf8) }) else { return nil }
        if case .null = values[index] { return nil }
        return values[index]
    }

    /// The first of `names` that is a member.
    package func first(of names: [StaticString]) -> JSONValue? {
        for name in names {
            if let value = self[name] { return value }
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

    /// The depth to which a value is kept. No format has deeper values, and they are omitted.
    private static let depthLimit = 64

    private var containers: [Container] = []
    /// How many bytes are held, each value counted with 64.
    package private(set) var byteCount = 0
    /// Whether the value is larger than the limit, so that a part of it is missing.
    package private(set) var isOverfull = false

    package init() {}

    /// Whether a value has begun.
    package var isOpen: Bool { !containers.isEmpty }

    /// Begins a container; false if it is nested too deeply to be kept.
    package mutating func begin(_ kind: JSONContainer) -> Bool {
        guard containers.count < Self.depthLimit else { return false }
        containers.append(Container(kind: kind))
        return true
    }

    package mutating func key(_ name: Span<UInt8>) {
        guard isRoom(for: name.count), let last = containers.indices.last else { return }
        containers[last].name = name.withUnsafeBufferPointer { Octets($0) }
    }

    /// Ends the current container; the whole value if that was the outermost one.
    package mutating func end() -> JSONValue? {
        guard let container = containers.popLast() else { return nil }
        return add(container.kind == .array ? .array(container.elements) : .object(container.members))
    }

    /// Adds a value to the current container; returns it if there is no container.
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

    /// The complete members of the outermost container.
    package var outermostMembers: JSONObject { containers.first?.members ?? JSONObject() }

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

/// A JSON text that is read as a whole: bounded in depth, linear in time.
package enum JSONDocument: Sendable {
    case object(JSONObject)
    case other(JSONValue)
    /// Not JSON. `read` holds the complete members before the error if the text began as an object: a reply that breaks
    /// off still shows a rotated refresh token that exists nowhere else.
    case invalid(read: JSONObject)

    /// How deep arrays and objects may be nested.
    package static let depthLimit = 32

    /// Reads a text by the grammar of RFC 8259. In a string, octets that are not UTF-8 and lone surrogates become
    /// U+FFFD in its text. A byte order mark is skipped (section 8.1).
    package init(_ text: [UInt8]) {
        let start = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let (value, read) = JSONValue.parse(
            text.span.extracting(start..<text.count), dialect: .standard, depthLimit: JSONDocument.depthLimit)
        self =
            switch value {
            case .object(let object)?: .object(object)
            case let value?: .other(value)
            case nil: .invalid(read: read)
            }
    }
}

extension JSONValue {
    /// The value that a text of one line in a capture is; `nil` if it is no JSON.
    package init?(parsing text: Span<UInt8>) {
        let (value, _) = JSONValue.parse(text, dialect: .capture, depthLimit: JSONLimits.nestingDepth)
        guard let value else { return nil }
        self = value
    }

    /// - Returns: the value, `nil` if the text is no JSON, and the members that were complete by then.
    fileprivate static func parse(
        _ text: Span<UInt8>, dialect: JSONDialect, depthLimit: Int
    ) -> (value: JSONValue?, read: JSONObject) {
        var stream = JSONStream(handler: WholeValue(), dialect: dialect, depthLimit: depthLimit)
        stream.read(text)
        let read = stream.handler.value?.object ?? stream.handler.builder.outermostMembers
        // A number is complete only when another byte follows.
        stream.read([ASCII.lineFeed].span)
        return (stream.isComplete ? stream.handler.value : nil, read)
    }
}

/// Takes a whole document as one value.
private struct WholeValue: JSONHandler, Sendable {
    private(set) var value: JSONValue?
    private(set) var builder = JSONValueBuilder()

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
