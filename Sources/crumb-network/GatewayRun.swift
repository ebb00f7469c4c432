import CookieModel
import CrumbCommands
import Dispatch
import PackageStore
import Platform
import ResponseStore
import SessionGateway
import SessionOperations
import SessionStore

/// A gateway as this program runs it.
enum GatewayRun {
    /// Runs a gateway until its job is done. Requests that are under way are finished.
    ///
    /// - Throws: `OperationError` if it does not start.
    static func run(_ job: GatewayJob) async throws {
        try await run(job, over: NetworkSettings(environment: ProcessEnvironment.variables))
    }

    /// The same with settings of its own for connections to servers.
    static func run(_ job: GatewayJob, over network: NetworkSettings) async throws {
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.raise()
        let responses = try job.cacheSize.map { try cache(of: job, size: $0) }
        let reports = GatewayReports(of: job, responses)
        var environment = try environment(of: job, over: network, reports)
        environment.cache = responses
        let gateway: Gateway
        do {
            gateway = try self.gateway(of: job, environment, reports)
        } catch {
            throw OperationError(.gatewayNotStarted, error.description)
        }
        let run = Task { try await serve(job, gateway, environment.authority?.certificatePEM) }
        let signals = job.stopsOnSignals ? [SIGINT, SIGTERM].map { cancel(run, on: $0) } : []
        defer { for source in signals { source.cancel() } }
        // The service ends a gateway by cancelling the task that runs it.
        let outcome = await withTaskCancellationHandler {
            await run.result
        } onCancel: {
            run.cancel()
        }
        await reports.finish()
        do {
            try outcome.get()
        } catch let error as GatewayError {
            // The next try creates the file again.
            if error.code != .listenerFailed, let path = job.recordPath { unlink(path) }
            throw OperationError(.gatewayNotStarted, error.description)
        }
    }

    private static func gateway(
        of job: GatewayJob, _ environment: GatewayEnvironment, _ reports: GatewayReports
    ) throws(GatewayError) -> Gateway {
        guard job.users.isEmpty else {
            return try Gateway(
                users: job.users, settings: job.settings, environment: environment, now: job.clock,
                observing: reports.add)
        }
        return Gateway(
            jar: job.jar, settings: job.settings, environment: environment, now: job.clock, observing: reports.add)
    }

    /// Runs a gateway while its job is served.
    private static func serve(_ job: GatewayJob, _ gateway: Gateway, _ authority: String?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (starts, continuation) = AsyncStream<[GatewayAddress]>.makeStream()
            group.addTask {
                defer { continuation.finish() }
                try await gateway.run { continuation.yield($0) }
            }
            for await addresses in starts {
                let listening = addresses.map {
                    GatewayListening(address: $0.description, upstream: $0.origin, eventsPath: gateway.eventsPath)
                }
                group.addTask {
                    try await job.serving(
                        GatewayJob.Access(listening: listening, authority: authority) { gateway.openConnections })
                }
                break
            }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    /// Cancels a task on a signal. A second signal ends the process at once.
    private static func cancel(_ run: Task<Void, any Error>, on number: Int32) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            signal(number, SIG_DFL)
            run.cancel()
        }
        source.resume()
        return source
    }

    // MARK: - Environment

    private static func environment(
        of job: GatewayJob, over network: NetworkSettings, _ reports: GatewayReports
    ) throws -> GatewayEnvironment {
        var environment = GatewayEnvironment()
        do {
            try network.check()
            environment.proxy = try network.gatewayProxy()
            environment.tls = try network.tlsConfiguration(trusting: [])
        } catch let error as NetworkSettingsError {
            throw OperationError(.gatewayNotStarted, error.reason)
        }
        environment.clientCertificates = job.clientCertificates
        if let limit = job.connectionLimit { environment.limits.connections = limit }
        if let limit = job.keptBodies { environment.limits.keptBodies = limit }
        environment.authority = try authority(of: job)
        environment.fallback = job.fallback
        environment.pageEvents = reports.pageEvents
        environment.packages = job.usesPackages ? PackageShelf(of: job.jar, failed: job.failed) : nil
        do {
            environment.replay = try job.replayPath.map { try TrafficReplay(path: $0) }
            environment.recording = try job.recordPath.map { try recording(in: $0, of: job) }
        } catch let error as GatewayError {
            throw OperationError(.gatewayNotStarted, error.description)
        }
        return environment
    }

    /// The store of the job's responses.
    private static func cache(of job: GatewayJob, size: Int64) throws -> ResponseCache {
        var limits = CacheLimits()
        limits.jarSize = size
        // Another gateway of the database must not evict what this one may keep.
        limits.size = .max
        limits.bodySize = min(size, limits.bodySize)
        let variables = ProcessEnvironment.variables
        guard let cache = ResponseCache(of: job.jar.database, limits: limits, environment: { variables[$0] }) else {
            throw OperationError(
                .gatewayNotStarted, "the folder for caches is not known; set XDG_CACHE_HOME to its path, or HOME")
        }
        keepFreedMemory()
        return cache
    }

    /// Lets each thread keep a few MiB of freed memory. Otherwise, glibc gives the room of each long body back to the system,
    /// and gets it again page by page for the next one: a quarter of the time of a long response from the cache.
    private static func keepFreedMemory() {
        #if canImport(Glibc)
            // Swift's module of glibc does not have mallopt(3).
            guard let address = dlsym(nil, "mallopt") else { return }
            let trimThreshold: CInt = -1
            _ = unsafeBitCast(address, to: (@convention(c) (CInt, CInt) -> CInt).self)(trimThreshold, 4 << 20)
        #endif
    }

    /// The authority of the hosts that are decrypted: the job's, or a new one; `nil` if none are.
    private static func authority(of job: GatewayJob) throws -> CertificateAuthority? {
        let hosts = job.settings.authorityHosts
        guard !hosts.isEmpty else { return nil }
        return try job.authority.map { try CertificateAuthority($0) }
            ?? CertificateAuthority(for: hosts, now: job.clock())
    }

    private static func recording(in path: String, of job: GatewayJob) throws -> TrafficRecording {
        try TrafficRecording(path: path, withSecrets: job.recordsSecrets, failed: job.failed) { count in
            job.failed(
                "the check of the recording in '\(path)' found \(count) \(count == 1 ? "secret" : "secrets") in "
                    + "places that are recorded as they are, and overwrote \(count == 1 ? "it" : "them")")
        }
    }
}
