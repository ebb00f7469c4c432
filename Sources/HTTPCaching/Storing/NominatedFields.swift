package import WebPrimitives

/// The request fields that a response's Vary field names, with their values in the request that it answered
/// (RFC 9111, section 4.1); and those of the request by which a client may name another target.
///
/// NB: They are the values themselves, such as those of Cookie or Authorization. A store has to seal them.
package struct NominatedFields: Sendable, Hashable {
    /// The normalized values by lower-case name; `nil` for a field that the request did not have.
    package private(set) var values: [Octets: Octets?]

    /// Fields as a store has kept them.
    package init(values: [Octets: Octets?] = [:]) {
        self.values = values
    }

    /// The fields of a request that Vary names; `nil` if Vary contains `*` or too many names, so that no request can match.
    init?(_ request: CacheRequest, for response: MessageFields) {
        values = [:]
        let names = FieldList.members(response.values("vary"))
        guard names.count <= FieldList.memberLimit else { return nil }
        var presented = PresentedFields(request.fields)
        for name in names {
            // Section 4.1: A stored response with a Vary field value containing a member "*" always fails to match.
            guard name != "*" else { return nil }
            let name = name.lowercased
            values.updateValue(presented.value(name), forKey: name)
        }
        // Departure: servers that follow these fields leave them out of Vary. Otherwise, a client that sends one could
        // have the others get its response.
        for name in presented.targetNames { values.updateValue(presented.value(name), forKey: name) }
    }

    /// Whether a request has the same values. Linear in the number of fields named.
    func match(_ presented: inout PresentedFields) -> Bool {
        // If a header field is absent from a request, it can only match another request if it is also absent there.
        values.allSatisfy { name, value in presented.value(name) == value }
            && presented.targetNames.allSatisfy(values.keys.contains)
    }
}

/// The fields of a request by name, each normalized once for all responses that it is compared with.
struct PresentedFields {
    private let fields: MessageFields
    private lazy var lines = Dictionary(grouping: fields.lines, by: \.name.lowercased).mapValues { $0.map(\.value) }
    private var values: [Octets: Octets?] = [:]
    /// Those by which the request may have another target or method for a server than the one that it is stored for.
    let targetNames: [Octets]

    init(_ fields: MessageFields) {
        self.fields = fields
        targetNames = fields.lines.compactMap { Self.targetName($0.name) }
    }

    /// The name in lower case, if the field may name another target. The first letter tells most names apart.
    private static func targetName(_ name: Octets) -> Octets? {
        guard let first = name.first.map(ASCII.lowercased), first == UInt8(ascii: "x") || first == UInt8(ascii: "f")
        else { return nil }
        let name = name.lowercased
        return ofTarget.contains(name) ? name : nil
    }

    /// The value of a field, normalized so that values are equal if their fields match; `nil` if the field is absent.
    mutating func value(_ name: Octets) -> Octets? {
        if let known = values[name] { return known }
        // Combine multiple field lines with the same field name. Add or remove white space where the syntax allows it.
        // NB: The syntax of most fields is unknown. Beside a comma outside of quotation marks, no known one has white
        // space with a meaning.
        var value = lines[name].map(FieldList.normalized)
        // Normalize case where values are case-insensitive. NB: The order of languages and codings is kept. It has no
        // meaning by the standard, but people set it in their browsers, and servers follow it.
        if Self.caseInsensitive.contains(name) { value = value?.lowercased }
        values.updateValue(value, forKey: name)
        return value
    }

    /// All of these begin with `f` or `x`.
    private static let ofTarget: Set<Octets> = [
        "forwarded", "x-forwarded-host", "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-proto",
        "x-forwarded-scheme", "x-forwarded-server", "x-host", "x-http-method", "x-http-method-override",
        "x-method-override", "x-original-host", "x-original-url", "x-rewrite-url",
    ]

    private static let caseInsensitive: Set<Octets> = ["accept-language", "accept-encoding", "accept-charset"]
}
