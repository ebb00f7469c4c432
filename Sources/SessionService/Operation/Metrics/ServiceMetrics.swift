import HTTPTypes
import Metrics
import NIOCore
import SessionStore
import Synchronization

/// What the service counts, under names of its own. No label holds anything that a request brought along.
final class ServiceMetrics: Sendable {
    private struct Place: Hashable {
        let route: String
        let method: HTTPRequest.Method
        let status: Int
    }

    private struct Request {
        let counter: Counter
        let timer: Timer
    }

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    let registry = MetricsRegistry()
    private let requests = Mutex<[Place: Request]>([:])

    /// A request was answered.
    ///
    /// - Parameter route: the route's template; `nil` where there was none.
    func record(route: String?, method: HTTPRequest.Method, status: HTTPResponse.Status, took: TimeAmount) {
        let place = Place(route: route ?? "none", method: method, status: status.code)
        let request = requests.withLock { requests in
            if let request = requests[place] { return request }
            let request = makeRequest(place)
            // A method that nobody knows, and there are any number of, has no place of its own.
            if ServiceMetrics.methods.contains(method) { requests[place] = request }
            return request
        }
        request.counter.increment()
        request.timer.recordNanoseconds(took.nanoseconds)
    }

    private func makeRequest(_ place: Place) -> Request {
        let method = ServiceMetrics.methods.contains(place.method) ? place.method.rawValue : "other"
        return Request(
            counter: Counter(
                label: "crumb_http_requests_total",
                dimensions: [("route", place.route), ("method", method), ("status", String(place.status))],
                factory: registry),
            timer: Timer(
                label: "crumb_http_request_duration_seconds", dimensions: [("route", place.route), ("method", method)],
                factory: registry))
    }

    /// Cookies were decided on.
    ///
    /// - Parameter outcome: one of the few that there are: `stored`, `rejected`, `included`, ….
    func countDecisions(_ outcome: String, _ count: Int = 1) {
        guard count > 0 else { return }
        Counter(label: "crumb_decisions_total", dimensions: [("outcome", outcome)], factory: registry)
            .increment(by: count)
    }

    /// Tokens were to be renewed.
    func countRefresh(_ outcome: RefreshOutcome) {
        Counter(label: "crumb_token_refreshes_total", dimensions: [("outcome", outcome.rawValue)], factory: registry)
            .increment()
    }

    /// What came of it.
    enum RefreshOutcome: String {
        case refreshed
        case failed
    }

    /// Everything, with how the database and the connections are at present.
    func text(database: SessionDatabase, connections: Int) -> String {
        let load = database.writeLoad
        let gauges: [(String, Int)] = [
            ("crumb_connections", connections), ("crumb_database_waiting_writers", load.waiting),
            ("crumb_database_bytes", Int(database.sizeInBytes)),
        ]
        for (label, value) in gauges { Meter(label: label, factory: registry).set(value) }
        let counters = [
            ("crumb_database_commits_total", load.commits), ("crumb_database_writes_total", load.writers),
        ]
        return registry.text
            + counters.map { "# TYPE \($0) counter\n\($0) \($1)\n" }.joined()
    }
}
