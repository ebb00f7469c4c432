import CSQLite
import CookieModel
import SQLite
import Synchronization
import Testing

@testable import SQLiteEngine
@testable import SessionStore

@Suite("Many jars")
struct ManyJarsTests {
    private static let context = Result { try Given.context("https://www.shared.test/") }

    /// Makes jars, each with cookies of a site of its own.
    private static func fill(_ database: SessionDatabase, _ numbers: Range<Int>) throws {
        for number in numbers {
            let jar = try database.jar(named: "jar-\(number)", now: Given.now)
            try jar.receive("a=1; Path=/", "b=1; Path=/x", from: "https://own-\(number).test/")
        }
    }

    /// Counts the instructions of SQLite's machine, and the statements, that `body` takes.
    private static func work(_ database: SessionDatabase, _ body: () throws -> Void) throws -> (Int, [String]) {
        let count = Atomic(0)
        let statements = Mutex<[String]>([])
        try withUnsafePointer(to: count) { pointer in
            try database.read { connection in
                let connection = try #require(connection.file).database
                sqlite3_progress_handler(
                    connection.pointer, 1,
                    { context in
                        context?.assumingMemoryBound(to: Atomic<Int>.self).pointee.add(1, ordering: .relaxed)
                        return 0
                    }, UnsafeMutableRawPointer(mutating: pointer))
                connection.trace { sql in statements.withLock { $0.append(sql) } }
            }
            defer {
                try? database.read { connection in
                    sqlite3_progress_handler(connection.file?.database.pointer, 0, nil, nil)
                    connection.file?.database.trace(nil)
                }
            }
            try body()
        }
        return (count.load(ordering: .relaxed), statements.withLock { $0.filter { !$0.hasPrefix("PRAGMA") } })
    }

    @Test(
        "Looking for a site in other jars takes one statement, and the same steps when the other jars double",
        .onlyOnSQLite("counts the instructions of its machine"))
    func work() throws {
        let context = try Self.context.get()
        let database = try Given.database()
        try Self.fill(database, 0..<100)
        for name in ["jar-3", "jar-70"] {
            try database.present(name).receive("sid=1; Path=/", "q=1; Path=/q", from: "https://www.shared.test/")
        }
        func ask() throws -> (Int, [String]) {
            try Self.work(database) {
                let found = try database.retrievals(for: context, besides: "jar-70", now: Given.now)
                #expect(found.map(\.jar) == ["jar-3"] && found[0].retrieval.included.map(\.name) == ["sid"])
                #expect(found[0].retrieval.excluded.map(\.cookie.name) == ["q"])
            }
        }
        _ = try ask()
        let few = try ask()
        try Self.fill(database, 100..<200)
        let many = try ask()
        #expect(few.1.filter { $0.contains("jar_site") }.count == 1 && few.1.count == many.1.count, "\(few.1)")
        #expect(few.0 == many.0, "\(few.0) and \(many.0) steps")
    }

    @Test(
        "The query for a site in other jars scans no table", .onlyOnSQLite("is about its plans"),
        arguments: [false, true])
    func plan(onlyNamed: Bool) throws {
        let rows = try Given.database().read { connection in
            try #require(connection.file).database.plan(JarSiteRows.query(onlyNamed: onlyNamed)) { statement in
                statement.bind(1, "shared.test")
                statement.bind(2, "jar-1")
                statement.bind(3, 100)
                if onlyNamed { statement.bind(4, "[]") }
            }
        }
        let tables = rows.filter { !$0.contains("found") && !$0.contains("json_each") }
        #expect(tables.contains { $0.contains("SEARCH jar_site USING PRIMARY KEY (site=?") }, "\(rows)")
        #expect(tables.contains { $0.contains("SEARCH cookie USING PRIMARY KEY (jar_id=? AND site=?)") }, "\(rows)")
        #expect(!tables.contains { $0.hasPrefix("SCAN") }, "\(rows)")
    }

    @Test("The query for a site in other jars reads the newest hundred jars, and only those that the caller may know")
    func limits() throws {
        let context = try Self.context.get()
        let database = try Given.database()
        for number in 0..<120 {
            try database.jar(named: "jar-\(number)", now: Given.now)
                .receive("sid=\(number); Path=/", from: "https://www.shared.test/")
        }
        let all = try database.retrievals(for: context, besides: "jar-119", now: Given.now)
        #expect(all.map(\.jar) == (19..<119).reversed().map { "jar-\($0)" })
        let named = try database.retrievals(
            for: context, besides: "jar-119", named: ["jar-2", "jar-119", "none", "\"\\\u{1}"], now: Given.now)
        #expect(named.map(\.jar) == ["jar-2"])
        #expect(named[0].retrieval.cookieString == Octets("sid=2"))
    }

    @Test(
        "A page of jars takes the same steps when the jars double, and pages have each jar once",
        .onlyOnSQLite("counts the instructions of its machine"))
    func pages() throws {
        let database = try Given.database()
        try Self.fill(database, 100..<150)
        func page(after name: String?, _ first: Int) throws -> Int {
            try Self.work(database) {
                let page = try database.jars(after: name, limit: 10, now: Given.now)
                #expect(page.map(\.name) == (first..<(first + 10)).map { "jar-\($0)" })
                #expect(page.allSatisfy { $0.cookieCount == 2 })
            }.0
        }
        func pages() throws -> [Int] { [try page(after: nil, 100), try page(after: "jar-110", 111)] }
        _ = try pages()
        let few = try pages()
        try Self.fill(database, 150..<200)
        #expect(try pages() == few)
        var names: [String] = []
        while true {
            let page = try database.jars(after: names.last, limit: 7, now: Given.now)
            if page.isEmpty { break }
            names += page.map(\.name)
        }
        #expect(names == (100..<200).map { "jar-\($0)" })
        #expect(
            try database.jars(limit: 5, matching: "R-13", now: Given.now).map(\.name) == (130..<135).map { "jar-\($0)" }
        )
        #expect(try database.jars(limit: 5, matching: "%", now: Given.now).isEmpty)
        #expect(try database.jars(limit: 5, named: ["jar-199", "x"], now: Given.now).map(\.name) == ["jar-199"])
        #expect(try database.jars(limit: 5, named: [], now: Given.now).isEmpty)
    }

    @Test(
        "A page of sites takes the same steps when the sites double, and pages have each site of each jar once",
        .onlyOnSQLite("counts the instructions of its machine"))
    func sitePages() throws {
        let database = try Given.database()
        try Self.fill(database, 100..<150)
        func page(after site: Octets, _ jarID: Int64, _ first: Int) throws -> Int {
            try Self.work(database) {
                let page = try database.sites(after: site, jarID, limit: 10, now: Given.now)
                #expect(page.map(\.site) == (first..<(first + 10)).map { Octets("own-\($0).test") })
                #expect(page.map(\.jar) == (first..<(first + 10)).map { "jar-\($0)" })
                #expect(page.allSatisfy { $0.cookieCount == 2 && $0.nextExpiry == nil && $0.lastUse == Given.now })
            }.0
        }
        func pages() throws -> [Int] {
            [try page(after: [], .min, 100), try page(after: Octets("own-110.test"), .max, 111)]
        }
        _ = try pages()
        let few = try pages()
        try Self.fill(database, 150..<200)
        #expect(try pages() == few)
        for name in ["jar-199", "jar-100"] {
            try database.present(name).receive("sid=1; Path=/; Max-Age=10", from: "https://www.shared.test/")
        }
        var found: [SessionDatabase.SiteSummary] = []
        while true {
            let (site, jarID) = (found.last?.site ?? [], found.last?.jarID ?? .min)
            let page = try database.sites(after: site, jarID, limit: 7, now: Given.now)
            if page.isEmpty { break }
            found += page
        }
        #expect(found.dropLast(2).map(\.jar) == (100..<200).map { "jar-\($0)" })
        #expect(found.suffix(2).map(\.jar) == ["jar-100", "jar-199"])
        #expect(found.suffix(2).allSatisfy { $0.site == Octets("shared.test") && $0.nextExpiry != nil })
        let named = try database.sites(after: [], .min, limit: 5, named: ["jar-199", "x"], now: Given.now)
        #expect(named.map(\.site) == [Octets("own-199.test"), Octets("shared.test")])
        #expect(try database.sites(after: [], .min, limit: 5, named: [], now: Given.now).isEmpty)
    }

    /// Checks that the sites of jars are those of their cookies.
    private static func check(_ database: SessionDatabase, _ comment: Comment) throws {
        let difference = """
            SELECT count(*) FROM (
                SELECT * FROM (SELECT site, jar_id FROM cookie EXCEPT SELECT site, jar_id FROM jar_site) AS missing
                UNION ALL SELECT * FROM (SELECT site, jar_id FROM jar_site EXCEPT SELECT site, jar_id FROM cookie) AS left_over
            ) AS difference
            """
        #expect(try database.number(difference) == 0, comment)
    }

    @Test("The recorded sites of a jar are those of its cookies, after any operations", arguments: 0..<20)
    func sites(seed: Int) throws {
        let database = try Given.database()
        var policy = CookiePolicy()
        policy.limits.domainCookies = 3
        policy.limits.totalCookies = seed.isMultiple(of: 2) ? nil : 12
        let jar = try database.jar(policy: policy, now: Given.now)
        var scenario = RandomScenario(seed: seed)
        var now = Given.now
        for step in 0..<150 {
            switch try scenario.next() {
            case .receive(let responses):
                try jar.withBatch(now: now) { batch throws(SessionStoreError) in
                    for response in responses { try batch.receive(response, at: now) }
                }
            case .record(let record):
                try jar.withBatch(now: now) { batch throws(SessionStoreError) in try batch.receive(record) }
            case .send: break
            case .advance(let seconds): now = now.advanced(bySeconds: seconds)
            }
            switch step % 30 {
            case 5: try jar.saveSession(named: "s", now: now)
            case 9: try jar.removeCookies(CookieFilter(), now: now)
            case 12: try jar.restoreSession(named: "s", now: now)
            case 15: try database.copyJar(named: "default", to: "copy-\(step)", now: now)
            case 18: try jar.endSession(now: now)
            case 20: try database.mergeJar(named: "copy-\(step - 5)", into: "default", now: now)
            case 23: _ = try database.prune(now: now)
            case 25: try database.clearJar(named: "default", now: now)
            case 27: try database.removeJar(named: "copy-\(step - 12)")
            default: break
            }
            try Self.check(database, "seed \(seed), step \(step)")
        }
    }

    @Test("The recorded sites of a jar are right after a batch of more sites than stay in memory")
    func largeBatch() throws {
        let database = try Given.database()
        let jar = try database.jar(now: Given.now)
        for (value, lifetime) in [("1", 100), ("2", 0)] {
            try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                for number in 0..<9000 {
                    guard let url = try? RequestURL("https://site-\(number).test/") else { continue }
                    let response = ReceivedResponse(
                        context: RequestContext(url: url), setCookie: [Octets("a=\(value); Max-Age=\(lifetime)")])
                    try batch.receive(response, at: Given.now)
                }
            }
            try Self.check(database, "\(value)")
            #expect(try database.number("SELECT count(*) FROM jar_site") == (lifetime > 0 ? 9000 : 0))
        }
    }
}
