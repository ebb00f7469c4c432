import NIOCore
import Synchronization

/// An attempt to find a connection for one request. It can go on without the request.
final class ConnectionOpening: Sendable {
    typealias Outcome = Result<UpstreamConnections.Found, GatewayFailure>

    private struct State {
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome?, Never>?
        var task: Task<Void, Never>?
        /// Whether the request no longer waits.
        var isLeft = false
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - find: Finds the connection, in a separate task.
    ///   - receive: Receives the outcome if the request no longer waits.
    init(
        on executor: EventLoopTaskExecutor,
        _ find: @escaping @Sendable () async throws(GatewayFailure) -> UpstreamConnections.Found,
        late receive: @escaping @Sendable (ConnectionOpening, Outcome) async -> Void
    ) {
        let task = Task(executorPreference: executor) {
            let outcome: Outcome
            do throws(GatewayFailure) {
                outcome = .success(try await find())
            } catch {
                outcome = .failure(error)
            }
            let (waiter, isLeft) = self.state.withLock { state in
                defer { state.waiter = nil }
                state.outcome = outcome
                return (state.waiter, state.isLeft)
            }
            if isLeft { await receive(self, outcome) } else { waiter?.resume(returning: outcome) }
        }
        state.withLock { $0.task = task }
    }

    /// Whether the attempt has ended.
    var isEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Waits for the outcome.
    ///
    /// - Parameter patience: How long to wait; `nil` for as long as it takes.
    /// - Returns: `nil` after that time. The attempt then goes on.
    func outcome(
        within patience: TimeAmount?, by clock: any GatewayClock, on loop: any EventLoop
    ) async -> Outcome? {
        let timer = patience.map { clock.schedule(in: $0, on: loop) { self.leave() } }
        defer { timer?.cancel() }
        return await withCheckedContinuation { continuation in
            let (outcome, isOver) = state.withLock { state -> (Outcome?, Bool) in
                if state.outcome == nil, !state.isLeft { state.waiter = continuation }
                return (state.isLeft ? nil : state.outcome, state.waiter == nil)
            }
            if isOver { continuation.resume(returning: outcome) }
        }
    }

    /// Ends the attempt.
    func cancel() {
        state.withLock { $0.task }?.cancel()
    }

    private func leave() {
        let waiter = state.withLock { state in
            guard state.outcome == nil else { return nil as CheckedContinuation<Outcome?, Never>? }
            defer { state.waiter = nil }
            state.isLeft = true
            return state.waiter
        }
        waiter?.resume(returning: nil)
    }
}
