import NIOCore

/// Runs the tasks of clients on the event loop of their connections.
///
/// Whatever a task waits for, its next step begins on the executor that the task prefers. By default that is a pool of
/// threads, from which an actor's step goes on to the event loop: two switches of threads for each read. Here the step
/// begins where the actors of the loop run, so it goes on without another switch.
final class EventLoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop
    private let executor: any SerialExecutor

    init(_ loop: any EventLoop) {
        self.loop = loop
        executor = loop.executor
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute {
            job.runSynchronously(
                isolatedTo: self.executor.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
        }
    }
}
