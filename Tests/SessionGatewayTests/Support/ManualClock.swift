import NIOCore
import Synchronization

@testable import SessionGateway

/// A clock that a test moves.
final class ManualClock: GatewayClock {
    private struct Waiting {
        let delay: TimeAmount
        let time: NIODeadline
        let loop: any EventLoop
        let action: @Sendable () -> Void
    }

    private struct State {
        var now = NIODeadline.uptimeNanoseconds(1)
        var waiting: [Int: Waiting] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    var now: NIODeadline { state.withLock { $0.now } }
    /// How many actions wait for their time.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits until an action waits that was to run after `delay`, and runs it; and so on for further ones, until the task is
    /// cancelled.
    func keepAdvancing(when delay: TimeAmount) async {
        while !Task.isCancelled {
            if isWaiting(for: delay) { advance(by: delay) }
            await Task.yield()
        }
    }

    /// Waits until an action waits that was to run after `delay`, or the test's time is over, and runs it.
    func advance(when delay: TimeAmount) async {
        while !isWaiting(for: delay), !Task.isCancelled { await Task.yield() }
        advance(by: delay)
    }

    private func isWaiting(for delay: TimeAmount) -> Bool {
        state.withLock { $0.waiting.values.contains { $0.delay == delay } }
    }

    func schedule(
        in delay: TimeAmount, on loop: any EventLoop, _ action: @escaping @Sendable () -> Void
    ) -> GatewayTimer {
        let number: Int? = state.withLock { state in
            guard delay > .zero else { return nil }
            state.count += 1
            state.waiting[state.count] = Waiting(delay: delay, time: state.now + delay, loop: loop, action: action)
            return state.count
        }
        guard let number else {
            loop.execute(action)
            return GatewayTimer {}
        }
        return GatewayTimer { [self] in state.withLock { _ = $0.waiting.removeValue(forKey: number) } }
    }

    /// Moves the clock on, and runs what is due.
    func advance(by time: TimeAmount) {
        let due = state.withLock { state in
            state.now = state.now + time
            let due = state.waiting.filter { $0.value.time <= state.now }
            for number in due.keys { state.waiting[number] = nil }
            return due.values.sorted { $0.time < $1.time }
        }
        for waiting in due { waiting.loop.execute(waiting.action) }
    }
}
