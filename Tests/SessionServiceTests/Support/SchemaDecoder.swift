/// Decodes a type out of a schema in place of a document, and notes where the two differ: a member that only one of them
/// has, that is required by one of them, or that is of another kind.
struct SchemaDecoder: Decoder {
    /// What was found, of the schema and of all that it refers to.
    final class Findings {
        var faults: [String] = []
    }

    let document: APIDocument
    let schema: [String: Any]
    let place: String
    /// The places of the members that are not compared.
    let exceptions: Set<String>
    let findings: Findings
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// The differences between a type and a schema.
    static func faults<Value: Decodable>(
        of type: Value.Type, _ schema: [String: Any], in document: APIDocument, except exceptions: Set<String>
    ) throws -> [String] {
        let decoder = SchemaDecoder(
            document: document, schema: document.resolved(schema), place: "\(type)",
            exceptions: Set(exceptions.map { "\(type).\($0)" }),
            findings: Findings())
        _ = try decoder.value(type)
        return decoder.findings.faults
    }

    /// A value of the type; notes the members of the schema that the type has not asked for.
    fileprivate func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let asked = Asked()
        let value = try Value(from: Reader(decoder: self, asked: asked))
        for name in properties.keys where asked.isObject && !asked.names.contains(name) {
            note("\(place).\(name)", "the type has no such member")
        }
        return value
    }

    /// The members that a type asks for.
    fileprivate final class Asked {
        var names: Set<String> = []
        var isObject = false
        /// The member that may be missing.
        var optional: String?
    }

    fileprivate var properties: [String: [String: Any]] { schema["properties"] as? [String: [String: Any]] ?? [:] }
    fileprivate var others: [String: Any]? { schema["additionalProperties"] as? [String: Any] }

    fileprivate func at(_ place: String, _ schema: [String: Any]) -> SchemaDecoder {
        var schema = document.resolved(schema)
        let choices = (schema["oneOf"] ?? schema["anyOf"]) as? [[String: Any]] ?? []
        // One of the choices is null, and the type says by itself what may be missing.
        if let choice = choices.first(where: { $0["type"] as? String != "null" }) { schema = document.resolved(choice) }
        return SchemaDecoder(
            document: document, schema: schema, place: place, exceptions: exceptions, findings: findings)
    }

    fileprivate func note(_ place: String, _ fault: String) {
        if !exceptions.contains(place) { findings.faults.append("\(place): \(fault)") }
    }

    fileprivate func expect(_ kind: String) {
        let kinds = schema["type"] as? [String] ?? [schema["type"] as? String ?? "nothing"]
        if !kinds.contains(kind) { findings.faults.append("\(place): \(kind) in the type, \(kinds) in the schema") }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try Reader(decoder: self, asked: Asked()).container(keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try Reader(decoder: self, asked: Asked()).unkeyedContainer()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        Scalar(decoder: self)
    }
}

/// Reads one value, and remembers its members.
private struct Reader: Decoder {
    let decoder: SchemaDecoder
    let asked: SchemaDecoder.Asked
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        asked.isObject = true
        decoder.expect("object")
        return KeyedDecodingContainer(Members(decoder: decoder, asked: asked))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        decoder.expect("array")
        return Elements(decoder: decoder.at("\(decoder.place)[]", decoder.schema["items"] as? [String: Any] ?? [:]))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        Scalar(decoder: decoder)
    }
}

/// What a container gives out of a schema.
private protocol SchemaValues {
    func next<Value: Decodable>(_ type: Value.Type) throws -> Value
}

extension SchemaValues {
    func decode(_ type: Bool.Type) throws -> Bool { try next(type) }
    func decode(_ type: String.Type) throws -> String { try next(type) }
    func decode(_ type: Double.Type) throws -> Double { try next(type) }
    func decode(_ type: Float.Type) throws -> Float { try next(type) }
    func decode(_ type: Int.Type) throws -> Int { try next(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try next(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try next(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try next(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try next(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try next(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next(type) }
}

/// A text, a number, true or false.
private struct Scalar: SingleValueDecodingContainer, SchemaValues {
    let decoder: SchemaDecoder
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { false }

    func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let scalar: Any
        switch type {
        case is String.Type:
            decoder.expect("string")
            scalar = (decoder.schema["enum"] as? [String])?.first ?? ""
        case is Bool.Type:
            decoder.expect("boolean")
            scalar = false
        case let type as any FixedWidthInteger.Type:
            decoder.expect("integer")
            scalar = type.init(clamping: decoder.schema["minimum"] as? Int ?? 0)
        default: return try decoder.value(type)
        }
        guard let value = scalar as? Value else {
            throw DecodingError.typeMismatch(type, .init(codingPath: [], debugDescription: decoder.place))
        }
        return value
    }
}

/// A list with one element.
private struct Elements: UnkeyedDecodingContainer, SchemaValues {
    let decoder: SchemaDecoder
    let codingPath: [any CodingKey] = []
    private let position = Position()

    private final class Position {
        var index = 0
    }

    init(decoder: SchemaDecoder) {
        self.decoder = decoder
    }

    var count: Int? { 1 }
    var currentIndex: Int { position.index }
    var isAtEnd: Bool { position.index > 0 }

    func decodeNil() -> Bool { false }

    func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
        position.index += 1
        return try Scalar(decoder: decoder).next(type)
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try decoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }

    func superDecoder() throws -> any Decoder { decoder }
}

/// The members of an object.
private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SchemaDecoder
    let asked: SchemaDecoder.Asked
    let codingPath: [any CodingKey] = []

    var allKeys: [Key] {
        let names = decoder.properties.isEmpty ? ["any"] : Array(decoder.properties.keys)
        return names.compactMap { Key(stringValue: $0) }
    }

    /// Whether the type takes members of any name, so that their values alone are compared.
    private var isDictionary: Bool { "\(Key.self)" == "_DictionaryCodingKey" }

    /// Asked first for a member that may be missing.
    func contains(_ key: Key) -> Bool {
        asked.optional = key.stringValue
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool { false }

    private func member<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        let name = key.stringValue
        let place = "\(decoder.place).\(name)"
        let isOptional = asked.optional == name
        asked.optional = nil
        asked.names.insert(name)
        if isDictionary {
            return try Scalar(decoder: decoder.at(place, decoder.properties[name] ?? decoder.others ?? [:])).next(type)
        }
        guard let property = decoder.properties[name] else {
            decoder.note(place, "the schema has no such member")
            // What is below is not in the schema either.
            return try Scalar(
                decoder: SchemaDecoder(
                    document: decoder.document, schema: [:], place: place, exceptions: [], findings: .init())
            ).next(type)
        }
        let isRequired = (decoder.schema["required"] as? [String] ?? []).contains(name)
        if isRequired == isOptional {
            decoder.note(place, "\(isRequired ? "required" : "optional") in the schema only")
        }
        return try Scalar(decoder: decoder.at(place, property)).next(type)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(type, key) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(type, key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder }

    func superDecoder(forKey key: Key) throws -> any Decoder { decoder }
}
