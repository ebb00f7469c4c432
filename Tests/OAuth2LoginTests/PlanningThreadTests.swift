import Dispatch
import Foundation
import OAuth2
import OAuth2Login
import Platform
import SessionStore
import Synchronization
import Testing

/// An app may log in from a thread that must not wait, such as its main thread.
@Suite("The thread that a login is planned on", .timeLimit(.minutes(10)))
struct PlanningThreadTests {
    /// An executor that runs one job at a time, in order.
    private final class OneThread: TaskExecutor {
        let queue = DispatchQueue(label: "login")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Transactions that end with the next job of a thread, or after ten seconds if the thread is blocked.
    private final class Transactions: Sendable {
        let thread = OneThread()
        /// Whether each transaction ended with a job of the thread.
        let outcomes = Mutex<[Bool]>([])
        private let store: TokenStore
        private let mayEnd = DispatchSemaphore(value: 0)

        init(_ store: TokenStore) {
            self.store = store
        }

        /// Begins a transaction on a login named `other`.
        func begin() async {
            let (beginnings, continuation) = AsyncStream<Void>.makeStream()
            Thread { [self] in
                _ = try? store.changeSettings(of: "other") { _ in
                    continuation.yield()
                    let hasTurn = mayEnd.wait(timeout: .now() + 10) == .success
                    outcomes.withLock { $0.append(hasTurn) }
                }
                // If the transaction fails, no one waits for its beginning.
                continuation.finish()
            }.start()
            var iterator = beginnings.makeAsyncIterator()
            await iterator.next()
        }

        /// Ends a transaction with the job of the thread that comes after those it has.
        func endInOrder() {
            thread.queue.async { [mayEnd] in _ = mayEnd.signal() }
        }
    }

    /// An authorization server that begins a transaction with each request.
    private struct Server: EndpointTransport {
        let transactions: Transactions?

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            if let transactions {
                await transactions.begin()
                transactions.endInOrder()
            }
            return try await AuthorizationServer().send(request)
        }
    }

    private let store: TokenStore

    init() throws {
        store = try AuthorizationServer.emptyStore()
    }

    private func request(_ name: String, _ clientID: String) -> TokenLoginRequest {
        var request = TokenLoginRequest(name: name)
        request.issuer = AuthorizationServer.issuer
        request.clientID = clientID
        return request
    }

    @Test("A plan does not block its thread while the store waits, before and after the server is asked")
    func free() async throws {
        let other = try await request("other", "another").plan(store, over: Server(transactions: nil))
        let tokens = TokenSet(accessToken: Secret("access-1"), receivedAt: AuthorizationServer.now)
        _ = try await LoginFlow(
            other, over: Server(transactions: nil), checkingIDTokens: nil, now: { AuthorizationServer.now }
        ).keep(tokens, in: store)
        let transactions = Transactions(store)
        await transactions.begin()
        let plan = Task(executorPreference: transactions.thread) { [request = request("work", "app"), store] in
            try await request.plan(store, over: Server(transactions: transactions))
        }
        transactions.endInOrder()
        #expect(try await plan.value.name == "work")
        let outcomes = transactions.outcomes.withLock { $0 }
        #expect(outcomes.count > 1 && outcomes.allSatisfy { $0 }, "\(outcomes)")
    }
}
