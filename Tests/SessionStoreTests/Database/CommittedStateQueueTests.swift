import CookieModel
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import SessionStore

@Suite("Asking a server for all who wait")
struct CommittedStateQueueTests {
    /// A server whose answers wait until they are let go.
    private final class Server: Sendable {
        private struct State {
            var asked: [Set<Octets>] = []
            var failure: SessionStoreError?
        }

        private let state = Mutex(State())
        private let permits = DispatchSemaphore(value: 0)
        private let arrivals = AsyncStream<Void>.makeStream()

        /// The names of each statement so far.
        var asked: [Set<Octets>] { state.withLock { $0.asked } }

        func answer(_ names: Set<Octets>, round: Int) throws(SessionStoreError) -> [Octets: CommittedState] {
            state.withLock { $0.asked.append(names) }
            arrivals.continuation.yield()
            permits.wait()
            if let failure = state.withLock({ $0.failure }) { throw failure }
            return Dictionary(
                uniqueKeysWithValues: names.map { name in
                    let state = CommittedState(
                        round: round, tokenGeneration: 1, newestKey: 1, jarName: name, jar: nil)
                    return (name, state)
                })
        }

        /// Waits for the next statement to arrive.
        func nextArrival() async { for await _ in arrivals.stream { return } }

        /// Lets the statement under way, or the next one, be answered.
        func letGo() { permits.signal() }

        func fail(_ failure: SessionStoreError?) { state.withLock { $0.failure = failure } }
    }

    private let server: Server
    private let queue: CommittedStateQueue

    init() {
        let server = Server()
        self.server = server
        queue = CommittedStateQueue { names, round throws(SessionStoreError) in
            try server.answer(names, round: round)
        }
    }

    private func ask(_ name: String) -> Task<Int, any Error> {
        Task { [queue] in try await queue.state(ofJar: Octets(name)).round }
    }

    @Test("One statement answers all waiting callers, and no earlier statement answers any of them")
    func sharing() async throws {
        let first = ask("one")
        await server.nextArrival()
        // They come while a statement is under way, which may have seen less than they must.
        let others = (0..<50).map { ask($0 % 2 == 0 ? "one" : "two") }
        try await others.wait { queue.waitingCount == others.count }
        server.letGo()
        #expect(try await first.value == 1)
        server.letGo()
        for other in others { #expect(try await other.value == 2) }
        #expect(server.asked == [[Octets("one")], [Octets("one"), Octets("two")]])
        #expect(queue.statementCount == 2)
    }

    @Test("A statement that fails fails all waiting callers, and the queue continues with the next")
    func failure() async throws {
        let first = ask("one")
        await server.nextArrival()
        let others = (0..<10).map { _ in ask("one") }
        try await others.wait { queue.waitingCount == others.count }
        server.letGo()
        _ = try await first.value
        await server.nextArrival()
        server.fail(SessionStoreError(.databaseUnreachable, "the database", "it is gone"))
        server.letGo()
        for other in others {
            await #expect { try await other.value } throws: {
                ($0 as? SessionStoreError)?.code == .databaseUnreachable
            }
        }
        server.fail(nil)
        server.letGo()
        #expect(try await ask("one").value == 3)
    }

    @Test("Callers that came while a server did not answer fail without another statement")
    func silence() async throws {
        let first = ask("one")
        await server.nextArrival()
        let others = (0..<10).map { _ in ask("one") }
        try await others.wait { queue.waitingCount == others.count }
        server.fail(SessionStoreError(.databaseUnreachable, "the database", "no answer"))
        server.letGo()
        for question in [first] + others {
            await #expect { try await question.value } throws: {
                ($0 as? SessionStoreError)?.code == .databaseUnreachable
            }
        }
        #expect(queue.statementCount == 1)
        server.fail(nil)
        server.letGo()
        #expect(try await ask("one").value == 2)
    }

    @Test("The queue distinguishes jar names that look alike")
    func names() async throws {
        let first = ask("")
        await server.nextArrival()
        let others = [ask("\u{E9}"), ask("e\u{301}")]
        try await others.wait { queue.waitingCount == others.count }
        server.letGo()
        server.letGo()
        _ = try await first.value
        for other in others { _ = try await other.value }
        #expect(server.asked.last?.count == 2)
    }
}
