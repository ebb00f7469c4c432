internal import Dispatch

/// A connection that any thread can use, one at a time, in the order in which they ask for it.
///
/// `@unchecked` because the compiler cannot see that only code within the serial queue uses the connection.
package final class DatabaseQueue: @unchecked Sendable {
    private let connection: DatabaseConnection
    private let queue = DispatchQueue(label: "crumb")

    /// Opens a database. The parameters are those of ``DatabaseConnection``.
    package init(
        path: String, isReadOnly: Bool = false, busyTimeout: Double = 0,
        prepare: (DatabaseConnection) throws -> Void = { _ in }
    ) throws {
        connection = try DatabaseConnection(
            path: path, isReadOnly: isReadOnly, busyTimeout: busyTimeout, prepare: prepare)
    }

    /// Runs `body` with the connection while no other thread uses it. Must not be called within `body`, and no
    /// transaction may be left open.
    package func sync<Result>(_ body: (DatabaseConnection) throws -> Result) rethrows -> Result {
        try queue.sync {
            defer { precondition(!connection.isInTransaction, "a transaction was left open") }
            return try body(connection)
        }
    }

    /// Runs `body` with the connection, in a transaction in which no statement can write.
    package func read<Result>(_ body: (DatabaseConnection) throws -> Result) throws -> Result {
        try sync { connection in try connection.read { try body(connection) } }
    }

    /// Closes the connection.
    package func close() throws {
        try sync { try $0.close() }
    }
}
