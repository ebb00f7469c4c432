import Synchronization

/// An operation that several requests wait for, begun by one of them. It is cancelled if all of them are.
final class Negotiation<Outcome: Sendable>: Sendable {
    private struct State {
        var outcome: Outcome?
        var task: Task<Void, Never>?
        var waiters: [Int: CheckedContinuation<Outcome?, Never>] = [:]
        var count = 0
        /// Whether the request that has begun it no longer waits.
        var isFirstGone = false
        var isAbandoned = false
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - negotiate: The operation. It runs in a separate task, because others wait for it.
    ///   - drop: Receives the outcome if the request that has begun it no longer waits.
    init(
        _ negotiate: @escaping @Sendable () async -> Outcome,
        droppingForFirst drop: @escaping @Sendable (Outcome) async -> Void
    ) {
        let task = Task {
            let outcome = await negotiate()
            let (waiters, isFirstGone) = self.state.withLock { state in
                defer { state.waiters = [:] }
                state.outcome = outcome
                return (state.waiters.values, state.isFirstGone)
            }
            if isFirstGone { await drop(outcome) }
            for waiter in waiters { waiter.resume(returning: outcome) }
        }
        state.withLock { $0.task = task }
    }

    /// Whether it was cancelled because no request waited for it.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// How many requests wait.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Waits for the outcome; `nil` if the task is cancelled.
    ///
    /// - Parameter isFirst: Whether it was begun for this request.
    func outcome(forFirst isFirst: Bool) async -> Outcome? {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (outcome, isOver) = state.withLock { state -> (Outcome?, Bool) in
                    if let outcome = state.outcome { return (outcome, true) }
                    state.waiters[number] = continuation
                    return (nil, false)
                }
                if isOver { return continuation.resume(returning: outcome) }
                // It may have been cancelled before it waited.
                if Task.isCancelled { leave(number, isFirst) }
            }
        } onCancel: {
            leave(number, isFirst)
        }
    }

    private func leave(_ number: Int, _ isFirst: Bool) {
        let (waiter, abandoned) = state.withLock { state in
            guard let waiter = state.waiters.removeValue(forKey: number) else {
                return (nil as CheckedContinuation<Outcome?, Never>?, nil as Task<Void, Never>?)
            }
            if isFirst { state.isFirstGone = true }
            if state.waiters.isEmpty { state.isAbandoned = true }
            return (waiter, state.isAbandoned ? state.task : nil)
        }
        abandoned?.cancel()
        waiter?.resume(returning: nil)
    }
}
