import CookieModel
import SQLiteEngine
import StoreEngine
import Testing

@testable import SessionStore

/// What the store relies on, whatever engine keeps it.
@Suite("An engine's connection and statements")
struct EngineContractTests {
    /// Runs `body` in a transaction with an empty table.
    private func withTable(_ body: (Connection) throws -> Void) throws {
        try Given.database().write { connection in
            try connection.statement(
                "CREATE TABLE item (id INTEGER PRIMARY KEY, number INTEGER, text TEXT, octets BLOB)"
            )
            .run()
            try body(connection)
        }
    }

    private func expectRow(
        _ connection: some StoreConnection, _ number: Int64?, _ text: String?, _ octets: [UInt8]?
    ) throws {
        let statement = try connection.statement("SELECT number, text, octets, typeof(text), typeof(octets) FROM item")
        defer { statement.reset() }
        #expect(try statement.step())
        #expect(statement.optionalInt64(0) == number && statement.int64(0) == number ?? 0)
        #expect(statement.isNull(1) == (text == nil) && statement.text(1) == text ?? "")
        #expect(statement.isNull(2) == (octets == nil) && statement.bytes(2) == octets ?? [])
        #expect(Array(statement.borrowedBytes(2)) == octets ?? [])
        #expect(statement.text(3) == (text == nil ? "null" : "text"))
        #expect(statement.text(4) == (octets == nil ? "null" : "blob"))
        #expect(try !statement.step())
    }

    private static let insertion = "INSERT INTO item (number, text, octets) VALUES (?, ?, ?)"

    private func insert<Engine: StoreConnection>(
        _ connection: Engine, kept: Bool, _ bind: (Engine.Statement) -> Void
    ) throws {
        try connection.statement("DELETE FROM item").run()
        let statement =
            kept
            ? try connection.statement(kept: 40, Self.insertion) : try connection.statement(Self.insertion)
        bind(statement)
        try statement.run()
        #expect(statement.changeCount == 1)
        statement.releaseParameters()
    }

    @Test("Give back what was bound, NULL and empty values told apart", arguments: [false, true])
    func binding(kept: Bool) throws {
        try withTable { connection in
            try insert(connection, kept: kept) { statement in
                statement.bind(1, Int64.min)
                statement.bind(2, text: "grün")
                statement.bind(3, [0, 255, 0])
            }
            try expectRow(connection, .min, "grün", [0, 255, 0])
            try insert(connection, kept: kept) { statement in
                statement.bind(1, true)
                statement.bindEmptyText(2)
                statement.bind(3, Octets([]))
            }
            try expectRow(connection, 1, "", [])
            try insert(connection, kept: kept) { statement in
                statement.bind(1, nil as Int64?)
                statement.bind(2, text: nil as Octets?)
                statement.bind(3, nil as [UInt8]?)
            }
            try expectRow(connection, nil, nil, nil)
            let long = Array(repeating: UInt8(ascii: "x"), count: 10_000)
            try insert(connection, kept: kept) { statement in
                statement.bind(2, text: Octets(long))
                statement.bind(3, Octets(long))
            }
            try expectRow(connection, nil, String(decoding: long, as: UTF8.self), long)
            try long.withUnsafeBytes { octets in
                try insert(connection, kept: kept) { statement in
                    statement.bind(1, Int64(octets.count))
                    statement.bind(2, textInPlace: octets)
                    statement.bind(3, inPlace: octets)
                }
            }
            try expectRow(connection, 10_000, String(decoding: long, as: UTF8.self), long)
        }
    }

    @Test("Count the rows that a statement changed, and those that the connection did")
    func changes() throws {
        try withTable { connection in
            let before = connection.totalChangeCount
            for _ in 0..<3 { try connection.statement("INSERT INTO item (number) VALUES (1)").run() }
            let update = try connection.statement("UPDATE item SET number = 2 WHERE id > 1")
            try update.run()
            #expect(update.changeCount == 2)
            #expect(connection.totalChangeCount == before + 5)
        }
    }

    @Test("Tell what went wrong in the store's words")
    func failures() throws {
        try withTable { connection in
            #expect(throws: StoreFailure(.other, code: 1)) { try connection.statement("SELECT none FROM nothing") }
            let orphan = try connection.statement("INSERT INTO snapshot (jar_id, name, created_at) VALUES (99, 'x', 0)")
            #expect { try orphan.run() } throws: { ($0 as? StoreFailure)?.kind == .orphan }
            try connection.statement("INSERT INTO item (id) VALUES (1)").run()
            #expect { try connection.statement("INSERT INTO item (id) VALUES (1)").run() } throws: { error in
                (error as? StoreFailure)?.kind == .other
            }
        }
    }

    @Test("Change the version with every commit")
    func versions() throws {
        let folder = TemporaryFolder()
        let database = try Given.database(folder.file("crumb.sqlite"))
        let other = try Given.database(folder.file("crumb.sqlite"))
        let reader = try database.engine.makeReader()
        var seen = [try #require(reader.version)]
        for number in 0..<4 {
            _ = try (number % 2 == 0 ? database : other).jar(named: "jar \(number)", now: Given.now)
            let version = try #require(reader.version)
            #expect(!seen.contains(version))
            seen.append(version)
            #expect(reader.version == version)
        }
    }
}
