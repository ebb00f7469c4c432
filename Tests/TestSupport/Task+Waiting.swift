import Synchronization

extension Task where Failure == any Error {
    /// Waits until the task has made something happen, or has ended without it.
    ///
    /// A test that waits only for what a task does waits forever if the task fails.
    public func wait(until isThere: () -> Bool) async throws {
        let hasEnded = Mutex(false)
        let watch = Task<Void, Never> {
            _ = await result
            hasEnded.withLock { $0 = true }
        }
        defer { watch.cancel() }
        while !isThere(), !hasEnded.withLock({ $0 }) { try await Task<Never, Never>.sleep(for: .milliseconds(2)) }
    }
}
