import CookieModel
import Foundation
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "Moving a database to a server and back",
    .onlyOnServer)
struct DatabaseMoveTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-move-\(UUID().uuidString)")
    private let key: SealingKey

    init() throws {
        key = try Given.key()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func file(_ name: String) throws -> SessionDatabase {
        try SessionDatabase(path: folder.appending(path: name).path, keys: .key(key), now: Given.now)
    }

    private func served() throws -> SessionDatabase {
        let server = try #require(TestServer.shared)
        let name = try server.newDatabase()
        return try server.open(server.target(name), keys: .key(key))
    }

    private func filled() throws -> SessionDatabase {
        let database = try file("source.sqlite")
        try FullDatabase.fill(database)
        return database
    }

    private func copy(
        _ source: SessionDatabase, to target: SessionDatabase, jars: [String]? = nil
    ) throws -> [MovedPart] {
        var parts: [MovedPart] = []
        try target.copy(from: source, jars: jars) { part, _ in parts.append(part) }
        return parts
    }

    @Test("A move keeps every row and value, there and back, and continues after an interruption")
    func there() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, server, back) = (try filled(), try served(), try file("back.sqlite"))
        let first = try copy(source, to: server, jars: ["work"])
        #expect(first.map(\.jar) == ["work"] && first.map(\.cookies) == [31] && first.map(\.wasThere) == [false])
        let all = try copy(source, to: server)
        #expect(all.map(\.jar) == ["default", "work", nil] && all.map(\.wasThere) == [false, true, false])
        #expect(try copy(source, to: server).allSatisfy(\.wasThere))
        let returned = try copy(server, to: back)
        #expect(returned.map(\.digest) == all.map(\.digest))
        let values = try FullDatabase.values(source)
        #expect(values.count > 130)
        #expect(try FullDatabase.values(server).sorted() == values.sorted())
        #expect(try FullDatabase.values(back) == values)
        // New rows get ids of their own, and not those of removed jars.
        try server.createJar(named: "later", now: Given.now).receive("a=1; Path=/")
        let names = ["default", "later", "work"]
        for name in names { try server.discardJar(named: name, now: Given.now) }
        #expect(try copy(try file("empty.sqlite"), to: server, jars: []).isEmpty)
        _ = try server.createJar(named: "between", now: Given.now)
        for name in names { try server.restoreJar(named: name, now: Given.now) }
        #expect(try server.jars(now: Given.now).map(\.name) == ["between"] + names)
        #expect(try server.check().findings.filter(\.isProblem).isEmpty)
    }

    @Test("A move rejects a jar that differs, an ID that is taken and a jar that is missing")
    func refusals() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, server) = (try filled(), try served())
        _ = try copy(source, to: server, jars: ["work"])
        try #require(try server.existingJar(named: "work")).receive("new=1; Path=/")
        #expect(throws: SessionStoreError.self) { try copy(source, to: server, jars: ["work"]) }
        #expect(throws: SessionStoreError.self) { try copy(source, to: server, jars: ["none"]) }
        // Restored, it would need its id.
        try server.discardJar(named: "work", now: Given.now)
        #expect(errorCode { try copy(source, to: server, jars: ["work"]) } == .jarExists)
        _ = try server.prune(emptiesBin: true, now: Given.now)
        #expect(try copy(source, to: server, jars: ["work"]).map(\.wasThere) == [false])
        let other = try served()
        for name in ["one", "two"] { _ = try other.createJar(named: name, now: Given.now) }
        #expect(throws: SessionStoreError.self) { try copy(source, to: other, jars: ["default"]) }
        #expect(try other.existingJar(named: "default") == nil)
        #expect(try FullDatabase.values(other).isEmpty)
    }

    @Test("The moved tables have every column of the SQLite schema except those that stay")
    func columns() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try file("columns.sqlite")
        let staying: Set = [
            "sealing_key", "token_lease", "confirmed_clock", "service_token_generation", "grdb_migrations",
            "sqlite_sequence",
        ]
        let moved = Dictionary(
            uniqueKeysWithValues: (MovedTable.ofJars + MovedTable.ofDatabases).map { table in
                (table.name, table.columns.map(\.name))
            })
        try database.read { connection in
            let tables = try connection.statement("SELECT name FROM sqlite_master WHERE type = 'table'")
            var names: [String] = []
            while try tables.step() { names.append(tables.text(0)) }
            for name in names where !staying.contains(name) {
                let columns = try connection.statement("SELECT name FROM pragma_table_info('\(name)')")
                var expected: [String] = []
                while try columns.step() { expected.append(columns.text(0)) }
                #expect(Set(moved[name] ?? []) == Set(expected), "\(name)")
            }
        }
    }
}
