import NIOCore

/// Runs the tasks of clients on the event loop of their connections.
///
/// After each wait, the next step of a task begins on the executor that the task prefers. By default that is a pool of
/// threads, from which an actor's step moves on to the event loop: two thread switches for each read. With this
/// executor, the step begins on the thread of the loop's actors, without another switch.
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
