import CookieModel
import Foundation
import SessionStore
import Synchronization
import Testing

@testable import PostgreSQLEngine

/// A database of its own on the PostgreSQL server that `CRUMB_TEST_POSTGRESQL` names, such as
/// `postgresql://postgres@127.0.0.1:5432`, for services that share it.
struct SharedDatabase {
    /// The server; `nil` if there is none to test with.
    static let server = ProcessInfo.processInfo.environment["CRUMB_TEST_POSTGRESQL"]
    private static let count = Mutex(0)

    private let target: PostgreSQLTarget
    private let key: SealingKey

    init() throws {
        let server = try #require(Self.server)
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        let name = "crumb_service_\(ProcessInfo.processInfo.processIdentifier)_\(number)"
        let session = try PostgreSQLSession(try PostgreSQLTarget("\(server)/postgres", timeout: 20))
        try session.enqueue("CREATE DATABASE \(name)")
        try session.synchronize()
        target = try PostgreSQLTarget("\(server)/\(name)", timeout: 20)
        key = try #require(SealingKey(bytes: Array(1...32)))
        _ = try PostgreSQLSchema(target).create()
    }

    /// Opens it, as each service does.
    ///
    /// - Parameter newer: Further keys of its source.
    func open(newer: [SealingKey] = []) throws -> SessionDatabase {
        try SessionDatabase(
            PostgreSQLDatabase(target), name: "shared", keys: .keys([key] + newer), now: ServiceFixture.now)
    }

    /// The octets of a column of type `bytea`, or the text of another one, of each row.
    func values(_ sql: String) throws -> [[UInt8]] {
        let session = try PostgreSQLSession(target)
        return try withExtendedLifetime(session) {
            let rows = session.known(sql)
            var values: [[UInt8]] = []
            while try rows.step() { values.append(rows.bytes(0)) }
            return values
        }
    }
}
