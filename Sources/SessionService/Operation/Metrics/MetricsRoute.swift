import Hummingbird
import SessionStore

/// What a monitoring system reads.
struct MetricsRoute: Sendable {
    let database: SessionDatabase
    let connections: ConnectionPools
    let metrics: ServiceMetrics
    /// Whether everybody may, who reaches the service.
    let isPublic: Bool

    func add(to router: Router<ServiceRequestContext>) {
        router.add(
            ServiceRoute(.get, "/metrics", isPublic ? .everyone : .allJars(.read)) { _, _ in
                Response(
                    status: .ok,
                    headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                    body: ResponseBody(
                        byteBuffer: ByteBuffer(
                            string: metrics.text(database: database, connections: connections.count))))
            })
    }
}
