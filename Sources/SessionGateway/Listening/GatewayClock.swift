import NIOCore

/// The clock that measures the gateway's limits.
protocol GatewayClock: Sendable {
    /// The current time.
    var now: NIODeadline { get }

    /// Runs an action on an event loop after a time.
    ///
    /// - Returns: A timer that can cancel it.
    func schedule(
        in delay: TimeAmount, on loop: any EventLoop, _ action: @escaping @Sendable () -> Void
    ) -> GatewayTimer
}

/// An action that waits for its time.
struct GatewayTimer: Sendable {
    let cancel: @Sendable () -> Void
}

/// The clock of the machine.
struct MachineClock: GatewayClock {
    var now: NIODeadline { .now() }

    func schedule(
        in delay: TimeAmount, on loop: any EventLoop, _ action: @escaping @Sendable () -> Void
    ) -> GatewayTimer {
        let task = loop.scheduleTask(in: delay, action)
        return GatewayTimer { task.cancel() }
    }
}
