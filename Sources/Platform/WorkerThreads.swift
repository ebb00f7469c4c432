import Dispatch
import Synchronization

/// Threads for calls that block, such as those that read files: at most a fixed number, which all callers share.
///
/// They begin when they are needed, and stay. Swift's own threads are never blocked.
package final class WorkerThreads: Sendable {
    /// Those of the process.
    package static let shared = WorkerThreads(limit: 4)

    private typealias Job = @Sendable () -> Void

    private struct State {
        /// Jobs in the order in which they are taken, the next one last.
        var next: [Job] = []
        /// Jobs that came later, in order.
        var later: [Job] = []
        /// How many threads there are, and how many of them have no job.
        var threads = 0
        var idle = 0

        mutating func take() -> Job? {
            if next.isEmpty { (next, later) = (later.reversed(), []) }
            return next.popLast()
        }
    }

    private let limit: Int
    private let state = Mutex(State())
    private let jobs = DispatchSemaphore(value: 0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// Runs `work` on one of the threads, after the work that was there before. It runs to its end even if the task is
    /// cancelled.
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

    private func add(_ job: @escaping Job) {
        let isShort = state.withLock { state in
            state.later.append(job)
            guard state.next.count + state.later.count > state.idle, state.threads < limit else { return false }
            state.threads += 1
            state.idle += 1
            return true
        }
        jobs.signal()
        guard isShort, !begin() else { return }
        // Without one more thread, those that there are have to do, or else this one.
        let left: Job? = state.withLock { state in
            (state.threads, state.idle) = (state.threads - 1, state.idle - 1)
            return state.threads == 0 ? state.take() : nil
        }
        left?()
    }

    /// Begins a thread; one that cannot be begun is tried again with the next job.
    private func begin() -> Bool {
        beginThread { [self] in serve() }
    }

    private func serve() {
        while true {
            jobs.wait()
            let job = state.withLock { state in
                state.idle -= 1
                return state.take()
            }
            job?()
            state.withLock { $0.idle += 1 }
        }
    }
}

/// Runs `body` on a thread of its own, which ends with it.
///
/// - Returns: Whether the system has begun the thread.
@discardableResult
package func beginThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let thread = Unmanaged.passRetained(ThreadBody(body: body))
    #if canImport(Darwin)
        var number: pthread_t?
        let code = pthread_create(&number, nil, { ThreadBody.run($0) }, thread.toOpaque())
    #else
        var number = pthread_t()
        let code = pthread_create(&number, nil, { $0.flatMap { ThreadBody.run($0) } }, thread.toOpaque())
    #endif
    guard code == 0 else {
        thread.release()
        return false
    }
    #if canImport(Darwin)
        if let number { pthread_detach(number) }
    #else
        pthread_detach(number)
    #endif
    return true
}

private final class ThreadBody: Sendable {
    private let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    static func run(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
    }
}
