import CookieModel
import HTTPTypes
import Hummingbird
import NIOPosix
import OAuth2
import SessionStore

/// The HTTP API over a session database, without rules of its own.
///
/// Each route says what the caller must be allowed to do; who calls is found out before.
struct SessionAPI: Sendable {
    let database: SessionDatabase
    /// The rules, but for what each jar has of its own.
    let policy: CookiePolicy
    /// Where writes wait for the disk: many of them together, so that they share a commit, and none of them on the few
    /// threads that answer requests.
    let writers: NIOThreadPool
    /// What authorization servers are asked with, and what is known of logins under way.
    let tokens: TokenAPI
    /// How changes are followed.
    let following: ChangeFollowing
    /// Tells followers of what is written here.
    let changes: ChangeSignal
    let now: @Sendable () -> Timestamp
    let idempotency: IdempotencyCache
    /// The responses that wait to be written.
    let responses: ResponseQueue
    /// What jars do where a site says "not signed in".
    let loginRules = LoginRuleMemory()
    /// When that was done last.
    let renewals = RenewalMemory()
    /// What keeps the service from giving out secrets until a passphrase is given.
    let agentLock = AgentLock()
    /// The gateways that run here.
    let gateways: GatewayRegistry

    /// An API over a database.
    ///
    /// - Parameters:
    ///   - policy: the rules, with the public suffix list; what each jar has of its own takes the place of the rest.
    ///   - writers: threads that may block, running; 64 let as many writers share a commit.
    ///   - tokens: how authorization servers are asked; `nil` if they are not.
    ///   - gateways: the gateways; `nil` if none are run.
    ///   - now: the clock.
    init(
        database: SessionDatabase, policy: CookiePolicy = CookiePolicy(), writers: NIOThreadPool = .singleton,
        tokens: TokenAPI? = nil, following: ChangeFollowing = ChangeFollowing(),
        changes: ChangeSignal = ChangeSignal(), gateways: GatewayRegistry = GatewayRegistry(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        self.policy = policy
        self.writers = writers
        self.tokens = tokens ?? TokenAPI(database.tokens, transport: nil, now: now)
        self.following = following
        self.changes = changes
        self.gateways = gateways
        self.now = now
        idempotency = IdempotencyCache()
        responses = ResponseQueue(writers: writers)
    }

    /// All routes, with what each requires of the caller.
    var routes: [ServiceRoute] {
        jarRoutes + savedSessionRoutes + responseRoutes + captureRoutes + decorateRoutes + cookieRoutes + scriptRoutes
            + explainRoutes + changeRoutes + exportRoutes + tokenRoutes + loginRoutes + loginRuleRoutes
            + headerFieldRoutes + webStorageRoutes + renewalRoutes + simulateRoutes + agentRoutes + gatewayRoutes
            + documentRoutes
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

    /// The jar of a name.
    func jar(named name: String) throws -> CookieJar {
        guard let jar = try database.existingJar(named: name, policy: policy) else {
            throw ServiceProblem.jarNotFound(name)
        }
        return jar
    }

    /// Runs a write to the database, or a long read, on a thread that may block.
    func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await writers.runIfActive(body)
    }
}

extension SessionAPI {
    var documentRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/openapi.json", .caller) { _, _ in
                .json(text: PackageResources.openapi_json)
            }
        ]
    }
}
