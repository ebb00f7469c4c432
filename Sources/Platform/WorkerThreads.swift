import Dispatch
import Synchronization

/// Threads for calls that block, such as those that read files: at most a fixed number, which all callers share.
///
/// They begin when they are needed, and stay. Swift's own threads are never blocked.
package final class WorkerThreads: BlockingExecutor {
    /// Those of the process for calls that read.
    package static let shared = WorkerThreads(limit: 4)
    /// Those of the process for calls that may wait for another process.
    package static let patient = WorkerThreads(limit: 4)
    /// Those of the process for calls that read from a database server.
    package static let servedReaders = WorkerThreads(limit: 8)
    /// Those of the process for transactions on a database server, which may wait for locks of rows.
    package static let servedWriters = WorkerThreads(limit: 8)

    private struct State {
        var jobs = WaitingLine<BlockingJob>()
        /// How many threads there are, and how many of them have no job.
        var threads = 0
        var idle = 0
    }

    private let limit: Int
    private let state = Mutex(State())
    private let jobs = DispatchSemaphore(value: 0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// How many threads there are.
    package var count: Int { state.withLock { $0.threads } }

    package func add(_ job: @escaping BlockingJob) {
        let isShort = state.withLock { state in
            state.jobs.append(job)
            guard state.jobs.count > state.idle, state.threads < limit else { return false }
            state.threads += 1
            state.idle += 1
            return true
        }
        jobs.signal()
        guard isShort, !begin() else { return }
        // Without one more thread, those that there are have to do, or else this one.
        let left: BlockingJob? = state.withLock { state in
            (state.threads, state.idle) = (state.threads - 1, state.idle - 1)
            return state.threads == 0 ? state.jobs.take() : nil
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
                return state.jobs.take()
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
