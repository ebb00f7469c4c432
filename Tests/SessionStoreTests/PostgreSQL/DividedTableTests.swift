import CookieModel
import Foundation
import OAuth2
import Synchronization
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

/// The tables of jars are divided by the jar's id: by its hash, and `cookie_change` by ranges of its own id, whose upper
/// bits are the jar's. The server reports the plan of each statement as a warning.
@Suite(
    "Statements on tables that are divided by jar",
    .onlyOnServer)
struct DividedTableTests {
    private static let byHash = ["cookie", "header_field", "login_rule", "web_storage", "jar_site"]
    private static let count = 8

    private let server: TestServer
    private let name: String

    init() throws {
        server = try #require(TestServer.shared)
        name = try server.newDatabase()
        let session = try PostgreSQLSession(try server.target(name))
        var statements: [String] = []
        for (table, key) in Self.byHash.map({ ($0, "HASH (jar_id)") }) + [("cookie_change", "RANGE (id)")] {
            statements += [
                "CREATE TABLE crumb.divided (LIKE crumb.\(table) INCLUDING ALL) PARTITION BY \(key)",
                "DROP TABLE crumb.\(table)", "ALTER TABLE crumb.divided RENAME TO \(table)",
            ]
            for part in 0..<Self.count {
                let values =
                    key.hasPrefix("HASH")
                    ? "WITH (MODULUS \(Self.count), REMAINDER \(part))"
                    : "FROM (\((part + 1) << 36)) TO (\((part + 2) << 36))"
                statements.append(
                    "CREATE TABLE crumb.\(table)_part\(part) PARTITION OF crumb.\(table) FOR VALUES \(values)")
            }
        }
        for setting in [
            "session_preload_libraries = 'auto_explain'", "auto_explain.log_min_duration = 0",
            "auto_explain.log_analyze = on", "auto_explain.log_timing = off", "auto_explain.log_format = 'json'",
            "auto_explain.log_level = 'warning'",
        ] {
            statements.append("ALTER DATABASE \(name) SET \(setting)")
        }
        for statement in statements { try session.enqueue(statement) }
        try session.synchronize()
    }

    /// A database whose plans are received.
    private func database(_ plans: Plans) throws -> SessionDatabase {
        var target = try server.target(name)
        target.warn = { plans.receive($0) }
        return try SessionDatabase(
            PostgreSQLDatabase(target), name: name, keys: .key(try Given.key()), journalLimit: 20, now: Given.now)
    }

    @Test("Touch the part of one jar", arguments: [1, 20])
    func onePart(rounds: Int) async throws {
        let plans = Plans()
        let database = try database(plans)
        var jars: [CookieJar] = []
        for number in 0..<6 { jars.append(try database.jar(named: "jar\(number)", now: Given.now)) }
        plans.clear()
        for round in 0..<rounds {
            for jar in jars {
                try jar.receive("a=\(round); Path=/")
                try jar.receive("b\(round)=1; Path=/; Domain=site.example")
                try jar.receive("a=; Path=/; Max-Age=0")
                try jar.receive("c=1; Path=/")
                try jar.setHeaderField(Secret("\(round)"), named: "X-Round", scope: nil)
                _ = try jar.changes(after: 0)
                let state: CommittedState = try #require(try await database.committedState(ofJar: jar.name))
                let read = try database.existingJar(named: jar.name, policy: CookiePolicy(), in: state)
                #expect(try read?.header().contains("c=1") == true)
                #expect(try read?.headerFields().count == 1)
            }
        }
        let found = plans.found
        #expect(found.count > 50)
        for table in ["cookie", "cookie_change", "header_field", "jar_site"] {
            #expect(found.contains { $0.tables.contains(table) }, "\(table)")
            // Rows of `jar_site` are written, and not read.
            guard table != "jar_site" else { continue }
            #expect(found.contains { $0.parts.contains { $0.hasPrefix("\(table)/") } }, "\(table)")
        }
        for plan in found {
            let parts = Dictionary(grouping: plan.parts) { $0.prefix { $0 != "/" } }
            #expect(parts.values.allSatisfy { $0.count <= 1 }, "\(plan.parts): \(plan.statement)")
        }
    }

    @Test("Are seen to touch several parts if they do")
    func severalParts() throws {
        let plans = Plans()
        var target = try server.target(name)
        target.warn = { plans.receive($0) }
        let session = try PostgreSQLSession(target)
        try session.enqueue("SELECT count(*) FROM crumb.cookie WHERE site = 'example'")
        try session.synchronize()
        #expect(plans.found.last?.parts.count == Self.count)
    }
}

/// The plans that a server reports.
private final class Plans: Sendable {
    struct Plan {
        let statement: String
        /// The tables that it names.
        let tables: Set<String>
        /// The parts of tables that were looked at, as `table/part`.
        let parts: Set<String>
    }

    private let texts = Mutex<[String]>([])

    func receive(_ warning: String) { texts.withLock { $0.append(warning) } }
    func clear() { texts.withLock { $0 = [] } }

    var found: [Plan] {
        texts.withLock { $0 }.compactMap { text in
            guard let start = text.firstIndex(of: "{"),
                let document = try? JSONSerialization.jsonObject(with: Data(text[start...].utf8)) as? [String: Any],
                let root = document["Plan"] as? [String: Any]
            else { return nil }
            let relations = Plans.relations(root)
            let parts = relations.filter { $0.contains("_part") }.map { $0.replacing("_part", with: "/") }
            let tables = relations.map { String($0.split(separator: "_part")[0]) }
            return Plan(statement: document["Query Text"] as? String ?? "", tables: Set(tables), parts: Set(parts))
        }
    }

    /// The tables of a node and of those below it that ran.
    private static func relations(_ node: [String: Any]) -> [String] {
        guard (node["Actual Loops"] as? Int) != 0 else { return [] }
        let children = node["Plans"] as? [[String: Any]] ?? []
        let own = node["Relation Name"] as? String
        return (own.map { [$0] } ?? []) + children.flatMap(relations)
    }
}
