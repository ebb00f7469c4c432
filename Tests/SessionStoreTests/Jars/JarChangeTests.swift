import CookieModel
import OAuth2
import Testing

@testable import SessionStore

@Suite("Making, naming and removing jars")
struct JarChangeTests {
    private let folder = TemporaryFolder()

    /// Two jars with the same cookies and different values.
    private func twoJars(_ path: String? = nil) throws -> SessionDatabase {
        let database = try Given.database(path)
        for name in ["a", "b"] {
            try database.jar(named: name, now: Given.now).receive(
                "id=\(name); Path=/; Secure", "p=\(name); Path=/; Max-Age=100")
        }
        return database
    }

    @Test("A jar is created with its settings, once")
    func create() throws {
        let database = try Given.database()
        var settings = JarSettings(profile: .browser)
        settings.limits.domainCookies = 2
        let jar = try database.createJar(named: "new", settings: settings, now: Given.now)
        #expect(jar.policy.profile == .browser && jar.policy.limits.domainCookies == 2)
        #expect(try database.settings(ofJar: "new") == settings)
        #expect(try database.jar(named: "new", now: Given.now).policy.limits == settings.limits)
        #expect(errorCode { try database.createJar(named: "new", now: Given.now) } == .jarExists)
        for name in ["", ".", "..", "a\u{7F}", String(repeating: "a", count: 101)] {
            #expect(errorCode { try database.createJar(named: name, now: Given.now) } == .nameInvalid)
        }
        #expect(try database.settings(ofJar: "new") == settings)
        let summary = try #require(try database.jars(now: Given.now).first)
        #expect(summary.settings == settings && summary.savedSessionCount == 0 && summary.cookieCount == 0)
    }

    @Test("A jar that a command has created for nothing is deleted only if no one has used it")
    func unused() throws {
        let uses: [(CookieJar) throws -> Void] = [
            { try $0.receive("a=1") },
            { jar in
                try jar.receive("a=1")
                try jar.database.clearJar(named: jar.name, now: Given.now)
            },
            { try $0.setHeaderField(Secret("v"), named: "X-Key", scope: nil) },
            { try $0.setLoginRuleDefinition("{}", named: "rule") },
            { _ = try $0.saveSession(named: "s", now: Given.now) },
            { jar in try jar.database.changeSettings(ofJar: jar.name) { $0.limits.domainCookies = 1 } },
        ]
        let database = try Given.database()
        for use in uses {
            let jar = try database.jar(named: "new", now: Given.now)
            try use(jar)
            #expect(try !database.removeIfUnused(jar))
            _ = try database.present("new")
            try database.removeJar(named: "new")
        }
        let jar = try database.jar(named: "new", now: Given.now)
        try database.renameJar(named: "new", to: "other")
        #expect(try !database.removeIfUnused(jar))
        let another = try database.jar(named: "new", now: Given.now)
        // Another jar has the name.
        #expect(try !database.removeIfUnused(jar))
        #expect(try database.removeIfUnused(another))
        #expect(try database.jars(now: Given.now).map(\.name) == ["other"])
    }

    @Test(
        "Every table with rows of a jar is known",
        .enabled(if: TestServer.shared == nil, "The question is one to SQLite"))
    func tables() throws {
        let columns = "SELECT 1 FROM pragma_table_info(item.name) WHERE name = 'jar_id'"
        let known = (JarRows.tables + ["snapshot_cookie", "jar_site"]).map { "'\($0)'" }.joined(separator: ",")
        let count = "SELECT count(*) FROM sqlite_schema AS item WHERE type = 'table' AND EXISTS (\(columns))"
        let database = try Given.database()
        #expect(try database.number(count) == Int64(JarRows.tables.count + 2))
        #expect(try database.number("\(count) AND name NOT IN (\(known))") == 0)
    }

    @Test("A renamed jar keeps everything, and an open one continues to work")
    func rename() throws {
        let database = try twoJars()
        let open = try database.present("a")
        try open.saveSession(named: "s", now: Given.now)
        let before = try open.contents()
        let renamed = try database.renameJar(named: "a", to: "c")
        #expect(renamed.name == "c" && renamed.id == open.id)
        #expect(try renamed.contents() == before && open.contents() == before)
        #expect(try database.existingJar(named: "a") == nil)
        #expect(try renamed.savedSessions().map(\.name) == ["s"])
        try open.receive("late=1; Path=/")
        #expect(try renamed.header().contains("late=1"))
    }

    @Test("A name that is taken, invalid or unknown changes no jar")
    func renameCollisions() throws {
        let database = try twoJars()
        let before = try database.everything()
        #expect(errorCode { try database.renameJar(named: "a", to: "b") } == .jarExists)
        #expect(errorCode { try database.renameJar(named: "x", to: "b") } == .jarNotFound)
        #expect(errorCode { try database.renameJar(named: "x", to: "x") } == .jarNotFound)
        #expect(errorCode { try database.renameJar(named: "a", to: "\n") } == .nameInvalid)
        #expect(try database.renameJar(named: "a", to: "a").name == "a")
        #expect(try database.everything() == before)
    }

    @Test("Clearing and removing a jar does not affect another with the same cookies")
    func isolation() throws {
        let database = try twoJars()
        let other = try database.present("b").contents()
        let jar = try database.present("a")
        try jar.saveSession(named: "s", now: Given.now)
        #expect(try database.clearJar(named: "a", now: Given.now).cookies == 2)
        #expect(try jar.contents().isEmpty && jar.savedSessions().count == 1)
        #expect(try database.clearJar(named: "a", now: Given.now).cookies == 0)
        try jar.receive("again=1; Path=/")
        #expect(try database.removeJar(named: "a") == JarRemoval(cookies: 1, savedSessions: 1))
        #expect(try database.existingJar(named: "a") == nil)
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie") == 0)
        #expect(try database.present("b").contents() == other)
        for attempt in [
            { try database.clearJar(named: "a", now: Given.now).cookies },
            { try database.removeJar(named: "a").cookies },
        ] {
            #expect(errorCode(attempt) == .jarNotFound)
        }
    }

    @Test("Writing to a jar that was removed meanwhile is an error, and reading finds nothing")
    func removedMeanwhile() throws {
        let database = try twoJars()
        let jar = try database.present("a")
        try database.removeJar(named: "a")
        #expect(errorCode { try jar.receive("x=1; Path=/") } == .jarNotFound)
        #expect(try jar.header() == "")
        #expect(try database.present("b").header() == "id=b; p=b")
    }

    @Test("A jar's settings change one by one; cookies over a new limit are evicted and reported with the next cookie")
    func settings() throws {
        let database = try twoJars()
        let before = try database.settings(ofJar: "b")
        let changed = try database.changeSettings(ofJar: "a") { settings in
            settings.profile = .browser
            settings.limits.domainCookies = 1
            settings.limits.partitionOctets = nil
        }
        #expect(changed.profile == .browser && changed.limits.domainCookies == 1)
        #expect(changed.limits.partitionOctets == nil && changed.limits.partitionCookies == 180)
        #expect(try database.settings(ofJar: "a") == changed && database.settings(ofJar: "b") == before)
        let jar = try database.present("a")
        #expect(try jar.contents().count == 2)
        let decision = try #require(try jar.receive("n=1; Path=/; Secure").first)
        #expect(decision.evicted.map(\.cookie.name.description) == ["p", "id"])
        #expect(errorCode { try database.changeSettings(ofJar: "x") { _ in } } == .jarNotFound)
        #expect(errorCode { try database.settings(ofJar: "x") } == .jarNotFound)
    }

    @Test("A capture can be imported again after its cookies were removed")
    func captures() throws {
        let database = try twoJars()
        let digest = [UInt8](repeating: 7, count: 32)
        func given() throws {
            try database.execute("DELETE FROM capture")
            for jar in ["a", "b"] {
                let sql = "INSERT INTO capture (jar_id, digest, name, imported_at) SELECT id, ?, 'har', 1 FROM jar"
                try database.execute("\(sql) WHERE name = '\(jar)'", digest)
            }
        }
        func known(_ name: String) throws -> Int64 {
            try database.number(
                """
                SELECT count(*) FROM capture JOIN jar ON jar.id = jar_id
                WHERE jar.name = '\(name)' AND digest = x'\(String(repeating: "07", count: 32))'
                """)
        }
        let jar = try database.present("a")
        try jar.saveSession(named: "s", now: Given.now)
        var filter = CookieFilter()
        filter.name = "id"
        let ways: [() throws -> Void] = [
            { try jar.removeCookies(filter, now: Given.now) }, { try jar.endSession(now: Given.now) },
            { try jar.restoreSession(named: "s", now: Given.now) },
            { try database.clearJar(named: "a", now: Given.now) },
        ]
        for way in ways {
            try given()
            #expect(try known("a") == 1)
            try way()
            #expect(try known("a") == 0 && known("b") == 1)
            #expect(try database.number("SELECT count(*) FROM capture") == 2)
        }
    }

    @Test("Of eight processes that create or remove the same jar at once, one succeeds")
    func races() throws {
        let path = folder.file("crumb.sqlite")
        _ = try twoJars(path)
        let made = try onThreads(8) { _ in
            let database = try Given.database(path)
            return errorCode { try database.createJar(named: "new", now: Given.now) }
        }
        #expect(made.filter { $0 == nil }.count == 1 && made.filter { $0 == .jarExists }.count == 7)
        let removed = try onThreads(8) { _ in
            let database = try Given.database(path)
            return errorCode { try database.removeJar(named: "new") }
        }
        #expect(removed.filter { $0 == nil }.count == 1 && removed.filter { $0 == .jarNotFound }.count == 7)
    }
}
