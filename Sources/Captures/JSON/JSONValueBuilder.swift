import CookieModel

/// Puts one JSON value together out of a stream's events, within ``CaptureLimits/responseByteCount``.
struct JSONValueBuilder: Sendable {
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
    private(set) var byteCount = 0
    /// Whether the value is larger than the limit, so that a part of it is missing.
    private(set) var isOverfull = false

    /// Whether a value has begun.
    var isOpen: Bool { !containers.isEmpty }

    /// Begins a container; false where it is too deep to be kept.
    mutating func begin(_ kind: JSONContainer) -> Bool {
        guard containers.count < Self.depthLimit else { return false }
        containers.append(Container(kind: kind))
        return true
    }

    mutating func key(_ name: Span<UInt8>) {
        guard isRoom(for: name.count), let last = containers.indices.last else { return }
        containers[last].name = name.withUnsafeBufferPointer { Octets($0) }
    }

    /// Ends the container at hand; the whole value where that was the outermost one.
    mutating func end() -> JSONValue? {
        guard let container = containers.popLast() else { return nil }
        return add(container.kind == .array ? .array(container.elements) : .object(container.members))
    }

    /// Adds a value to the container at hand; gives it back where there is none.
    mutating func add(_ value: JSONValue) -> JSONValue? {
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
    mutating func reset() {
        self = JSONValueBuilder()
    }

    private mutating func isRoom(for count: Int) -> Bool {
        byteCount += count + 64
        if byteCount > CaptureLimits.responseByteCount { isOverfull = true }
        return !isOverfull
    }
}

extension JSONValue {
    init(_ scalar: JSONScalar) {
        switch scalar {
        case .null: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .number(let number): self = .number(number)
        }
    }
}
