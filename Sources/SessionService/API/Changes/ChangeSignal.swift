import Synchronization

/// Tells those who follow a jar that something was written to it in this process, so that they need not wait until they
/// look again.
final class ChangeSignal: Sendable {
    private struct State {
        var followers: [String: [Int: AsyncStream<Void>.Continuation]] = [:]
        var next = 0
    }

    /// How many follow. Nearly always nobody does, and a write looks no further.
    private let count = Atomic(0)
    private let state = Mutex(State())

    /// Something may have been written to a jar; `nil` for any.
    func notify(_ jar: @autoclosure () -> String?) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        let jar = jar()
        let followers = state.withLock { state in
            jar.map { state.followers[$0].map { Array($0.values) } ?? [] }
                ?? state.followers.values.flatMap { Array($0.values) }
        }
        for follower in followers { follower.yield() }
    }

    /// Signals for a jar, until `end` is called or nobody listens any more. Several at once are one.
    func follow(_ jar: String) -> (signals: AsyncStream<Void>, signal: @Sendable () -> Void, end: @Sendable () -> Void)
    {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.next += 1
            state.followers[jar, default: [:]][state.next] = continuation
            return state.next
        }
        count.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in self?.forget(id, jar) }
        return (stream, { continuation.yield() }, { continuation.finish() })
    }

    private func forget(_ id: Int, _ jar: String) {
        let isKnown = state.withLock { state in
            let isKnown = state.followers[jar]?.removeValue(forKey: id) != nil
            if state.followers[jar]?.isEmpty == true { state.followers[jar] = nil }
            return isKnown
        }
        if isKnown { count.subtract(1, ordering: .relaxed) }
    }
}
