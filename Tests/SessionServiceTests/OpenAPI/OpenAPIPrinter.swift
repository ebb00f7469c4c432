import SessionWire

/// Writes the OpenAPI document from the descriptions of the operations and the types of their documents.
struct OpenAPIPrinter {
    /// All operations, in the order of the document.
    static let operations = OperationText.ofJars + OperationText.ofCookies + OperationText.ofService

    static func schema(_ name: String) -> PrintedJSON { reference("schemas/\(name)") }

    /// The parameter for a position, to begin after it.
    static func position(_ description: String) -> PrintedJSON {
        [
            "schema": ["type": "integer", "minimum": 0, "maximum": .integer(.max)],
            "description": .string(description),
        ]
    }

    private static func reference(_ place: String) -> PrintedJSON { ["$ref": .string("#/components/\(place)")] }

    /// The document.
    static func document() throws -> PrintedJSON {
        let components = OpenAPIParameters.components.adding(["schemas": try SchemaPrinter().schemas])
        return OpenAPIParameters.head.adding(["paths": paths, "components": components])
    }

    private static var paths: PrintedJSON {
        var order: [String] = []
        var operations: [String: [OperationText]] = [:]
        for text in Self.operations {
            if operations[text.operation.path] == nil { order.append(text.operation.path) }
            operations[text.operation.path, default: []].append(text)
        }
        return .object(
            order.map { path in
                let parameters = pathParameters(path)
                let item: PrintedJSON = parameters.isEmpty ? [:] : ["parameters": .array(parameters)]
                let members = (operations[path] ?? []).map { text in
                    (name: text.operation.method.rawValue.lowercased(), value: operation(text))
                }
                return (name: "/v1/\(path)", value: item.adding(.object(members)))
            })
    }

    /// The parameters of a path. What a `name` names, the segment in front of it says.
    private static func pathParameters(_ path: String) -> [PrintedJSON] {
        let segments = path.split(separator: "/")
        return zip(segments.dropFirst(), segments).compactMap { segment, previous -> String? in
            switch segment {
            case "{jar}": "Jar"
            case "{id}": "LoginID"
            case "{name}": OpenAPIParameters.named[String(previous)]
            default: nil
            }
        }.map { reference("parameters/\($0)") }
    }

    private static func operation(_ text: OperationText) -> PrintedJSON {
        let operation = text.operation
        var members: PrintedJSON = [
            "operationId": .string(operation.id), "summary": .string(text.summary),
            "x-crumb-access": .string(text.access),
        ]
        if operation.access == .everyone { members = members.adding(["security": []]) }
        let parameters = parameters(text)
        if !parameters.isEmpty { members = members.adding(["parameters": .array(parameters)]) }
        if let body = text.body {
            let example: PrintedJSON? = body.example.map { ["example": $0] }
            members = members.adding([
                "requestBody": [
                    "required": .boolean(operation.body != .optionalDocument),
                    "content": [text.mediaType: (["schema": body.schema] as PrintedJSON).adding(example)],
                ]
            ])
        }
        return members.adding(["responses": responses(text)])
    }

    private static func parameters(_ text: OperationText) -> [PrintedJSON] {
        var parameters = (text.operation.parameters ?? []).sorted().map { name in
            let head: PrintedJSON = ["name": .string(name), "in": "query"]
            return head.adding(text.query[name] ?? OpenAPIParameters.query[name])
        }
        if text.answers.contains(where: { $0.content?["text/event-stream"] != nil }) {
            parameters.append(OpenAPIParameters.lastEvent)
        }
        if text.isRepeatable { parameters.append(reference("parameters/IdempotencyKey")) }
        if text.isConditional { parameters.append(reference("parameters/IfNoneMatch")) }
        return parameters
    }

    private static func responses(_ text: OperationText) -> PrintedJSON {
        var responses: [Int: PrintedJSON] = [:]
        for status in text.problems { responses[status] = reference("responses/Problem") }
        if text.isConditional { responses[304] = ["description": "Not modified"] }
        let tag: PrintedJSON? = text.isConditional ? ["ETag": reference("headers/ETag")] : nil
        for answer in text.answers {
            let headers = (answer.headers ?? tag).map { ["headers": $0] as PrintedJSON }
            let content = answer.content.map { ["content": $0] as PrintedJSON }
            responses[answer.status] = (["description": .string(answer.description)] as PrintedJSON)
                .adding(headers).adding(content)
        }
        return .object(responses.sorted { $0.key < $1.key }.map { (name: "\($0.key)", value: $0.value) })
    }
}
