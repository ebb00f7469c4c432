import Foundation
import Testing

@testable import SessionService

/// The OpenAPI document, and whether answers are what it says.
struct APIDocument {
    let members: [String: Any]

    init() throws {
        let text = Data(PackageResources.openapi_json)
        members = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
    }

    /// The operations by method and path.
    var operations: [String: [String: Any]] {
        var operations: [String: [String: Any]] = [:]
        for (path, item) in members["paths"] as? [String: [String: Any]] ?? [:] {
            for (method, operation) in item where method != "parameters" {
                operations["\(method.uppercased()) \(path)"] = operation as? [String: Any]
            }
        }
        return operations
    }

    /// What is wrong with an answer; empty where it is as the document says.
    func faults(of answer: ServiceAnswer, to operation: String) throws -> [String] {
        let responses = try #require(operations[operation]?["responses"] as? [String: Any])
        guard let response = responses["\(answer.status)"] as? [String: Any] else {
            return ["\(answer.status) is not documented"]
        }
        guard let content = resolved(response)["content"] as? [String: [String: Any]] else {
            return answer.text.isEmpty ? [] : ["a body is not documented"]
        }
        guard let media = content[answer.mediaType] else { return ["\(answer.mediaType) is not documented"] }
        guard let schema = media["schema"] as? [String: Any], answer.mediaType.hasSuffix("json"),
            answer.mediaType != "application/x-ndjson"
        else { return [] }
        let value = try JSONDecoder().decode(JSONTree.self, from: Data(answer.text.utf8))
        return faults(of: value, schema, at: "$")
    }

    func resolved(_ schema: [String: Any]) -> [String: Any] {
        guard let reference = schema["$ref"] as? String else { return schema }
        let parts = reference.split(separator: "/").dropFirst()
        var value: Any? = members
        for part in parts { value = (value as? [String: Any])?[String(part)] }
        return value as? [String: Any] ?? [:]
    }

    /// What a value has that a schema does not allow. An answer has no member that is not documented.
    func faults(of value: JSONTree, _ schema: [String: Any], at place: String) -> [String] {
        let schema = resolved(schema)
        if let choices = schema["oneOf"] as? [[String: Any]] {
            let fitting = choices.filter { faults(of: value, $0, at: place).isEmpty }
            return fitting.count == 1 ? [] : ["\(place): fits \(fitting.count) of the choices"]
        }
        if let type = schema["type"] {
            let types = type as? [String] ?? [type as? String ?? ""]
            guard types.contains(where: { value.isA($0) }) else { return ["\(place): is no \(types)"] }
        }
        if let choices = schema["enum"] as? [String], case .string(let text) = value, !choices.contains(text) {
            return ["\(place): '\(text)' is none of \(choices)"]
        }
        if case .array(let list) = value, let items = schema["items"] as? [String: Any] {
            return list.enumerated().flatMap { faults(of: $1, items, at: "\(place)[\($0)]") }
        }
        guard case .object(let object) = value else { return [] }
        let properties = schema["properties"] as? [String: [String: Any]]
        let others = schema["additionalProperties"] as? [String: Any]
        var found = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }.map {
            "\(place): lacks \($0)"
        }
        for (name, member) in object {
            if let property = properties?[name] ?? others {
                found += faults(of: member, property, at: "\(place).\(name)")
            } else if properties != nil {
                found.append("\(place): \(name) is not documented")
            }
        }
        return found
    }
}

/// A JSON value.
enum JSONTree: Decodable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }

    /// Whether it is of a type of JSON Schema.
    func isA(_ type: String) -> Bool {
        switch self {
        case .null: type == "null"
        case .boolean: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number: type == "number"
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}
