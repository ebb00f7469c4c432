import CookieModel
import HTTPTypes
import Metrics
import NIOCore
import SessionOperations
import SessionStore
import Synchronization

/// The service's metrics, under their own names. No label contains data of a request.
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

    private static let decisions = "crumb_decisions_total"
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    let registry = MetricsRegistry()
    private let requests = Mutex<[Place: Request]>([:])
    private let included: Counter
    private let excluded: Counter
    private let outcomes = Mutex<[String: Counter]>([:])
    /// The last entry of the tokens' journal that was counted.
    private let journal: Mutex<Int64>

    /// - Parameter tokens: whose changes are counted from now on.
    init(tokens: TokenStore) {
        included = Counter(
            label: ServiceMetrics.decisions, dimensions: [("outcome", "included")], factory: registry)
        excluded = Counter(
            label: ServiceMetrics.decisions, dimensions: [("outcome", "excluded")], factory: registry)
        journal = Mutex((try? tokens.changes(after: 0))?.last?.position ?? 0)
    }

    /// A request was answered.
    ///
    /// - Parameter route: the route's template; `nil` if there was none.
    func record(route: String?, method: HTTPRequest.Method, status: HTTPResponse.Status, took: TimeAmount) {
        let place = Place(route: route ?? "none", method: method, status: status.code)
        let request = requests.withLock { requests in
            if let request = requests[place] { return request }
            let request = makeRequest(place)
            // Unknown methods, of which there are any number, share one label.
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

    // MARK: - Decisions

    /// Counts the decisions on the cookies of a request.
    func count(_ retrieval: Retrieval) {
        included.increment(by: retrieval.included.count)
        excluded.increment(by: retrieval.excluded.count)
    }

    /// Counts the decisions on the lines of a response.
    func count(_ decisions: [StorageDecisionReport]) {
        for decision in decisions { outcome(decision.outcome).increment() }
    }

    private func outcome(_ name: String) -> Counter {
        outcomes.withLock { outcomes in
            if let counter = outcomes[name] { return counter }
            let counter = Counter(
                label: ServiceMetrics.decisions, dimensions: [("outcome", name)], factory: registry)
            outcomes[name] = counter
            return counter
        }
    }

    // MARK: - Gateways

    /// A request has passed through a gateway.
    func count(_ request: GatewayRequestReport) {
        let status = request.status.map { "\($0 / 100)xx" } ?? "none"
        count("crumb_gateway_requests_total", ("status", status), 1)
        count("crumb_gateway_cookies_total", ("outcome", "sent"), request.cookiesSent.count)
        count("crumb_gateway_cookies_total", ("outcome", "stored"), request.cookiesStored.count)
        // The gateway's own word, one of a few.
        if let failure = request.failure { count("crumb_gateway_failures_total", ("type", failure), 1) }
    }

    private func count(_ label: String, _ dimension: (String, String), _ number: Int) {
        guard number > 0 else { return }
        Counter(label: label, dimensions: [dimension], factory: registry).increment(by: number)
    }

    // MARK: - Text

    /// Everything, with how the database and the connections are at present.
    func text(
        database: SessionDatabase, connections: Int, gateways: [HostedGateway] = [], health: ServiceHealth? = nil
    ) -> String {
        let load = database.writeLoad
        var gauges: [(String, Int)] = [
            ("crumb_gateways", gateways.count),
            ("crumb_gateway_connections", gateways.reduce(0) { $0 + $1.openConnections }),
            ("crumb_connections", connections), ("crumb_database_waiting_writers", load.waiting),
        ]
        if !database.isOnServer { gauges.append(("crumb_database_bytes", Int(database.sizeInBytes))) }
        for (label, value) in gauges { Meter(label: label, factory: registry).set(value) }
        // They are counted later if a server does not answer.
        if health?.isSilent != true { countTokenChanges(database.tokens) }
        var counters = [
            ("crumb_database_commits_total", load.commits), ("crumb_database_writes_total", load.writers),
        ]
        if let server = database.serverLoad, let states = database.committedStateLoad {
            Meter(label: "crumb_server_connections", factory: registry).set(server.connections)
            counters += [
                ("crumb_server_round_trips_total", server.roundTrips),
                ("crumb_server_failovers_total", server.failovers),
                ("crumb_server_state_requests_total", states.requests),
                ("crumb_server_state_statements_total", states.statements),
            ]
        }
        if let heartbeats = health?.heartbeats {
            Meter(label: "crumb_server_heartbeat_age_seconds", factory: registry).set(heartbeats.age)
            counters.append(("crumb_server_heartbeat_failures_total", heartbeats.failures))
        }
        return registry.text
            + counters.map { "# TYPE \($0) counter\n\($0) \($1)\n" }.joined()
    }

    /// Counts the new entries of the tokens' journal, of all processes.
    private func countTokenChanges(_ tokens: TokenStore) {
        journal.withLock { position in
            // Where the journal cannot be read now, it is next time.
            guard let changes = try? tokens.changes(after: position), let last = changes.last else { return }
            position = last.position
            for change in changes {
                Counter(
                    label: "crumb_token_changes_total", dimensions: [("cause", change.cause.identifier)],
                    factory: registry
                ).increment()
            }
        }
    }
}
