public import WebPrimitives

/// The fields of a message, in order, as octets.
///
/// Names keep their case and are compared without it. Values are what a recipient sees of a field line: without the
/// blanks around them.
public struct MessageFields: Sendable, Hashable {
    /// One field line.
    public struct Field: Sendable, Hashable {
        /// The name, as it was written.
        public let name: Octets
        /// The value.
        public let value: Octets

        /// A field line.
        public init(_ name: Octets, _ value: Octets) {
            self.name = name
            self.value = value.trimmingBlanks
        }

        /// Whether the name is `name`, which is in lower case.
        func isNamed(_ name: StaticString) -> Bool { self.name.withSpan { $0.equalsIgnoringCase(name) } }
    }

    /// The field lines, in order.
    public private(set) var lines: [Field]

    /// Fields in the given order.
    public init(_ lines: [Field] = []) {
        self.lines = lines
    }

    /// Whether there is a field of that name, which is in lower case.
    public func has(_ name: StaticString) -> Bool { lines.contains { $0.isNamed(name) } }

    /// The values of the field lines of that name, in order. `name` is in lower case.
    public func values(_ name: StaticString) -> [Octets] { lines.filter { $0.isNamed(name) }.map(\.value) }

    /// The values of the field lines whose lower-case name is `name`.
    func values(lowercasedName name: Octets) -> [Octets] {
        lines.filter { $0.name.lowercased == name }.map(\.value)
    }

    /// The value of the only field line of that name; `nil` if there is none, or more than one.
    func onlyValue(_ name: StaticString) -> Octets? {
        let values = values(name)
        return values.count == 1 ? values.first : nil
    }

    /// Adds a field line at the end.
    public mutating func append(_ name: Octets, _ value: Octets) { lines.append(Field(name, value)) }

    /// Removes the field lines for which a condition holds.
    public mutating func remove(where isUnwanted: (Field) -> Bool) { lines.removeAll(where: isUnwanted) }

    /// Removes the field lines of that name, which is in lower case.
    public mutating func remove(_ name: StaticString) { lines.removeAll { $0.isNamed(name) } }

    /// Replaces the field lines of a name with one. `name` is in lower case.
    mutating func set(_ name: StaticString, as written: Octets, _ value: Octets) {
        remove(name)
        append(written, value)
    }
}

extension MessageFields: ExpressibleByDictionaryLiteral {
    /// Fields in the order of a literal, which may repeat a name.
    public init(dictionaryLiteral elements: (Octets, Octets)...) {
        self.init(elements.map { Field($0.0, $0.1) })
    }
}
