import CookieModel
import HTTPTypes
import Hummingbird
import NIOPosix
import OAuth2
import Platform
import SessionStore
import SessionWire

/// The HTTP API over a session database, without rules of its own.
///
/// Each route names the access that its caller needs. The caller is identified before.
struct SessionAPI: Sendable {
    let database: SessionDatabase
    /// The rules, except for the settings of each jar.
    let policy: CookiePolicy
    /// Where writes wait for the disk: many of them together, so that they share a commit, and none of them on the few
    /// threads that answer requests.
    let writers: NIOThreadPool
    /// The client of authorization servers.
    let tokens: TokenAPI
    let logins: LoginRegistry
    /// How changes are followed.
    let following: ChangeFollowing
    /// Signals the changes written here to followers.
    let changes: ChangeSignal
    let now: @Sendable () -> Timestamp
    let idempotency: IdempotencyCache
    /// The responses that wait to be written.
    let responses: ResponseQueue
    let loginRules = LoginRuleMemory()
    /// When that was done last.
    let renewals = RenewalMemory()
    /// The lock that keeps the service from disclosing secrets until a passphrase is given.
    let agentLock = AgentLock()
    /// The gateways that run here.
    let gateways: GatewayRegistry
    /// The value of a variable of the environment.
    let environment: @Sendable (String) -> String?

    /// Creates an API over a database.
    ///
    /// - Parameters:
    ///   - policy: the rules, with the public suffix list. The settings of each jar replace the rest.
    ///   - writers: threads that may block, running; 64 let as many writers share a commit.
    ///   - tokens: the client of authorization servers.
    ///   - logins: the logins in progress; `nil` for those of the database's services.
    ///   - gateways: the gateways; `nil` if none are run.
    ///   - environment: the value of a variable of the environment.
    ///   - now: the clock.
    init(
        database: SessionDatabase, policy: CookiePolicy = CookiePolicy(), writers: NIOThreadPool = .singleton,
        tokens: TokenAPI, following: ChangeFollowing = ChangeFollowing(),
        changes: ChangeSignal = ChangeSignal(), logins: LoginRegistry? = nil,
        gateways: GatewayRegistry = GatewayRegistry(),
        environment: @escaping @Sendable (String) -> String? = { ProcessEnvironment.variables[$0] },
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        self.policy = policy
        self.writers = writers
        self.tokens = tokens
        self.following = following
        self.changes = changes
        self.gateways = gateways
        self.environment = environment
        self.now = now
        self.logins = logins ?? LoginRegistry(database.isOnServer ? database : nil)
        idempotency = IdempotencyCache(shared: database.isOnServer ? (database, writers, now) : nil)
        responses = ResponseQueue(writers: writers)
    }

    /// All routes, with the access that each requires.
    var routes: [ServiceRoute] {
        operationRoutes + responseRoutes + captureRoutes + decorateRoutes + changeRoutes + exportRoutes
            + loginRoutes + renewalRoutes + simulateRoutes + agentRoutes + gatewayRoutes + documentRoutes
    }

    /// Adds the routes of `/v1`, and that errors are answered as problems, those of routes that are added later too.
    func addRoutes(to router: some RouterMethods<ServiceRequestContext>) {
        let routes = routes
        _ = router.add(
            middleware: ProblemResponses(routes: RouteTable(routes, readable: ["/healthz", "/readyz", "/metrics"])))
        for route in routes.map({ $0.guarded(by: agentLock) }) {
            let isWrite = route.verbs.contains(.write)
            router.on(RouterPath(route.path), method: route.method) { request, context in
                // Whatever comes of it: a write that fails may have done a part.
                defer { if isWrite { changes.notify(context.parameters.get("jar")) } }
                return try await idempotency.respond(to: request, in: context, by: route)
            }
        }
    }

    // MARK: - For the routes

    /// The jar that the path names.
    func jar(in context: ServiceRequestContext) throws -> CookieJar {
        try jar(named: try context.jarName)
    }

    /// The jar that the path names, as it was when the request had arrived: for routes that write nothing before they have
    /// read, or that use ``CookieJar/afterWrite`` then.
    func jarOnArrival(in context: ServiceRequestContext) throws -> CookieJar {
        let name = try context.jarName
        guard let jar = try database.existingJar(named: name, policy: policy, in: context.committed) else {
            throw ServiceFailure.jarNotFound(name)
        }
        return jar
    }

    /// The jar of a name.
    func jar(named name: String) throws -> CookieJar {
        guard let jar = try database.existingJar(named: name, policy: policy) else {
            throw ServiceFailure.jarNotFound(name)
        }
        return jar
    }

    /// Runs a write to the database, or a long read, on a thread that may block.
    func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        let requests = IdempotencyCache.current.map { [$0] } ?? []
        return try await writers.runIfActive { try RepeatableRequest.$current.withValue(requests, operation: body) }
    }
}

extension SessionAPI {
    var documentRoutes: [ServiceRoute] {
        [
            ServiceRoute(.openapi) { _, _ in
                .json(text: PackageResources.openapi_json)
            }
        ]
    }
}
