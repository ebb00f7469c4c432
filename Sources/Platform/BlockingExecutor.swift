import Synchronization

/// A call that may block.
package typealias BlockingJob = @Sendable () -> Void

/// Runs calls that block away from Swift's own threads, and begins them in the order in which they come.
package protocol BlockingExecutor: Sendable {
    /// Runs a job later.
    func add(_ job: @escaping BlockingJob)
}

extension BlockingExecutor {
    /// Runs `work` after the work that was added before. It runs to its end even if the task is cancelled.
    package func run<Result: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let result: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
            add {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Runs `work` after the work that was added before, unless the task is cancelled by then.
    ///
    /// A cancelled task gets `CancellationError` at once. If `work` has begun, it goes on, and its result is dropped.
    package func runUnlessCancelled<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await CancellableCall.run { call in
            add {
                guard call.isAwaited else { return }
                call.end(Swift.Result { try work() })
            }
        }
    }
}

/// A call whose caller may leave before it ends.
package final class CancellableCall<Result: Sendable>: Sendable {
    private enum State {
        case new
        case awaited(CheckedContinuation<Result, any Error>)
        case ended
    }

    private let state = Mutex(State.new)

    private init() {}

    /// Begins a call, and waits for its end. A cancelled task gets `CancellationError` at once.
    ///
    /// - Parameter begin: Sees to it that the call is ended. It is not called if the task has been cancelled.
    package static func run(_ begin: (CancellableCall) -> Void) async throws -> Result {
        let call = CancellableCall()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if call.await(by: continuation) { begin(call) }
            }
        } onCancel: {
            call.end(.failure(CancellationError()))
        }
    }

    /// Whether the caller has not left.
    package var isAwaited: Bool {
        state.withLock { state in
            if case .awaited = state { true } else { false }
        }
    }

    /// Lets the caller wait; fails at once if the call has been cancelled.
    ///
    /// - Returns: whether the caller waits.
    private func await(by continuation: CheckedContinuation<Result, any Error>) -> Bool {
        let isNew = state.withLock { state in
            guard case .new = state else { return false }
            state = .awaited(continuation)
            return true
        }
        if !isNew { continuation.resume(throwing: CancellationError()) }
        return isNew
    }

    /// Answers the caller, unless it has an answer.
    package func end(_ result: Swift.Result<Result, any Error>) {
        let continuation: CheckedContinuation<Result, any Error>? = state.withLock { state in
            defer { state = .ended }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }
}

/// Runs jobs one after the other on the threads of a pool, and occupies one of them at most.
///
/// Between two jobs, it waits for its turn among the others that use the pool.
package final class WorkerLane: BlockingExecutor {
    private struct State {
        var jobs = WaitingLine<BlockingJob>()
        var isRunning = false
    }

    private let threads: WorkerThreads
    private let state = Mutex(State())

    package init(on threads: WorkerThreads) {
        self.threads = threads
    }

    /// How many jobs have not begun.
    package var waitingCount: Int { state.withLock { $0.jobs.count } }

    package func add(_ job: @escaping BlockingJob) {
        let begins = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { threads.add { self.runNext() } }
    }

    private func runNext() {
        state.withLock { $0.jobs.take() }?()
        let goesOn = state.withLock { state in
            state.isRunning = state.jobs.count > 0
            return state.isRunning
        }
        if goesOn { threads.add { self.runNext() } }
    }
}

/// What waits, in the order in which it came.
package struct WaitingLine<Element> {
    /// What is taken first, the next one last.
    private var next: [Element] = []
    /// What came later, in order.
    private var later: [Element] = []

    package init() {}

    package var count: Int { next.count + later.count }

    package mutating func append(_ element: Element) {
        later.append(element)
    }

    /// Takes the first one.
    ///
    /// - Parameter isDue: Whether it may be taken.
    package mutating func take(if isDue: (Element) -> Bool = { _ in true }) -> Element? {
        if next.isEmpty { (next, later) = (later.reversed(), []) }
        guard let first = next.last, isDue(first) else { return nil }
        return next.popLast()
    }
}
