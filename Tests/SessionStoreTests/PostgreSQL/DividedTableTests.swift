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
    private static let byHash = [
        "capture", "snapshot", "snapshot_cookie", "cookie", "header_field", "login_rule", "web_storage", "jar_site",
        "rejected_cookie",
    ]
    /// The references, which go with the tables that they were made with.
    private static let references =
        byHash.filter { !["snapshot_cookie", "jar_site"].contains($0) }.map {
            "\($0) ADD FOREIGN KEY (jar_id) REFERENCES crumb.jar ON DELETE CASCADE"
        } + [
            "cookie ADD FOREIGN KEY (jar_id, capture_id) REFERENCES crumb.capture ON DELETE SET NULL (capture_id)",
            "snapshot_cookie ADD FOREIGN KEY (jar_id, snapshot_id) REFERENCES crumb.snapshot ON DELETE CASCADE",
        ]
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
                "DROP TABLE crumb.\(table) CASCADE", "ALTER TABLE crumb.divided RENAME TO \(table)",
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
        statements += Self.references.map { "ALTER TABLE crumb.\($0)" }
        for setting in [
            "session_preload_libraries = 'auto_explain'", "auto_explain.log_min_duration = 0",
            "auto_explain.log_analyze = on", "auto_explain.log_timing = off", "auto_explain.log_format = 'json'",
            "auto_explain.log_level = 'warning'",
            // What references make the server ask and delete.
            "auto_explain.log_nested_statements = on",
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

    @Test("Statements on a jar touch only the jar's part of a table", arguments: [1, 20])
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
        expectOnePart(found, of: ["cookie", "cookie_change", "header_field"])
        // Its rows are written, and not read.
        #expect(found.contains { $0.tables.contains("jar_site") })
    }

    @Test("Importing a capture and reading its origins touch only the jar's part of a table")
    func captures() throws {
        let plans = Plans()
        let database = try database(plans)
        let jars = try (0..<6).map { try database.jar(named: "jar\($0)", now: Given.now) }
        plans.clear()
        let response = ReceivedResponse(context: try Given.context(), setCookie: ["a=1; Path=/", "b=1; Path=/"])
        let deletion = ReceivedResponse(context: try Given.context(), setCookie: ["b=; Path=/; Max-Age=0"])
        for round in 0..<4 {
            for jar in jars {
                var digest = CaptureDigest()
                digest.update("\(round)".utf8)
                #expect(try jar.importedCapture(digest) == nil)
                let capture = try jar.beginCapture(named: "har \(round)", ofRequests: round > 2, now: Given.now)
                try jar.withBatch(from: capture, now: Given.now) { batch throws(SessionStoreError) in
                    try batch.receive(response, at: Given.now)
                    try batch.receive(deletion, at: Given.now)
                    try batch.finishCapture(digest)
                }
                #expect(try jar.importedCapture(digest)?.name == "har \(round)")
                let origins = try jar.origins()
                #expect(origins.count == 1)
                for (id, origin) in origins { #expect(try jar.origin(of: id) == origin && origin.capture != nil) }
                #expect(try jar.changes(after: 0).changes.contains { $0.capture == "har \(round)" })
                #expect(try jar.latestChanges(site: "example.com").contains { $0.capture == "har \(round)" })
                #expect(try !jar.endings(of: "example.com", now: Given.now).isEmpty)
                if round % 2 == 0 { _ = try jar.endSession(now: Given.now) }
            }
        }
        expectOnePart(plans.found, of: ["capture", "cookie", "cookie_change"])
    }

    @Test("Saving, listing, restoring and removing a session touch only the jar's part of a table")
    func sessions() throws {
        let plans = Plans()
        let database = try database(plans)
        let jars = try (0..<6).map { try database.jar(named: "jar\($0)", now: Given.now) }
        plans.clear()
        let item = try #require(WebStorageItem(origin: "https://a.example", key: "key", value: "value"))
        for round in 0..<4 {
            for jar in jars {
                let capture = try jar.beginCapture(named: "har", now: Given.now)
                let response = ReceivedResponse(context: try Given.context(), setCookie: ["b=1; Path=/"])
                try jar.withBatch(from: capture, now: Given.now) { batch throws(SessionStoreError) in
                    try batch.receive(response, at: Given.now)
                    _ = try batch.receive(item)
                }
                try jar.receive("a=\(round); Path=/", "x=1; Path=/; Max-Age=100")
                #expect(try jar.saveSession(named: "saved", now: Given.now).session.cookieCount == 3)
                #expect(try jar.savedSessions().map(\.cookieCount) == [3])
                try jar.receive("a=changed; Path=/", "b=; Path=/; Max-Age=0", "c=1; Path=/")
                let restored = try jar.restoreSession(named: "saved", now: Given.now.advanced(bySeconds: 200))
                #expect(restored.added == 1 && restored.changed == 1 && restored.removed == 1)
                #expect(restored.expired.count == 1)
                #expect(try jar.webStorage().readable == [item] && jar.webStorageOrigins().count == 1)
                try jar.setLoginRuleDefinition("{}", named: "rule")
                #expect(try jar.loginRuleDefinitions().count == 1)
                if round % 2 == 0 { _ = try jar.removeSavedSession(named: "saved") }
            }
        }
        expectOnePart(
            plans.found, of: ["snapshot", "snapshot_cookie", "capture", "cookie", "web_storage", "login_rule"])
        plans.clear()
        for jar in jars {
            let before = try "\(jar.contents()) \(jar.origins().count) \(jar.webStorage().readable)"
            try database.discardJar(named: jar.name, now: Given.now)
            try database.restoreJar(named: jar.name, now: Given.now)
            #expect(try "\(jar.contents()) \(jar.origins().count) \(jar.webStorage().readable)" == before)
        }
        expectOnePart(plans.found, of: ["cookie", "capture", "snapshot", "snapshot_cookie"])
        plans.clear()
        for jar in jars { _ = try database.removeJar(named: jar.name) }
        expectOnePart(plans.found, of: ["cookie", "jar_site", "capture", "snapshot", "snapshot_cookie"])
        for table in Self.byHash { #expect(try database.number("SELECT count(*) FROM \(table)") == 0, "\(table)") }
    }

    /// That no statement touches two parts of a table, and that there are some that touch one of each of these tables.
    private func expectOnePart(_ plans: [Plans.Plan], of tables: [String]) {
        for table in tables {
            #expect(plans.contains { $0.parts.contains { $0.hasPrefix("\(table)/") } }, "\(table)")
        }
        for plan in plans {
            let parts = Dictionary(grouping: plan.parts) { $0.prefix { $0 != "/" } }
            #expect(parts.values.allSatisfy { $0.count <= 1 }, "\(plan.parts): \(plan.statement)")
        }
    }

    @Test("The test detects statements that touch several parts of a table")
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
