import NIOCore

/// Notices that the client no longer waits for a response.
extension ByteStream {
    /// The action to run when the other side has disconnected.
    struct Absence {
        let limit: TimeAmount?
        let action: @Sendable () -> Void
        var timer: GatewayTimer?
    }

    /// Runs `action` once the client no longer waits for a response: if the connection fails, or if the client has
    /// closed it. If the client has ended its output and may still read, `action` runs a while after the last octet.
    ///
    /// - Parameter limit: The length of that while; `nil` to let a client without output read without a limit.
    func whenGone(after limit: TimeAmount?, _ action: @escaping @Sendable () -> Void) {
        absence = Absence(limit: limit, action: action)
        if failure != nil { action() } else if isEnded { awaitAbsence() } else { readAhead() }
    }

    /// Cancels the action of ``whenGone(after:_:)``.
    func forgetAbsence() {
        absence?.timer?.cancel()
        absence = nil
    }

    /// Waits until the client has closed its socket, at most until `end`. Checks it after each `pause`.
    func awaitAbsence(until end: NIODeadline? = nil, pause: TimeAmount = .milliseconds(20)) {
        guard let absence, end != nil || absence.timer == nil else { return }
        let end = end ?? absence.limit.map { clock.now + $0 } ?? .distantFuture
        guard clock.now < end, !PeerUser.hasClosed(channel) else { return absence.action() }
        self.absence?.timer = clock.schedule(in: min(pause, end - clock.now), on: channel.eventLoop) { [weak self] in
            self?.assumeIsolated { $0.awaitAbsence(until: end, pause: .seconds(1)) }
        }
    }
}
