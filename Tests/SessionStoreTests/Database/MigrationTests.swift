import CookieModel
import Foundation
import GRDB
import OAuth2
import Testing

@testable import SQLiteEngine
@testable import SessionStore

@Suite("Bringing an older database up to date")
struct MigrationTests {
    private let folder = TemporaryFolder()
    private static let versions = 1..<SchemaMigrations.all.count

    private func old(_ version: Int, cookies: Int = 100, profile: String = "rfc6265bis") throws -> OldDatabase {
        let old = OldDatabase(path: folder.file("crumb.sqlite"), version: version)
        try old.make(key: try Given.key(), cookies: cookies, profile: profile)
        #expect(try old.migrations() == SchemaMigrations.all.prefix(version).map(\.name))
        return old
    }

    private func expectEverything(of version: Int, cookies: Int = 100) throws {
        let database = try Given.database(folder.file("crumb.sqlite"))
        for (id, name) in [(1, "default"), (2, "work")] {
            let all = try database.jar(named: name, now: Given.now).cookies()
            #expect(all.unreadable.isEmpty && all.readable.count == cookies)
            let fields = try database.present(name).headerFields().map { [$0.name: $0.value] }
            #expect(fields == (version >= 6 ? [["X-Key": Secret("key \(id)")]] : []))
            let sessions = try database.present(name).savedSessions().map { [$0.name: $0.cookieCount] }
            #expect(sessions == (version >= 2 ? [["saved": cookies]] : []))
            #expect(all.readable.allSatisfy { $0.value == Octets("\(id)-\($0.name.description.dropFirst())") })
        }
        let tokens = try database.tokens.get("p").tokens
        #expect(tokens.accessToken == Secret("access p"))
        #expect(tokens.refreshTokenExpiry == OldDatabase.refreshTokenExpiry)
        #expect(tokens.grantExpiry == (version >= 6 ? OldDatabase.grantExpiry : nil))
        #expect(try database.check().findings.filter { $0.code != .exposed }.isEmpty)
    }

    @Test("A migration keeps everything in a database of every earlier version", arguments: versions)
    func upToDate(version: Int) throws {
        let old = try old(version)
        try expectEverything(of: version)
        #expect(try old.migrations() == SchemaMigrations.all.map(\.name))
        // Once is enough: the next opening changes nothing.
        let before = try folder.contents()
        try expectEverything(of: version)
        #expect(try folder.contents() == before)
    }

    @Test("A migrated jar keeps its profile, its limits and its order of creation", arguments: versions)
    func jars(version: Int) throws {
        _ = try old(version, cookies: 5, profile: "browser")
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        #expect(jar.policy.profile == .browser && jar.policy.limits == .browser)
        try jar.receive("new=1; Path=/")
        let sequences = try jar.cookies().readable.sorted { $0.sequence < $1.sequence }
        #expect(sequences.map(\.name) == ["c0", "c1", "c2", "c3", "c4", "new"])
        #expect(sequences.map(\.sequence) == Array(1...6))
        // V001 kept no journal.
        let changes = try jar.changes(after: 0)
        #expect(changes.changes.map(\.position) == (version == 1 ? [1] : Array(1...6)) && !changes.hasGap)
    }

    @Test(
        "A session that was saved before a migration is restored completely, and removed",
        arguments: versions.dropFirst())
    func savedSession(version: Int) throws {
        _ = try old(version, cookies: 10)
        let database = try Given.database(folder.file("crumb.sqlite"))
        let jar = try database.present("work")
        let (before, origins) = (try jar.contents(), try jar.origins())
        #expect(Set(origins.values.map(\.capture)) == ["capture 2"] && origins.count == 10)
        for kept in [10, 5, 0] {
            let numbers = (kept..<10).map(String.init).joined(separator: ", ")
            try database.execute("DELETE FROM cookie WHERE jar_id = 2 AND sequence - 1 IN (\(numbers))")
            #expect(try jar.restoreSession(named: "saved", now: Given.now).added == 10 - kept)
            #expect(try jar.contents() == before && jar.origins() == origins)
        }
        #expect(try jar.removeSavedSession(named: "saved").cookieCount == 10)
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie WHERE jar_id = 1") == 10)
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie") == 10)
        _ = try database.removeJar(named: "default")
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie") == 0)
    }

    @Test("A migration that fails half-way leaves the old version, which works", arguments: versions, 0..<6)
    func failing(version: Int, step: Int) throws {
        let old = try old(version)
        let queue = try DatabaseQueue(path: old.path)
        let next = SchemaMigrations.all[version]
        // The statements up to some point, and then one that fails.
        let statements = String(decoding: next.sql, as: UTF8.self).components(separatedBy: ";\n")
        let part = statements.prefix(1 + step * statements.count / 6).joined(separator: ";\n") + ";\nSELECT broken;\n"
        let broken =
            Array(SchemaMigrations.all.prefix(version))
            + [SchemaMigrations.Migration(name: next.name, sql: Array(part.utf8))]
        #expect(throws: DatabaseError.self) {
            try SchemaMigrations.run(on: queue, path: old.path, migrations: broken)
        }
        #expect(try old.migrations() == SchemaMigrations.all.prefix(version).map(\.name))
        // The older program still takes it for its own, and finds what it left.
        try SchemaMigrations.run(
            on: queue, path: old.path, migrations: Array(SchemaMigrations.all.prefix(version)))
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM cookie") } == 200)
        try queue.close()
        try expectEverything(of: version)
    }

    @Test("An older program rejects a migrated database and does not change it", arguments: versions)
    func olderProgram(version: Int) throws {
        let old = try old(version)
        try expectEverything(of: version)
        let before = try folder.contents()
        let queue = try DatabaseQueue(path: old.path)
        #expect(
            errorCode {
                try SchemaMigrations.run(
                    on: queue, path: old.path, migrations: Array(SchemaMigrations.all.prefix(version)))
            } == .databaseNewer)
        try queue.close()
        #expect(try folder.contents() == before)
    }

    @Test("Ten processes that open an old database at once all find it migrated", arguments: versions)
    func race(version: Int) throws {
        _ = try old(version)
        let path = folder.file("crumb.sqlite")
        let counts = try onThreads(10) { _ in
            try Given.database(path).jar(now: Given.now).cookies().readable.count
        }
        #expect(counts == Array(repeating: 100, count: 10))
    }
}
