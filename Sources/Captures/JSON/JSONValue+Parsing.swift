import CookieModel

extension JSONValue {
    /// The value that a text of one line is; `nil` where it is no JSON.
    init?(parsing text: Span<UInt8>) {
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
