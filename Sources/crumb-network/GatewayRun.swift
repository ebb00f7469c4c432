import CookieModel
import CrumbCommands
import Foundation
import NIOCore
import SessionGateway
import SessionOperations
import SessionStore
import Synchronization

/// A gateway as this program runs it.
enum GatewayRun {
    /// Runs a gateway for as long as the order is served. Requests that are under way are finished.
    ///
    /// - Throws: `OperationError` if it does not start.
    static func run(_ order: GatewayOrder) async throws {
        try await run(order, over: NetworkSettings(environment: ProcessInfo.processInfo.environment))
    }

    /// The same with settings of its own for connections to servers.
    static func run(_ order: GatewayOrder, over network: NetworkSettings) async throws {
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.raise()
        var settings = GatewaySettings(host: order.host, port: order.port)
        settings.cookies = GatewaySettings.CookieMode(rawValue: order.cookies) ?? .mirror
        settings.client = GatewaySettings.Client(rawValue: order.client) ?? .tool
        do {
            try network.check()
            settings.proxy = try network.gatewayProxy()
            settings.tls = try network.tlsConfiguration(trusting: [])
        } catch let error as NetworkSettingsError {
            throw OperationError(.gatewayNotStarted, error.reason)
        }
        settings.origins = order.origins.map { GatewaySettings.ReverseOrigin($0.url, port: $0.port) }
        settings.clientCertificates = order.clientCertificates
        settings.legacyTLS = { [hosts = order.legacyTLS] host in hosts.contains { $0.matches(host) } }
        if let limit = order.connectionLimit { settings.limits.connections = limit }
        if let limit = order.keptBodies { settings.limits.keptBodies = limit }
        settings.interception = try interception(order)
        settings.fallback = order.fallback
        settings.isOffline = order.isOffline
        do {
            settings.replay = try order.replayPath.map { try TrafficReplay(path: $0) }
            settings.recording = try order.recordPath.map { path in
                try TrafficRecording(
                    path: path, withSecrets: order.recordsSecrets, failed: order.recordingFailed
                ) { count in
                    order.recordingFailed(
                        "the check of the recording in '\(path)' found \(count) \(count == 1 ? "secret" : "secrets") in "
                            + "places that are recorded as they are, and overwrote \(count == 1 ? "it" : "them")")
                }
            }
        } catch let error as GatewayError {
            throw OperationError(.gatewayNotStarted, error.description)
        }
        let authority = settings.interception?.authority
        // Not where requests are served: the reader of the log may pause. Then the oldest reports are kept.
        let (reports, reporting) = AsyncStream<@Sendable () -> Void>.makeStream(
            bufferingPolicy: .bufferingOldest(10_000))
        let logging = Task { for await report in reports { report() } }
        if let pageEvents = order.pageEvents {
            settings.pageEvents = { event in reporting.yield { pageEvents(PageEventReport(event)) } }
        }
        let told = Mutex<Set<LoginFailure>>([])
        let gateway = Gateway(jar: order.jar, settings: settings, now: order.clock) { record in
            if let failure = record.loginFailure, told.withLock({ $0.count < 1000 && $0.insert(failure).inserted }) {
                order.loginFailed(failure.description)
            }
            order.passed?(GatewayPassage(record))
            if let log = order.log { reporting.yield { log(GatewayRequestReport(record)) } }
        }
        let run = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (starts, continuation) = AsyncStream<[GatewayAddress]>.makeStream()
                group.addTask {
                    defer { continuation.finish() }
                    try await gateway.run { continuation.yield($0) }
                }
                for await addresses in starts {
                    let listening = addresses.map {
                        GatewayListening(
                            address: $0.description, upstream: $0.origin, eventsPath: gateway.eventsPath)
                    }
                    group.addTask {
                        try await order.serving(
                            GatewayOrder.Access(listening: listening, authority: authority?.certificatePEM) {
                                gateway.openConnections
                            })
                    }
                    break
                }
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        let signals = (order.stopsOnSignals ? [SIGINT, SIGTERM] : []).map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // A second signal ends the process at once.
                signal(number, SIG_DFL)
                run.cancel()
            }
            source.resume()
            return source
        }
        defer { for source in signals { source.cancel() } }
        // The service ends a gateway by cancelling the task that runs it.
        let outcome = await withTaskCancellationHandler {
            await run.result
        } onCancel: {
            run.cancel()
        }
        reporting.finish()
        await GatewayRun.wait(for: logging, atMost: .seconds(1))
        do {
            try outcome.get()
        } catch let error as GatewayError {
            // The next try creates the file again.
            if error.code != .listenerFailed, let path = order.recordPath { unlink(path) }
            throw OperationError(.gatewayNotStarted, error.description)
        }
    }

    /// Waits until the log is written. A reader that has stopped does not hold the process.
    private static func wait(for logging: Task<Void, Never>, atMost limit: Duration) async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        Task {
            await logging.value
            end.finish()
        }
        Task {
            try? await Task.sleep(for: limit)
            end.finish()
        }
        for await _ in ends {}
    }

    /// The hosts that are decrypted, and their authority: the one of the order, else a new one.
    private static func interception(_ order: GatewayOrder) throws -> GatewaySettings.Interception? {
        let intercepted = try order.interceptedHosts()
        guard !intercepted.hosts.isEmpty else { return nil }
        let authority =
            try order.authority.map { try CertificateAuthority($0) }
            ?? CertificateAuthority(for: intercepted.hosts, now: order.clock())
        return GatewaySettings.Interception(
            authority: authority, contains: intercepted.contains, containsSite: intercepted.containsSite)
    }
}

extension GatewayRequestReport {
    fileprivate init(_ record: GatewayRecord) {
        self.init(
            time: record.time.rfc3339, method: record.method, url: record.url, status: record.status,
            decorated: record.isDecorated, verdict: record.verdict.map { EngineVerdictReport($0) },
            cookiesSent: record.cookiesSent.map(\.description), cookiesStored: record.cookiesStored.map(\.description),
            cookiesRejected: record.cookiesRejected.isEmpty
                ? nil
                : record.cookiesRejected.map {
                    RejectedCookieReport(name: $0.name.description, reasons: $0.reasons.identifiers)
                },
            cookiesDeleted: record.cookiesDeleted.isEmpty ? nil : record.cookiesDeleted.map(\.description),
            replayed: record.isReplayed, signedInAgain: record.isSignedInAgain, loginFailure: record.loginFailure?.code,
            failure: record.failure, hint: record.hint?.code)
    }
}

extension GatewayPassage {
    fileprivate init(_ record: GatewayRecord) {
        let outcome: Outcome =
            switch record.hint {
            case .authorityNotTrusted: .authorityNotTrusted
            case .isOfProgram(let name): .isOfProgram(name)
            case nil where record.isUnread: .unread
            case nil where record.failure == "tls_certificate_error": .serverNotTrusted
            case nil: .read
            }
        self.init(host: record.host, outcome: outcome)
    }
}

extension PageEventReport {
    fileprivate init(_ event: PageEvent) {
        let text = String(validating: event.body, as: UTF8.self)
        self.init(
            time: event.time.rfc3339, origin: event.origin, query: event.query.description,
            data: text, dataBase64: text == nil ? Octets(event.body).base64 : nil)
    }
}
