internal import Dispatch

/// A database on a server: its state, its load, and the heartbeat of a service.
extension SessionDatabase {
    /// Whether the database is on a server, which services of other machines may use too.
    package var isOnServer: Bool {
        guard case .served = engine else { return false }
        return true
    }

    /// The state of the server that the database is on; `nil` for a file.
    package func serverStatus() throws(SessionStoreError) -> ServerStatus? {
        guard case .served(let database) = engine else { return nil }
        return try SessionStoreError.catching(path) { try database.status() }
    }

    /// Commits a heartbeat at once and then with each interval, until the task is cancelled: a service that has a fenced
    /// server reads and writes nothing without one. Does nothing for a file.
    ///
    /// - Parameters:
    ///   - clock: what the interval is measured with.
    ///   - note: is called with each outcome, on a thread that may block.
    package func keepBeating(
        every interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock(),
        _ note: @escaping @Sendable (SessionStoreError?) -> Void
    ) async throws {
        guard case .served = engine else { return }
        let thread = DispatchQueue(label: "crumb.heartbeat")
        while true {
            await withCheckedContinuation { continuation in
                thread.async { [self] in
                    do throws(SessionStoreError) {
                        try commitHeartbeat()
                        note(nil)
                    } catch {
                        note(error)
                    }
                    continuation.resume()
                }
            }
            try await clock.sleep(for: interval)
        }
    }

    /// Commits one heartbeat on a server.
    package func commitHeartbeat() throws(SessionStoreError) {
        guard case .served(let database) = engine else { return }
        try SessionStoreError.catching(path) { try database.commitHeartbeat() }
    }

    /// How much this object has used a server; `nil` for a file.
    package var serverLoad: ServerLoad? {
        guard case .served(let database) = engine else { return nil }
        return database.load
    }

    /// How many requests have asked a server what is committed, and with how many statements: those that wait share one.
    /// `nil` for a file.
    package var committedStateLoad: (requests: Int, statements: Int)? {
        committedStates.map { ($0.requestCount, $0.statementCount) }
    }
}
