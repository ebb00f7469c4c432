import Synchronization

extension Task where Failure == any Error {
    /// Waits until the task has made something happen, or has ended without it.
    ///
    /// A test that waits only for what a task does waits forever if the task fails.
    public func wait(until isThere: () -> Bool) async throws {
        try await [self].wait(until: isThere)
    }
}

extension Array {
    /// Waits until tasks have made something happen, or one of them has ended without it.
    public func wait<Success>(until isThere: () -> Bool) async throws where Element == Task<Success, any Error> {
        let hasEnded = Mutex(false)
        let watch = Task<Void, Never> {
            await withTaskGroup(of: Void.self) { group in
                for task in self { group.addTask { _ = await task.result } }
                await group.next()
                hasEnded.withLock { $0 = true }
            }
        }
        defer { watch.cancel() }
        while !isThere(), !hasEnded.withLock({ $0 }) { try await Task<Never, Never>.sleep(for: .milliseconds(2)) }
    }
}
