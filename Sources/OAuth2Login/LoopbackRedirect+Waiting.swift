import Platform

extension LoopbackRedirect {
    /// Threads that wait for browsers, for up to this many logins at once. Further ones wait for a thread first.
    fileprivate static let threads = WorkerThreads(limit: 16)
    /// Threads that show browsers the end of their login. All of the others may be waiting.
    fileprivate static let pageThreads = WorkerThreads(limit: 4)

    /// Waits for the browser on a thread of its own.
    ///
    /// - Parameter isMeant: Whether an arrival belongs to this login; others get an error page.
    /// - Throws: `LoginError` after the timeout, `CancellationError` if the task is cancelled.
    func arrival(within timeout: Duration, isMeant: @escaping @Sendable (String) -> Bool) async throws -> Arrival {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw LoginError(.loginFailed, "making a pipe failed: \(SystemError.last.message)")
        }
        let (stop, cancellation) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer {
            close(stop)
            close(cancellation)
        }
        let deadline = ContinuousClock.now + timeout
        let arrival = await withTaskCancellationHandler {
            await LoopbackRedirect.threads.run {
                self.arrival(until: deadline, readsInput: false, stoppedBy: stop, isMeant: isMeant)
            }
        } onCancel: {
            _ = write(cancellation, [0], 1)
        }
        guard let arrival else {
            try Task.checkCancellation()
            throw LoginError(.loginFailed, "the login timed out; log in again")
        }
        return arrival
    }
}

extension LoopbackRedirect.Arrival {
    /// Shows the user how the login ended, on a thread that may block: a browser may be slow to read.
    func show(_ page: LoopbackPage) async {
        await LoopbackRedirect.pageThreads.run { self.finish(page) }
    }
}
