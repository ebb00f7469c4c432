public import WebPrimitives

/// The request fields that a response's Vary field names, with their values in the request that it answered
/// (RFC 9111, section 4.1).
public struct NominatedFields: Sendable, Hashable {
    /// The normalized values by lower-case name; `nil` for a field that the request did not have.
    public private(set) var values: [Octets: Octets?]

    /// Fields as a store has kept them.
    public init(values: [Octets: Octets?] = [:]) {
        self.values = values
    }

    /// The fields of a request that Vary names; `nil` if Vary contains `*`, so that no request can match.
    init?(_ request: CacheRequest, for response: MessageFields) {
        values = [:]
        for name in FieldList.members(response.values("vary")) {
            // Section 4.1: A stored response with a Vary field value containing a member "*" always fails to match.
            guard name != "*" else { return nil }
            let name = name.lowercased
            values.updateValue(Self.value(name, of: request), forKey: name)
        }
    }

    /// Whether a request has the same values.
    ///
    /// Linear in the number of fields named, each of which is looked for among those of the request.
    func match(_ request: CacheRequest) -> Bool {
        // If a header field is absent from a request, it can only match another request if it is also absent there.
        values.allSatisfy { name, value in Self.value(name, of: request) == value }
    }

    /// The value of a field, normalized so that values are equal if their fields match; `nil` if the field is absent.
    private static func value(_ name: Octets, of request: CacheRequest) -> Octets? {
        let lines = request.fields.values(lowercasedName: name)
        guard !lines.isEmpty else { return nil }
        // Combine multiple field lines with the same field name. Add or remove white space where the syntax allows it.
        // NB: The syntax of most fields is unknown. Beside a comma outside of quotation marks, no known one has white
        // space with a meaning.
        let value = FieldList.normalized(lines)
        // Normalize case where values are case-insensitive. NB: The order of languages and codings is kept. It has no
        // meaning by the standard, but people set it in their browsers, and servers follow it.
        return isCaseInsensitive(name) ? value.lowercased : value
    }

    private static func isCaseInsensitive(_ name: Octets) -> Bool {
        name == "accept-language" || name == "accept-encoding" || name == "accept-charset"
    }
}
