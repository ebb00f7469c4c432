import Hummingbird
import SessionOperations
import SessionStore

/// What an orchestrator asks.
struct HealthRoutes: Sendable {
    let database: SessionDatabase
    let state: ServiceState
    let health: ServiceHealth

    func add(to router: Router<ServiceRequestContext>) {
        router.add(ServiceRoute(.get, "/healthz", .everyone) { _, _ in HealthRoutes.answer("alive") })
        router.add(ServiceRoute(.get, "/readyz", .everyone) { _, _ in try ready() })
    }

    private func ready() throws -> Response {
        let phase = state.phase
        guard phase == .ready else {
            throw ServiceProblem(
                phase == .starting ? .serviceStarting : .serviceStopping, "the service is \(phase.rawValue)")
        }
        try health.check(database)
        return HealthRoutes.answer("ready")
    }

    private static func answer(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }
}
