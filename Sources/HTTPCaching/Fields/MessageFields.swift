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
    package func has(_ name: StaticString) -> Bool { lines.contains { $0.isNamed(name) } }

    /// The values of the field lines of that name, in order. `name` is in lower case.
    public func values(_ name: StaticString) -> [Octets] {
        var values: [Octets] = []
        for line in lines where line.isNamed(name) { values.append(line.value) }
        return values
    }

    /// The value of the only field line of that name; `nil` without such a line, or with several.
    func onlyValue(_ name: StaticString) -> Octets? {
        var only: Octets?
        for line in lines where line.isNamed(name) {
            guard only == nil else { return nil }
            only = line.value
        }
        return only
    }

    /// Adds a field line at the end.
    package mutating func append(_ name: Octets, _ value: Octets) { lines.append(Field(name, value)) }

    /// Removes the field lines for which a condition holds.
    package mutating func remove(where isUnwanted: (Field) -> Bool) { lines.removeAll(where: isUnwanted) }

    /// Removes the field lines of that name, which is in lower case.
    package mutating func remove(_ name: StaticString) { lines.removeAll { $0.isNamed(name) } }

    /// Replaces the field lines of a name with one. `name` is in lower case.
    mutating func set(_ name: StaticString, as written: Octets, _ value: Octets) {
        remove(name)
        append(written, value)
    }
}

extension MessageFields {
    /// Removes the fields that are for one connection only (RFC 9110, section 7.6.1), before a message is forwarded.
    package mutating func removeConnectionFields() {
        // The Connection header field and fields whose names are listed in it. Likewise, some fields' semantics require
        // them to be removed before forwarding the message.
        let listed = Set(FieldList.members(values("connection")).map(\.lowercased))
        remove { listed.contains($0.name.lowercased) || Self.ofConnection.contains($0.name.lowercased) }
    }

    private static let ofConnection: Set<Octets> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        // Header fields that are specific to the proxy that a cache uses when forwarding a request MUST NOT be stored.
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]

    /// Removes the fields that are excepted from storage (RFC 9111, section 3.1).
    mutating func removeUnstored() {
        removeConnectionFields()
        // Departure: cookies are the jar's. A stored line would set a cookie again that has been replaced or deleted.
        remove("set-cookie")
        // Departure: a stored line would clear the site's data again with each use.
        // NB: Its members are quoted strings. Without one, it clears nothing, so there is no reason to leave it out.
        remove { $0.isNamed("clear-site-data") && $0.value.contains(ASCII.quote) }
    }
}

extension MessageFields: ExpressibleByDictionaryLiteral {
    /// Fields in the order of a literal, which may repeat a name.
    public init(dictionaryLiteral elements: (Octets, Octets)...) {
        self.init(elements.map { Field($0.0, $0.1) })
    }
}
