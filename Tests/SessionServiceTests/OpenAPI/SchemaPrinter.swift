import SessionWire

/// Writes the schemas of the documents from the types of `SessionWire`.
struct SchemaPrinter {
    private let source: WireSource
    /// The name of the schema of each type that has exactly one.
    private let names: [String: String]

    init() throws {
        let source = try WireSource()
        self.source = source
        names = Dictionary(grouping: SchemaTests.rows) { source.name(of: $0.type) }
            .compactMapValues { $0.count == 1 ? $0[0].schema : nil }
    }

    /// All schemas by name.
    var schemas: PrintedJSON {
        .object(
            SchemaTests.rows.map { row in
                (
                    name: row.schema,
                    value: object(source.name(of: row.type), required: row.required, without: row.without)
                )
            })
    }

    private func object(
        _ type: String, required: Set<String> = [], without: Set<String> = []
    ) -> PrintedJSON {
        let found = source.types[type]
        let members = (found?.members ?? []).filter { !without.contains($0.name) }
        let needed = members.filter { !$0.type.hasSuffix("?") || required.contains($0.name) }
        var schema: PrintedJSON = ["type": "object", "description": .string(found?.comment ?? "")]
        schema = schema.adding([
            "properties": .object(members.map { (name: $0.name, value: property($0, of: type)) })
        ])
        if !needed.isEmpty { schema = schema.adding(["required": .array(needed.map { .string($0.name) })]) }
        // A request with an unknown member is rejected.
        return type.hasSuffix("Document") ? schema.adding(["additionalProperties": false]) : schema
    }

    /// The schema of a member, with its comment and its constraint.
    private func property(_ member: WireSource.Member, of type: String) -> PrintedJSON {
        let place = "\(type).\(member.name)"
        let constraint = SchemaConstraints.constraint(of: place)?.members ?? []
        let wireType = member.type.hasSuffix("?") ? String(member.type.dropLast()) : member.type
        var description = member.comment
        if case .string(let rest)? = constraint.first(where: { $0.name == "description" })?.value {
            description += " \(rest)"
        }
        for choice in source.types[source.name(of: wireType, in: type)]?.cases ?? [] {
            description += " `\(choice.name)`: \(choice.comment)"
        }
        var members = schema(wireType, of: member, at: place).members.filter { $0.name != "description" }
        members.insert((name: "description", value: .string(description)), at: min(1, members.count))
        let described = PrintedJSON.object(members)
        let details = constraint.filter { $0.name != "description" }
        guard let elements = described["items"] else { return described.adding(.object(details)) }
        let ofElements = elements.adding(.object(details.filter { !$0.name.hasSuffix("Items") }))
        return described.adding(["items": ofElements]).adding(.object(details.filter { $0.name.hasSuffix("Items") }))
    }

    /// The schema of a member's type, or of its elements' or values' type.
    private func schema(_ type: String, of member: WireSource.Member, at place: String) -> PrintedJSON {
        if let map = type.wholeMatch(of: /\[String: (.*)\]/) {
            return self.map(String(map.output.1), of: member, at: place)
        }
        if let list = type.wholeMatch(of: /\[(.*)\]/) {
            return ["type": "array", "items": schema(String(list.output.1), of: member, at: place)]
        }
        switch type {
        case "String" where member.name.hasSuffix("Base64"): return ["type": "string", "contentEncoding": "base64"]
        case "String" where member.comment.contains("(RFC 3339)"): return ["type": "string", "format": "date-time"]
        case "String": return ["type": "string"]
        case "Bool": return ["type": "boolean"]
        case "Int": return ["type": "integer", "minimum": 0]
        case "Int32", "Int64": return ["type": "integer"]
        case "Number<CountRange>": return number(CountRange.range)
        case "Number<CacheSizeRange>": return number(CacheSizeRange.range)
        case "Number<PortRange>": return number(PortRange.range)
        case "Number<StatusRange>": return number(StatusRange.range)
        case "Number<TokenSkew>": return number(TokenSkew.range)
        // A limit, or `null` for none.
        case "Int?", "Limit": return number(CountRange.range).adding(["type": ["integer", "null"]])
        default: break
        }
        if let name = names[type] { return ["$ref": .string("#/components/schemas/\(name)")] }
        let name = source.name(of: type, in: place)
        let values = source.types[name]?.cases ?? []
        return values.isEmpty
            ? object(name) : ["type": "string", "enum": .array(values.map { .string($0.name) })]
    }

    private func number(_ range: ClosedRange<Int>) -> PrintedJSON {
        ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
    }

    /// A map with any names, or with those that are known: a request has some of them, and an answer has all.
    private func map(_ values: String, of member: WireSource.Member, at place: String) -> PrintedJSON {
        let value = schema(values, of: member, at: place)
        guard let keys = SchemaConstraints.keys(of: place) else {
            return ["type": "object", "additionalProperties": value]
        }
        let map: PrintedJSON = ["type": "object", "properties": .object(keys.map { (name: $0, value: value) })]
        let isRequest = place.prefix { $0 != "." }.hasSuffix("Document")
        return map.adding(
            isRequest ? ["additionalProperties": false] : ["required": .array(keys.map(PrintedJSON.string))])
    }
}
