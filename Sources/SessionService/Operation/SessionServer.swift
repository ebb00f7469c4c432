package import CookieModel
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
package import OAuth2
import OpenIDConnect
import ServiceLifecycle
package import SessionOperations
package import SessionStore
import UnixSignals

/// The service: a session database over HTTP, for many.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.socket = "/run/user/1000/crumb/crumb.sock"
/// try await SessionServer(
///     database: database, configuration: configuration, transport: transport, logger: logger, now: now
/// ).run()
/// ```
package struct SessionServer: Sendable {
    let database: SessionDatabase
    let configuration: ServiceConfiguration
    let transport: any EndpointTransport
    let logger: Logger
    let now: @Sendable () -> Timestamp
    /// Runs a gateway until the task is cancelled; `nil` if this service runs none.
    package var runGateway: (@Sendable (GatewayJob) async throws -> Void)?
    /// How many writers wait together, and share a commit.
    var writerCount = 64
    /// A clock that only goes forward, by which requests are counted.
    var tick: @Sendable () -> NIODeadline = { .now() }

    /// Creates a service over a database.
    ///
    /// - Parameters:
    ///   - transport: sends requests to authorization servers.
    ///   - now: the clock.
    package init(
        database: SessionDatabase, configuration: ServiceConfiguration, transport: any EndpointTransport,
        logger: Logger, now: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        self.configuration = configuration
        self.transport = transport
        self.logger = logger
        self.now = now
    }

    /// Runs until the process is told to stop (SIGTERM, SIGINT, SIGQUIT; SIGHUP if there is no audit log to reopen).
    ///
    /// Requests accepted until then are answered, and the responses of authorization servers to pending refreshes are
    /// stored.
    ///
    /// - Throws: ``ServiceStartError`` if the service cannot start, and the errors of the database.
    package func run() async throws {
        let services = try await prepare(inherited: SystemdActivation.takeSockets())
        var group = ServiceGroupConfiguration(
            services: services.all.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint, .sigquit]
                + (configuration.auditFile == nil ? [.sighup] : []),
            logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(configuration.limits.shutdownSeconds)
        let end: Result<Void, any Error>
        do {
            end = .success(try await ServiceGroup(configuration: group).run())
        } catch {
            end = .failure(error)
        }
        // The responses of authorization servers cannot be had again, so they get more time than callers.
        await services.refresher.finish()
        try end.get()
        logger.info("Stopped")
    }

    private func logStop(of refresher: TokenRefresher) {
        let names = refresher.refreshing
        guard !names.isEmpty else { return logger.info("Stopping") }
        logger.notice(
            "Stopping; waiting for responses to token refreshes",
            metadata: ["profiles": .array(names.map { "\($0)" })])
    }

    /// The services to run, in the order in which they start. They stop in the reverse order.
    struct Services {
        let all: [any Service]
        let listeners: Listeners
        let state: ServiceState
        let refresher: TokenRefresher
    }

    /// Begins to listen, and creates the services.
    func prepare(inherited: [Int32] = []) async throws -> Services {
        // The next steps read and write, so the database must have a heartbeat.
        try database.commitHeartbeat()
        let connections = ConnectionPools(limit: configuration.limits.connections)
        let tokens = TokenAPI(
            database.tokens, transport: transport,
            checkingIDTokens: { token, keys in _ = try await IDTokenVerifier(keys: keys).claims(in: token) },
            answerTimeout: .seconds(configuration.refreshTimeoutSeconds), now: now)
        let state = ServiceState(announcingStop: { [refresher = tokens.access.refresher] in logStop(of: refresher) })
        let health = ServiceHealth(logger: logger)
        let metrics = ServiceMetrics(tokens: database.tokens)
        let audit = try configuration.auditFile.map { path throws(ServiceStartError) in
            try AuditWriter(
                path: path, summaryInterval: .seconds(configuration.auditSummarySeconds), logger: logger, now: now)
        }
        let router = Router(context: ServiceRequestContext.self, options: .autoGenerateHeadEndpoints)
        let gateways = GatewayRegistry(limits: configuration.gateways, logger: logger, running: runGateway)
        HealthRoutes(database: database, state: state, health: health, now: now).add(to: router)
        MetricsRoute(
            database: database, connections: connections, metrics: metrics, gateways: gateways, health: health,
            isPublic: configuration.publishesMetrics
        ).add(to: router)
        let writers = NIOThreadPool(numberOfThreads: writerCount)
        writers.start()
        let changes = ChangeSignal()
        let api = SessionAPI(
            database: database, writers: writers, tokens: tokens, changes: changes, gateways: gateways, now: now)
        api.addRoutes(to: router)
        let admission = Admission(
            tokens: database.serviceTokens, limits: configuration.limits,
            publishesMetrics: configuration.publishesMetrics, tick: tick)
        let inspector = Inspector(
            database: database, writers: writers, admission: admission, changes: changes, agentLock: api.agentLock,
            gateways: gateways, base: configuration.publicURL?.prefix ?? "", now: now)
        inspector.addRoutes(to: router)
        let routes = router.buildResponder()
        let date = DateField()
        let listeners = try await Listeners(
            configuration, inherited: inherited, connections: connections, logger: logger
        ) { way, tls in
            let responder = ServiceResponder(
                listener: way, admission: admission, routes: routes, auditLog: audit, metrics: metrics,
                health: health, foreignLink: inspector.foreignLink, date: date, logger: logger,
                publicURL: configuration.publicURL, server: database.isOnServer ? database : nil, now: now)
            return ServiceChannel(
                responder: { request, writer, channel in
                    try await responder.respond(to: request, writer, on: channel)
                }, limits: configuration.limits, connections: connections[way], health: health, tls: tls)
        }
        // After the addresses are bound: a service that cannot start leaves the token of another one as it is.
        if !configuration.addresses.isEmpty || !inherited.isEmpty { try await prepareOwnerToken(listeners) }
        tokens.callback.url = listeners.browserURL(configuration).map { $0 + LoginCallback.path }
        for listener in listeners.all { logger.info("Listening", metadata: ["address": "\(listener.name)"]) }
        let housekeeper = Housekeeper(
            database: database, writers: writers, uses: admission.uses,
            refresher: tokens.access.refresher, configuration: configuration, logger: logger, health: health,
            now: now)
        // The first service to start is the last to stop.
        var all: [any Service] = [
            Heart(database: database, health: health), WriterThreads(pool: writers), housekeeper, gateways, listeners,
            state,
        ]
        if let audit { all.insert(audit, at: 0) }
        return Services(all: all, listeners: listeners, state: state, refresher: tokens.access.refresher)
    }

    /// Writes the owner's access token to its file if it is not there. Connections are accepted only later.
    ///
    /// - Parameter listeners: They are closed if that fails.
    private func prepareOwnerToken(_ listeners: Listeners) async throws {
        guard let path = configuration.tokenFile else { return }
        let isNew: Bool
        do {
            isNew = try OwnerToken(path: path).prepare(
                database.serviceTokens, isShared: database.isOnServer, now: now())
        } catch {
            await listeners.close()
            throw error
        }
        logger.info(
            isNew ? "Wrote an access token for the owner" : "The owner's access token is in its file",
            metadata: ["file": "\(path)"])
    }
}

/// Ends the threads that wait for the disk after all that writes.
private struct WriterThreads: Service {
    let pool: NIOThreadPool

    func run() async throws {
        try? await gracefulShutdown()
        try await pool.shutdownGracefully()
    }
}

/// Commits the heartbeats that a database on a server needs.
private struct Heart: Service {
    let database: SessionDatabase
    let health: ServiceHealth

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            try await database.keepBeating { [health] in health.noteHeartbeat($0) }
            // A file has no heartbeat, and the other services go on.
            try await gracefulShutdown()
        }
    }
}
