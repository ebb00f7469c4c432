internal import Platform
internal import StoreEngine
internal import Synchronization

/// The writes to a file that tasks wait for, and that may share a transaction.
///
/// The writers of a file take turns on one thread. Those of these writes that wait when one of them has its turn are
/// written together, each with a savepoint of its own (`CommitGroup`), and each caller is resumed after the commit.
final class SharedWrites: Sendable {
    private struct Write: Sendable {
        let start = ContinuousClock.now
        /// The number of calls that were passed before, and that have to run before.
        let turn: Int
        let body: @Sendable (Connection) throws -> Void
        /// Is called after the commit, with the failure if nothing is stored.
        let end: @Sendable ((any Error)?) -> Void
    }

    private struct State {
        var turn = 0
        var waiting = WaitingLine<Write>()
    }

    /// How many writes one transaction takes: readers of this process that need its connection wait for its end.
    private static let limit = 64

    private let engine: Engine
    private let memory: WriterMemory
    private let path: String
    private let lane: any BlockingExecutor
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: The path of the file, for errors.
    ///   - lane: Runs one job at a time, in order.
    init(_ engine: Engine, _ memory: WriterMemory, path: String, on lane: any BlockingExecutor) {
        self.engine = engine
        self.memory = memory
        self.path = path
        self.lane = lane
    }

    /// Puts what was added so far before a job that is added to the lane next, and what is added later after it.
    func endTurn() {
        state.withLock { $0.turn += 1 }
    }

    /// Runs `body` in a transaction, even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - body: Must write only through its connection. It runs at most once.
    ///   - finish: Makes the result, on a thread of the store, after the commit.
    func run<Value: Sendable, Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value,
        then finish: @escaping @Sendable (Value) -> Result
    ) async throws(SessionStoreError) -> Result {
        let result = await withCheckedContinuation { continuation in
            add(body, then: finish) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Runs `body` as ``run(_:then:)`` does, unless the task is cancelled before the transaction comes to it. A cancelled
    /// task gets `CancellationError` at once.
    func runUnlessCancelled<Value: Sendable, Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value,
        then finish: @escaping @Sendable (Value) -> Result
    ) async throws -> Result {
        try await CancellableCall.run { call in
            add { connection in
                guard call.isAwaited else { throw CancellationError() }
                return try body(connection)
            } then: {
                finish($0)
            } end: { result in
                call.end(result.mapError { $0 })
            }
        }
    }

    private func add<Value: Sendable, Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value,
        then finish: @escaping @Sendable (Value) -> Result,
        end: @escaping @Sendable (Swift.Result<Result, SessionStoreError>) -> Void
    ) {
        let written = Written<Value>()
        state.withLock { state in
            state.waiting.append(
                Write(turn: state.turn) { connection in
                    written.set(try body(connection))
                } end: { [path] failure in
                    end(
                        Swift.Result { () throws(SessionStoreError) in
                            finish(try SessionStoreError.catching(path) { try written.get(unless: failure) })
                        })
                })
            // One job for each, in the same order, so that there is one for those that a transaction leaves.
            lane.add { [turn = state.turn] in self.write(upTo: turn) }
        }
    }

    /// Writes what waits, in one transaction.
    private func write(upTo turn: Int) {
        let writes = state.withLock { state in
            var writes: [Write] = []
            while writes.count < SharedWrites.limit, let next = state.waiting.take(if: { $0.turn <= turn }) {
                writes.append(next)
            }
            return writes
        }
        // An earlier job may have written them.
        guard !writes.isEmpty else { return }
        let failures = engine.write(memory, writes.map { (start: $0.start, body: $0.body) })
        for (write, failure) in zip(writes, failures) { write.end(failure) }
    }
}

/// What a write returns, from the thread that runs it to the thread that ends it.
private final class Written<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    func set(_ value: Value) {
        state.withLock { $0 = value }
    }

    func get(unless failure: (any Error)?) throws -> Value {
        guard failure == nil, let value = state.withLock({ $0 }) else {
            throw failure ?? StoreFailure.unexpectedResult
        }
        return value
    }
}
