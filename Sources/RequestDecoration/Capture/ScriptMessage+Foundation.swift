import Foundation

/// What messages of scripts have in common: JSON of a known shape, within limits, from a sender who may be hostile.
enum ScriptMessage {
    /// The longest message, in bytes.
    static let byteLimit = 262_144

    /// Reads a message.
    static func decode<Document: Decodable>(_ type: Document.Type, _ text: String) throws(ScriptMessageError)
        -> Document
    {
        guard text.utf8.count <= byteLimit else { throw ScriptMessageError(.tooLarge) }
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch let error as DecodingError {
            throw ScriptMessage.error(error)
        } catch {
            throw ScriptMessageError(.notJSON)
        }
    }

    /// How errors of this module are told from the decoder's.
    static let unexpected = "not expected"

    private static func error(_ error: DecodingError) -> ScriptMessageError {
        switch error {
        case .keyNotFound(let key, let context):
            ScriptMessageError(.malformed, place: place(context.codingPath + [key]))
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            ScriptMessageError(.malformed, place: place(context.codingPath))
        case .dataCorrupted(let context):
            // The decoder's own errors of this kind are about JSON itself.
            context.codingPath.isEmpty && context.debugDescription != unexpected
                ? ScriptMessageError(.notJSON) : ScriptMessageError(.malformed, place: place(context.codingPath))
        @unknown default:
            ScriptMessageError(.malformed)
        }
    }

    /// Where a value stands. Names are our own: a message with others is refused before they get here.
    private static func place(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text
    }
}

/// A JSON object of which every member is expected, and bounded.
struct ScriptMessageObject {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }

    private let container: KeyedDecodingContainer<Name>
    private let codingPath: [any CodingKey]

    /// The object that `decoder` is at.
    ///
    /// - Parameter names: the members it may have; any other makes it malformed.
    init(_ decoder: any Decoder, _ names: Set<String>) throws {
        container = try decoder.container(keyedBy: Name.self)
        codingPath = decoder.codingPath
        guard container.allKeys.allSatisfy({ names.contains($0.stringValue) }) else { throw malformed() }
    }

    /// The object is not what it should be.
    func malformed(_ name: String? = nil) -> DecodingError {
        let path = codingPath + (name.map { [Name(stringValue: $0)] } ?? [])
        return .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: ScriptMessage.unexpected))
    }

    /// A text of so many bytes at most; `nil` where it is missing or `null`.
    func text(_ name: String, limit: Int) throws -> String? {
        guard let text = try container.decodeIfPresent(String.self, forKey: Name(stringValue: name)) else { return nil }
        guard text.utf8.count <= limit else { throw malformed(name) }
        return text
    }

    /// A text of so many bytes at most that must be there.
    func requiredText(_ name: String, limit: Int) throws -> String {
        guard let text = try text(name, limit: limit) else { throw malformed(name) }
        return text
    }

    /// A truth value; `nil` where it is missing or `null`.
    func flag(_ name: String) throws -> Bool? {
        try container.decodeIfPresent(Bool.self, forKey: Name(stringValue: name))
    }

    /// A number; `nil` where it is missing or `null`.
    func number(_ name: String) throws -> Double? {
        try container.decodeIfPresent(Double.self, forKey: Name(stringValue: name))
    }

    /// An object; `nil` where it is missing or `null`.
    func member<Member: Decodable>(_ name: String, of type: Member.Type) throws -> Member? {
        try container.decodeIfPresent(type, forKey: Name(stringValue: name))
    }

    /// A list of so many elements at most; empty where it is missing.
    func list<Element: Decodable>(_ name: String, of type: Element.Type, limit: Int) throws -> [Element] {
        let key = Name(stringValue: name)
        guard container.contains(key) else { return [] }
        var elements = try container.nestedUnkeyedContainer(forKey: key)
        guard elements.count.map({ $0 <= limit }) ?? true else { throw malformed(name) }
        var list: [Element] = []
        while !elements.isAtEnd {
            guard list.count < limit else { throw malformed(name) }
            list.append(try elements.decode(type))
        }
        return list
    }
}
