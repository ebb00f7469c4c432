import NIOCore
import Synchronization

/// The sockets of one attempt to connect, which may try several addresses at the same time. They are closed if the task
/// that waits for the connection is cancelled.
final class ConnectionAttempt: Sendable {
    private let state = Mutex<(channels: [any Channel], isCancelled: Bool)>(([], false))

    /// Waits for a connection.
    func run<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ connect: () async throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler(
            operation: connect,
            onCancel: {
                let channels = state.withLock { state in
                    defer { state = ([], true) }
                    return state.channels
                }
                for channel in channels { channel.close(promise: nil) }
            }, isolation: isolation)
    }

    /// Runs an action with a connection. Aborts the connection if the task is cancelled meanwhile.
    static func with<Value: Sendable>(
        _ stream: ByteStream, isolation: isolated (any Actor)? = #isolation, _ action: () async throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler(
            operation: action, onCancel: { Task { await stream.abort() } }, isolation: isolation)
    }

    /// Adds a socket that is about to connect.
    ///
    /// - Throws: `CancellationError` if no further socket is needed.
    func add(_ channel: any Channel) throws {
        let isCancelled = state.withLock { state in
            state.channels.append(channel)
            return state.isCancelled
        }
        if isCancelled { throw CancellationError() }
    }
}
