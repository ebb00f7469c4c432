import SessionWire

/// What the OpenAPI document says of an operation besides its method, path and access.
struct OperationText: Sendable {
    /// An answer other than a problem.
    struct Answer: Sendable {
        let status: Int
        let description: String
        var headers: PrintedJSON?
        /// The schemas by media type; `nil` for an answer without a body.
        var content: PrintedJSON?

        /// An answer with one document.
        static func document(_ status: Int, _ description: String, _ schema: String) -> Answer {
            Answer(status: status, description: description, content: media(OpenAPIPrinter.schema(schema)))
        }

        static func media(_ schema: PrintedJSON) -> PrintedJSON { ["application/json": ["schema": schema]] }
    }

    /// The body of a request.
    struct Body: Sendable {
        let schema: PrintedJSON
        var example: PrintedJSON?
    }

    let operation: OperationDescription
    let summary: String
    /// What differs from ``OpenAPIPrinter/parameters``, by name.
    let query: PrintedJSON
    let body: Body?
    let answers: [Answer]
    /// Statuses of problems that do not follow from the operation.
    let failures: Set<Int>
    /// Statuses of problems that would follow from it, and that it does not answer with.
    let exceptions: Set<Int>
    /// Whether an answer that the client has can be confirmed with 304.
    let isConditional: Bool

    init(
        _ operation: OperationDescription, _ summary: String, query: PrintedJSON = [:], takes body: String? = nil,
        schema: PrintedJSON? = nil, example: PrintedJSON? = nil, gives answer: String? = nil, _ answers: Answer...,
        fails failures: Set<Int> = [], never exceptions: Set<Int> = [], isConditional: Bool = false
    ) {
        self.operation = operation
        self.summary = summary
        self.query = query
        self.body = (schema ?? body.map(OpenAPIPrinter.schema)).map { Body(schema: $0, example: example) }
        self.answers = (answer.map { [.document(200, "Done", $0)] } ?? []) + answers
        self.failures = failures
        self.exceptions = exceptions
        self.isConditional = isConditional
    }

    /// The media type of the request's body.
    var mediaType: String {
        switch operation.body {
        case .streamed: operation == .simulate ? "application/x-ndjson" : "application/octet-stream"
        case .none, .document, .optionalDocument: "application/json"
        }
    }

    /// Whether a repetition with the same key gets the first answer again.
    var isRepeatable: Bool { operation.access.verb == .write && operation.body != .streamed }

    /// The statuses of its problems.
    var problems: Set<Int> {
        let verbs = operation.access.verbs(and: operation.furtherVerbs)
        var statuses: Set = [400, 401, 403, 415, 421, 429, 500, 503]
        if operation.path.contains("{") { statuses.insert(404) }
        if operation.body != .none { statuses.insert(413) }
        // A locked service changes nothing and discloses no secrets.
        if verbs.contains(.secrets) || operation.parameters?.contains("values") == true { statuses.insert(423) }
        if verbs.contains(.write) { statuses.formUnion([409, 413, 422, 423, 507]) }
        return statuses.union(failures).subtracting(exceptions)
    }

    /// The access as the document names it.
    var access: String {
        let further = operation.furtherVerbs.map { "+\($0.rawValue)" }.sorted().joined()
        return switch operation.access {
        case .everyone: "everyone"
        case .caller: "caller"
        case .someJars(let verb): verb.rawValue + further
        case .allJars(let verb): "all:\(verb.rawValue)" + further
        case .jar(let verb): "jar:\(verb.rawValue)" + further
        }
    }
}
