/// How an operation of the service is asked for, and the access that its caller needs.
///
/// The service mounts a route by it, and a client builds its requests from it, so both agree on methods and paths.
package struct OperationDescription: Sendable, Hashable {
    /// The method of the request.
    package enum Method: String, Sendable, Hashable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// What a caller may do with jars, by the names of an access token's verbs.
    package enum Verb: String, Sendable, Hashable {
        case read, write, secrets
    }

    /// The access that a caller needs. The work checks conditions that also depend on the request.
    package enum Access: Sendable, Hashable {
        /// None: the request carries its own proof.
        case everyone
        /// An identity.
        case caller
        /// The verb, for any jars. The answer contains only those that the grant covers.
        case someJars(Verb)
        /// The verb, for resources that belong to no single jar.
        case allJars(Verb)
        /// The verb, for the jar in the path.
        case jar(Verb)

        /// The verb; `nil` if none is needed.
        package var verb: Verb? {
            switch self {
            case .everyone, .caller: nil
            case .someJars(let verb), .allJars(let verb), .jar(let verb): verb
            }
        }

        /// All verbs that a caller needs.
        package func verbs(and further: Set<Verb>) -> Set<Verb> { verb.map { further.union([$0]) } ?? further }
    }

    /// The kind of body that a request has.
    package enum Body: Sendable, Hashable {
        /// No body.
        case none
        /// A JSON document.
        case document
        /// A JSON document, which may be missing.
        case optionalDocument
        /// A stream of any length.
        case streamed
    }

    /// The name of the operation, as in the OpenAPI document.
    package let id: String
    package let method: Method
    /// The path after `/v1/`, with parameters in braces.
    package let path: String
    package let access: Access
    /// The verbs that a caller needs in addition, for the same jars.
    package let furtherVerbs: Set<Verb>
    /// The query parameters that it knows; `nil` if another program makes the URL, with parameters of its own.
    package let parameters: Set<String>?
    package let body: Body

    init(
        _ id: String, _ method: Method, _ path: String, _ access: Access, and furtherVerbs: Set<Verb> = [],
        query parameters: Set<String>? = [], body: Body = .none
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.access = access
        self.furtherVerbs = furtherVerbs
        self.parameters = parameters
        self.body = body
    }

    /// Whether a segment of the path is the name of a jar.
    package var isOfJar: Bool { path.contains("{jar}") }

    /// The value of a parameter of the path; empty if the path has no such parameter.
    package func argument(_ name: String, of arguments: [String]) -> String {
        let names = path.split(separator: "/").filter { $0.first == "{" }
        return zip(names, arguments).first { $0.0 == "{\(name)}" }?.1 ?? ""
    }

    /// The path of a request.
    ///
    /// - Parameters:
    ///   - arguments: The values of the path's parameters, in order.
    ///   - encoded: Encodes a value as one segment.
    package func path(_ arguments: [String], _ encoded: (String) -> String) -> String {
        var arguments = arguments[...]
        return path.split(separator: "/").reduce(into: "/v1") { path, segment in
            path += "/"
            path += segment.first == "{" ? encoded(arguments.popFirst() ?? "") : String(segment)
        }
    }
}
