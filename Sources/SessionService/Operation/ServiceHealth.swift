import CookieModel
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SessionOperations
import SessionStore
import SessionWire
import Synchronization

/// The failures that persist beyond one request: logged at intervals, and reported by `/readyz`.
final class ServiceHealth: Sendable {
    private struct State {
        /// When a kind was last logged, and how often it came since.
        var lines: [String: (time: NIODeadline, further: Int)] = [:]
        /// Whether the last write that failed found the disk full.
        var failsToWrite = false
        /// When a server last confirmed a heartbeat; `nil` for a file.
        var lastHeartbeat: NIODeadline?
        var failedHeartbeats = 0
    }

    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let state = Mutex(State())

    /// - Parameter clock: a clock that only goes forward.
    init(logger: Logger, clock: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.logger = logger
        self.clock = clock
    }

    /// Logs a warning, unless one of this kind was logged a moment ago; the next one tells how many there were meanwhile.
    ///
    /// - Parameters:
    ///   - kind: one of a few, and nothing that a caller chooses.
    ///   - interval: how much time passes between two lines of this kind.
    func warn(
        _ kind: String, _ message: Logger.Message, _ metadata: Logger.Metadata = [:],
        every interval: TimeAmount = .seconds(10)
    ) {
        let now = clock()
        let further: Int? = state.withLock { state in
            if let last = state.lines[kind], now < last.time + interval {
                state.lines[kind]?.further += 1
                return nil
            }
            defer { state.lines[kind] = (now, 0) }
            return state.lines[kind]?.further ?? 0
        }
        guard let further else { return }
        var metadata = metadata
        metadata["code"] = "\(kind)"
        if further > 0 { metadata["further"] = "\(further)" }
        logger.warning(message, metadata: metadata)
    }

    /// Records the failure of a request, if it affects more than the request.
    func note(_ error: any Error, peer: String) {
        if let error = error as? SessionStoreError {
            let status = ServiceFailure(error).status.code
            if error.code == .diskFull || error.code == .databaseReadOnly { state.withLock { $0.failsToWrite = true } }
            guard status >= 500, error.code != .databaseBusy else { return }
            warn(error.code.rawValue, "The database cannot be used", ["error": "\(error.commandDescription)"])
        } else if let problem = error as? ServiceFailure, problem.code == ServiceFailure.tokenRefused.code {
            warn(problem.code, "An access token was refused", ["peer": "\(peer)"])
        }
    }

    /// Records the outcome of a heartbeat on a server.
    func noteHeartbeat(_ error: SessionStoreError?) {
        if let error {
            state.withLock { $0.failedHeartbeats += 1 }
            warn("heartbeat-failed", "Committing a heartbeat failed", ["error": "\(error.commandDescription)"])
        } else {
            let now = clock()
            state.withLock { $0.lastHeartbeat = now }
        }
    }

    /// For how many seconds a server has confirmed no heartbeat, and how many heartbeats have failed; `nil` before the
    /// first one, and for a file.
    var heartbeats: (age: Double, failures: Int)? {
        let now = clock()
        return state.withLock { state in
            state.lastHeartbeat.map { (Double((now - $0).nanoseconds) / 1_000_000_000, state.failedHeartbeats) }
        }
    }

    /// Checks that a server has confirmed a heartbeat lately: one that has not answers nothing, or only after its fence has
    /// refused to. So no request waits for a server that is frozen or gone.
    func checkHeartbeat(_ database: SessionDatabase) throws(SessionStoreError) {
        guard isSilent else { return }
        try SessionStoreError.catching(database.path) { try FenceState.noHeartbeat.check(forWriting: true) }
    }

    /// Checks that the database can be read and written.
    ///
    /// A disk that was full is tried with a write of one page. A server is also asked for its standbys, its clock, and
    /// whether it is fenced, unless its heartbeats have stopped: a check would wait for it as they do.
    ///
    /// - Throws: A problem with the status 503.
    func check(_ database: SessionDatabase, now: Timestamp) throws(ServiceFailure) {
        try requireReady(
            heartbeats.flatMap { age, _ in
                age < 3 ? nil : "the database server has confirmed no heartbeat for \(counted(Int(age), "second"))"
            })
        try requireReady(
            unavailable { () throws(SessionStoreError) in
                guard let server = try database.serverStatus() else { return nil }
                try SessionStoreError.catching(database.path) { try server.fence.check(forWriting: true) }
                return server.problems(at: now).first
            })
        try unavailable { () throws(SessionStoreError) in
            _ = try database.serviceTokens.all()
            try database.checkRoom()
            guard state.withLock({ $0.failsToWrite }) else { return }
            try database.checkWriting()
            state.withLock { $0.failsToWrite = false }
        }
    }

    /// Fails if there is a reason why a server is not ready.
    private func requireReady(_ reason: String?) throws(ServiceFailure) {
        guard let reason else { return }
        warn("server-not-ready", "The database server is not ready", ["reason": "\(reason)"])
        throw ServiceFailure(.databaseUnreachable, reason)
    }

    /// Whether a server has confirmed no heartbeat for as long as its fence needs to close.
    var isSilent: Bool { (heartbeats?.age ?? 0) >= 5 }

    /// Turns the failure of a check into a problem with the status 503.
    private func unavailable<Result>(
        _ check: () throws(SessionStoreError) -> Result
    ) throws(ServiceFailure) -> Result {
        do {
            return try check()
        } catch {
            note(error, peer: "")
            var problem = ServiceFailure(error)
            problem.status = .serviceUnavailable
            throw problem
        }
    }
}

/// The routes that an orchestrator queries.
struct HealthRoutes: Sendable {
    let database: SessionDatabase
    let state: ServiceState
    let health: ServiceHealth
    let now: @Sendable () -> Timestamp

    func add(to router: Router<ServiceRequestContext>) {
        router.add(ServiceRoute(.get, "/healthz", .everyone) { _, _ in HealthRoutes.answer("alive") })
        router.add(ServiceRoute(.get, "/readyz", .everyone) { _, _ in try await ready() })
    }

    private func ready() async throws -> Response {
        let phase = state.phase
        guard phase == .ready else {
            throw ServiceFailure(
                phase == .starting ? .serviceStarting : .serviceStopping, "the service is \(phase.rawValue)")
        }
        try await database.reading { try health.check(database, now: now()) }
        return HealthRoutes.answer("ready")
    }

    private static func answer(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
