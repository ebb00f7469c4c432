import NIOCore

/// Runs the tasks of clients on the event loop of their connections.
///
/// Whatever a task waits for, its next step begins on the executor that the task prefers. By default that is a pool of
/// threads, from which an actor's step goes on to the event loop: two switches of threads for each read.
final class EventLoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
