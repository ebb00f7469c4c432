import CookieModel
import Dispatch
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import OAuth2
import SessionOperations
import SessionStore
import Synchronization
import Testing

@testable import SessionService

/// A request that waits for the database may not keep others from being answered, which Swift has a thread per core for.
@Suite("Requests that wait for the database", .serialized, .timeLimit(.minutes(10)))
struct WaitingRequestTests {
    /// A call of the service that needs the database's connection.
    struct Call: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (WaitingRequestTests, ServiceClient) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (WaitingRequestTests, ServiceClient) async throws -> Void) {
            testDescription = name
            self.run = run
        }

        init(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, type: String = "application/json"
        ) {
            self.init("\(method) \(path)") { _, client in
                let answer = try await client.send(method, path, body, type: type)
                #expect((200..<400).contains(answer.status), "\(answer.text)")
            }
        }
    }

    /// A transaction that ends with a task, or after ten seconds if no thread runs one.
    private final class Transaction: Sendable {
        private let mayEnd = DispatchSemaphore(value: 0)
        /// Whether a task has ended the transaction.
        let outcome = Mutex<Bool?>(nil)

        func begin(in database: SessionDatabase) async {
            await withCheckedContinuation { begun in
                Thread { [self] in
                    _ = try? database.tokens.changeSettings(of: "work") { _ in
                        begun.resume()
                        let hasTurn = mayEnd.wait(timeout: .now() + 10) == .success
                        outcome.withLock { $0 = hasTurn }
                    }
                }.start()
            }
        }

        func end() { mayEnd.signal() }
    }

    private let folder = TemporaryFolder()
    private let fixture: ServiceFixture

    init() throws {
        // On a disk: what is in memory then is answered without the connection.
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(
            path: folder.file("crumb.sqlite"), keys: .key(key), now: ServiceFixture.now)
        try ServiceFixture.fill(database)
        fixture = ServiceFixture(over: database, clock: ImmediateClock()) { ServiceFixture.now }
    }

    private static let refused =
        #"{"url":"https://www.example.com/account","status":401,"headers":[],"sent":"2027-01-15T08:00:00.5Z"}"#

    private static let calls: [Call] = [
        Call(.post, "/v1/jars/default/responses", refused), Call(.post, "/v1/jars/default/renewals", refused),
        Call(.post, "/v1/jars/default/captures?digest=\(String(repeating: "0", count: 64))", "", type: "text/plain"),
        Call(.get, "/readyz"), Call(.get, "/metrics"), Call(.get, "/"), Call(.get, "/jars/default"),
        Call(.get, "/jars/default?url=https://www.example.com/"),
        Call("the removal of expired data") { test, _ in
            _ = await test.housekeeper.prune(since: ServiceFixture.now.advanced(bySeconds: -86_400))
        },
        Call("the last uses of access tokens") { test, _ in
            let housekeeper = test.housekeeper
            housekeeper.uses.note("tests", ServiceFixture.now)
            await housekeeper.noteUses()
        },
        Call("the renewal of tokens ahead of their expiry") { test, _ in
            var pauses: [String: Timestamp] = [:]
            await test.housekeeper.refresh(&pauses)
        },
    ]

    private var housekeeper: Housekeeper {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return Housekeeper(
            database: fixture.database, writers: fixture.api.writers, uses: TokenUses(),
            refresher: fixture.api.tokens.access.refresher, configuration: ServiceConfiguration(), logger: logger,
            health: ServiceHealth(logger: logger), now: { ServiceFixture.now })
    }

    /// Runs the whole service, for a caller that may do everything.
    private func run(_ body: @escaping @Sendable (ServiceClient) async throws -> Void) async throws {
        let router = Router(context: ServiceRequestContext.self)
        router.add(middleware: EveryCaller(caller: Caller(name: "test", grant: .everything)))
        fixture.api.addRoutes(to: router)
        let state = ServiceState()
        let health = ServiceHealth(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        HealthRoutes(database: fixture.database, state: state, health: health, now: { ServiceFixture.now })
            .add(to: router)
        MetricsRoute(
            database: fixture.database, connections: ConnectionPools(limit: 1),
            metrics: ServiceMetrics(tokens: fixture.database.tokens), gateways: GatewayRegistry(), health: health,
            isPublic: true
        ).add(to: router)
        Inspector(
            database: fixture.database,
            admission: Admission(tokens: fixture.database.serviceTokens, limits: ServiceLimits()),
            now: { ServiceFixture.now }
        ).addRoutes(to: router)
        let running = Task { try await state.run() }
        defer { running.cancel() }
        while state.phase != .ready { await Task.yield() }
        try await Application(router: router).test(.router) { try await body(ServiceClient(client: $0)) }
    }

    @Test("Many that wait for a transaction block none of Swift's threads", arguments: calls)
    func waiting(call: Call) async throws {
        try await run { [self] client in
            // What is in memory from now on is answered from there.
            try await call.run(self, client)
            let transaction = Transaction()
            await transaction.begin(in: fixture.database)
            let ended = Tally()
            let calls = (0..<2 * ProcessInfo.processInfo.activeProcessorCount).map { _ in
                Task {
                    defer { _ = ended.next() }
                    try await call.run(self, client)
                }
            }
            let release = Task {
                // The calls come as far as they can.
                for _ in 0..<2000 { await Task.yield() }
                defer { transaction.end() }
                return ended.value
            }
            for call in calls { try await call.value }
            #expect(await release.value == 0, "A call does not wait")
            #expect(transaction.outcome.withLock { $0 } == true)
        }
    }
}
