import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore
import SessionWire

/// One route of the API: its method, its path, and the access that the caller needs.
///
/// Routes are data, so that access is decided in one place, a request with the wrong method for a path gets the right
/// error, and a test can enumerate all of them.
struct ServiceRoute: Sendable {
    typealias Access = OperationDescription.Access
    typealias Body = OperationDescription.Body
    typealias Handler = @Sendable (Request, ServiceRequestContext) async throws -> Response

    /// The name of the operation in the OpenAPI document; `nil` for a page.
    let id: String?
    let method: HTTPRequest.Method
    /// The path, with parameters in braces.
    let path: String
    let access: Access
    /// The verbs that a caller needs in addition, for the same jars.
    let furtherVerbs: Set<OperationDescription.Verb>
    /// The query parameters that it knows; `nil` if another program makes the URL, whose parameters are its own.
    let parameters: Set<String>?
    /// The kind of body that its requests have.
    let body: Body
    /// Whether it is the lock's own: it answers while the service is locked, too, and nothing of it is remembered.
    let isOfLock: Bool
    /// The lock that keeps its secrets and changes; `nil` for a route that answers while the service is locked, too.
    private(set) var lock: AgentLock?
    /// Answers a request of a caller that may send it.
    let handler: Handler

    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access,
        and furtherVerbs: Set<OperationDescription.Verb> = [],
        query parameters: Set<String>? = [], body: Body = .none, isOfLock: Bool = false, id: String? = nil,
        use handler: @escaping Handler
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.access = access
        self.furtherVerbs = furtherVerbs
        self.parameters = parameters
        self.body = body
        self.isOfLock = isOfLock
        self.handler = handler
    }

    /// The route of an operation.
    init(_ operation: OperationDescription, isOfLock: Bool = false, use handler: @escaping Handler) {
        self.init(
            HTTPRequest.Method(operation.method), "/v1/\(operation.path)", operation.access,
            and: operation.furtherVerbs, query: operation.parameters, body: operation.body, isOfLock: isOfLock,
            id: operation.id, use: handler)
    }

    /// The rights that a caller needs.
    var verbs: Set<AccessVerb> { Set(access.verbs(and: furtherVerbs).map { AccessVerb($0) }) }

    /// Whether it changes stored data and discloses no secret, so that a repeated request may do harm and the response
    /// can be kept. The lock's own routes are harmless when repeated, and their passphrase must not be kept.
    var isWrite: Bool { !isOfLock && access.verb == .write }

    /// The same route, which gives out no secret and changes nothing while the service is locked. The lock's own stay open.
    func guarded(by lock: AgentLock) -> ServiceRoute {
        guard !isOfLock else { return self }
        var route = self
        route.lock = lock
        return route
    }

    /// Answers a request, if its caller may send it and the route knows all of its query parameters and its body.
    func respond(to request: Request, in context: ServiceRequestContext) async throws -> Response {
        var context = context
        context.lock = lock
        try check(context)
        if let parameters { context.query = try QueryItems(request, known: parameters) }
        if body == .none { try await request.requireNoBody() }
        return try await handler(request, context)
    }

    /// Checks that the caller may send the request.
    func check(_ context: ServiceRequestContext) throws(ServiceFailure) {
        if access == .caller { try context.requireCaller() }
        if let verb = access.verb { try check(AccessVerb(verb), context) }
        for verb in furtherVerbs { try check(AccessVerb(verb), context) }
    }

    private func check(_ verb: AccessVerb, _ context: ServiceRequestContext) throws(ServiceFailure) {
        switch access {
        case .jar: try context.require(verb, jar: try context.jarName)
        case .someJars: try context.requireForSomeJars(verb)
        case .everyone, .caller, .allJars: try context.require(verb)
        }
    }
}

extension AccessVerb {
    fileprivate init(_ verb: OperationDescription.Verb) {
        self =
            switch verb {
            case .read: .read
            case .write: .write
            case .secrets: .secrets
            }
    }
}

extension HTTPRequest.Method {
    fileprivate init(_ method: OperationDescription.Method) {
        self =
            switch method {
            case .get: .get
            case .put: .put
            case .post: .post
            case .patch: .patch
            case .delete: .delete
            }
    }
}

extension Request {
    /// Checks that the request has no body, reading no more of one than its first octets.
    fileprivate func requireNoBody() async throws {
        let refusal = ServiceFailure.bodyInvalid("this route takes no body; send the request without one")
        guard headers.declaredLength ?? 0 == 0 else { throw refusal }
        // Without either field there is no body (RFC 9112, section 6.3).
        guard headers.contains(.transferEncoding) else { return }
        for try await chunk in body where chunk.readableBytes > 0 { throw refusal }
    }
}

extension RouterMethods<ServiceRequestContext> {
    /// Adds a route that answers as it is described.
    func add(_ route: ServiceRoute) {
        on(RouterPath(route.path), method: route.method) { try await route.respond(to: $0, in: $1) }
    }
}

/// Which paths there are, and the methods that each is asked for by.
struct RouteTable: Sendable {
    private let paths: [(segments: [Substring], methods: Set<HTTPRequest.Method>)]

    /// The table of some routes, and of paths that are read.
    init(_ routes: [ServiceRoute], readable: [String] = []) {
        var methods = Dictionary(grouping: routes, by: \.path).mapValues { Set($0.map(\.method)) }
        for path in readable { methods[path, default: []].insert(.get) }
        paths = methods.map { path, methods in
            (path.split(separator: "/"), methods.contains(.get) ? methods.union([.head]) : methods)
        }
    }

    /// The methods that a path is asked for by; empty if there is no such path.
    func methods(of path: String) -> Set<HTTPRequest.Method> {
        let segments = path.split(separator: "/")
        return paths.reduce(into: []) { methods, entry in
            guard entry.segments.count == segments.count,
                zip(entry.segments, segments).allSatisfy({ $0.first == "{" || $0 == $1 })
            else { return }
            methods.formUnion(entry.methods)
        }
    }
}
