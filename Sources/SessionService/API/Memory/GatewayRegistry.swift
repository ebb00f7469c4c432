import CookieModel
import GatewayModel
import Logging
import ServiceLifecycle
import SessionOperations
import SessionStore
import Synchronization

/// The number of gateways that a service runs, and the limits of each.
struct GatewayLimits: Sendable, Hashable {
    /// How many gateways run at the same time; 0 for none.
    var count = 16
    /// How many clients of one gateway are connected at the same time.
    var connections = 256
    /// How many octets of requests' bodies one gateway keeps at the same time, to send them once more after a login.
    var bodyBytes = 256 << 20
}

/// The gateways that run in the service. They end with it.
final class GatewayRegistry: Service {
    /// Runs a gateway until the task is cancelled.
    typealias Run = @Sendable (GatewayJob) async throws -> Void

    private enum Place {
        /// It does not listen yet.
        case starting
        case running(HostedGateway)
    }

    private struct State {
        var places: [String: Place] = [:]
        var isStopped = false
    }

    let limits: GatewayLimits
    /// Tells followers of a gateway that something has passed through it.
    let signal = ChangeSignal()
    private let run: Run?
    private let logger: Logger?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - run: Runs a gateway; `nil` if this service runs none.
    ///   - logger: Gets the failures that no response reports; `nil` to drop them.
    init(limits: GatewayLimits = GatewayLimits(), logger: Logger? = nil, running run: Run? = nil) {
        self.limits = limits
        self.logger = logger
        self.run = run
    }

    /// The gateways that run, by name.
    var all: [HostedGateway] {
        state.withLock { state in
            state.places.values.compactMap { if case .running(let gateway) = $0 { gateway } else { nil } }
        }.sorted { $0.name < $1.name }
    }

    /// The gateway of a name; `nil` if none runs.
    func gateway(_ name: String) -> HostedGateway? {
        state.withLock { if case .running(let gateway) = $0.places[name] { gateway } else { nil } }
    }

    /// Starts a gateway, unless it runs already.
    ///
    /// - Parameters:
    ///   - asked: The document that requests it. A running gateway is only returned for an equal document.
    ///   - mayGoOn: Throws when the gateway has to end, because its caller may use the jar no more. It is called from
    ///     time to time.
    /// - Returns: The gateway, once it listens, and whether it is new.
    func start(
        _ name: String, as asked: GatewayDocument, _ job: GatewayJob, metrics: ServiceMetrics?,
        checkingEvery interval: Duration, _ mayGoOn: @escaping @Sendable () async throws -> Void
    ) async throws -> (gateway: HostedGateway, isNew: Bool) {
        guard let run, limits.count > 0 else {
            throw ServiceFailure(.gatewayNotStarted, "this service runs no gateways; 'gateways.count' allows them")
        }
        let present = try state.withLock { state throws(ServiceFailure) -> HostedGateway? in
            guard !state.isStopped else { throw ServiceFailure(.shuttingDown, "the service is shutting down") }
            switch state.places[name] {
            case .running(let gateway) where gateway.asked == asked: return gateway
            case .running:
                throw ServiceFailure(
                    .gatewayExists,
                    "\(name): a gateway of this name runs with other settings; stop it first with 'crumb gateway stop', "
                        + "or choose another name")
            case .starting:
                throw ServiceFailure(
                    .gatewayExists,
                    "\(name): a gateway of this name is being started; try again, or choose another name")
            case nil: break
            }
            guard state.places.count < limits.count else {
                throw ServiceFailure(
                    .gatewaysExhausted, "\(limits.count) gateways run, which is the limit; stop one first")
            }
            state.places[name] = .starting
            return nil
        }
        if let present { return (present, false) }
        let gateway = HostedGateway(name, asked, job, metrics, signal: signal)
        let end: @Sendable ((any Error)?) -> Void = { [self] error in
            state.withLock { _ = $0.places.removeValue(forKey: name) }
            signal.notify(name)
            guard let error, !(error is CancellationError) else { return }
            logger?.warning(
                "A gateway has ended", metadata: ["name": "\(name)", "error": "\(error.commandDescription)"])
        }
        do {
            try await gateway.start(run, ending: end) {
                while true {
                    try await mayGoOn()
                    try await Task.sleep(for: interval)
                }
            }
        } catch {
            throw (error as? OperationError).map { ServiceFailure($0.failure, $0.description) } ?? error
        }
        let isStopped = state.withLock { state in
            if state.places[name] != nil { state.places[name] = .running(gateway) }
            return state.isStopped
        }
        if isStopped { await gateway.stop() }
        return (gateway, true)
    }

    /// Stops all gateways. Requests that are under way are finished.
    func stopAll() async {
        await withDiscardingTaskGroup { group in
            for gateway in all { group.addTask { await gateway.stop() } }
        }
    }

    /// Waits for the end of the service, and stops all gateways then.
    func run() async throws {
        try? await gracefulShutdown()
        state.withLock { $0.isStopped = true }
        await stopAll()
    }
}

/// A gateway that runs in the service.
final class HostedGateway: Sendable {
    let name: String
    /// The document that requested the gateway.
    let asked: GatewayDocument
    /// The jars whose sessions requests get: one, or that of each user.
    let jars: [String]
    private let job: GatewayJob
    private let metrics: ServiceMetrics?
    private let signal: ChangeSignal
    private let started: Timestamp
    private let log = Mutex(GatewayLog())
    private let access = Mutex<GatewayJob.Access?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    fileprivate init(
        _ name: String, _ asked: GatewayDocument, _ job: GatewayJob, _ metrics: ServiceMetrics?,
        signal: ChangeSignal
    ) {
        self.name = name
        self.asked = asked
        self.job = job
        self.metrics = metrics
        self.signal = signal
        jars = job.jars.map(\.name)
        started = job.clock()
    }

    /// Starts it, and waits until it listens.
    ///
    /// - Parameters:
    ///   - end: Called once the gateway has ended, with the error that ended it.
    ///   - watch: Runs concurrently. The gateway ends when this does.
    fileprivate func start(
        _ run: @escaping GatewayRegistry.Run, ending end: @escaping @Sendable ((any Error)?) -> Void,
        watching watch: @escaping @Sendable () async throws -> Void
    ) async throws {
        var job = job
        let (starts, start) = AsyncStream<Result<GatewayJob.Access, any Error>>.makeStream()
        job.serving = { access in
            start.yield(.success(access))
            await GatewayJob.cancellation()
        }
        job.log = { [weak self] in self?.note($0) }
        job.pageEvents = { [weak self] in self?.note($0) }
        let finished = job
        let running = Task {
            var failure: (any Error)?
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await run(finished) }
                    group.addTask { try await watch() }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            } catch {
                failure = error
            }
            end(failure)
            start.yield(.failure(failure ?? CancellationError()))
            start.finish()
        }
        task.withLock { $0 = running }
        for await result in starts {
            let started = try result.get()
            access.withLock { $0 = started }
            return
        }
    }

    /// Ends it. Requests that are under way are finished.
    func stop() async {
        task.withLock { $0 }?.cancel()
        await ended()
    }

    /// Waits until it has ended.
    func ended() async {
        await task.withLock { $0 }?.value
    }

    private func note(_ request: GatewayRequestReport) {
        metrics?.count(request)
        log.withLock { $0.add(request) }
        signal.notify(name)
    }

    private func note(_ event: PageEventReport) {
        log.withLock { $0.add(event) }
        signal.notify(name)
    }

    /// Whether a caller may know that it runs: only if the grant covers all of its jars.
    func isCovered(by grant: AccessGrant) -> Bool { jars.allSatisfy(grant.covers) }

    /// How many clients are connected.
    var openConnections: Int { access.withLock { $0 }?.openConnections() ?? 0 }

    /// The position of the newest entry.
    var position: Int64 { log.withLock { $0.position } }

    /// The requests and events after a position.
    func entries(after position: Int64, limit: Int) -> GatewayLog.Page {
        log.withLock { $0.page(after: position, limit: limit) }
    }

    /// The gateway as it is now.
    var report: GatewayReport {
        let log = log.withLock { $0 }
        let access = access.withLock { $0 }
        return GatewayReport(
            name: name, jar: asked.jar,
            users: asked.users?.map { GatewayUserReport(name: $0.name, jar: $0.jar) }.sorted { $0.name < $1.name },
            client: job.settings.client.rawValue, cookies: job.settings.cookies.rawValue,
            intercept: asked.intercept ?? [],
            bypass: asked.bypass ?? [], legacyTLS: asked.legacyTLS,
            cache: asked.cache.map(GatewayCacheReport.init), addresses: access?.listening ?? [],
            started: started.rfc3339,
            certificate: access?.authority,
            openConnections: access?.openConnections() ?? 0, requests: log.requests, cookiesSent: log.cookiesSent,
            cookiesStored: log.cookiesStored, failures: log.failures, position: log.position)
    }
}
