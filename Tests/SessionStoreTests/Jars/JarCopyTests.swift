import CookieModel
import Testing

@testable import SessionStore

@Suite("Copies of jars")
struct JarCopyTests {
    @Test("A copy of a jar has the same values, flags, lifetimes, order, times of use, origins and settings")
    func same() throws {
        let database = try Given.database()
        var policy = CookiePolicy(profile: .browser)
        policy.limits.requestCookies = 7
        let jar = try database.jar(named: "from", policy: policy, now: Given.now)
        try jar.receive(
            "b=2; Path=/; HttpOnly; Secure; SameSite=Strict", "a=1; Path=/; Max-Age=500", "=nameless; Path=/a",
            "part=3; Secure; Partitioned; Path=/", "empty=; Path=/", "\u{E9}=\u{E9}; Path=/")
        _ = try jar.header(now: Given.now.advanced(bySeconds: 4000))
        try database.execute(
            "UPDATE cookie SET source_url = 'https://www.example.com/', received_at = 5 WHERE name = \(Given.octets("b"))"
        )
        let before = try jar.contents()
        let later = Given.now.advanced(bySeconds: 100)
        let copy = try database.copyJar(named: "from", to: "to", now: later)
        #expect(copy.copied == 6 && copy.expired == 0 && copy.unreadable.isEmpty)
        let copied = try database.present("to")
        #expect(try copied.contents() == before && jar.contents() == before)
        #expect(try copied.header() == jar.header())
        #expect(try database.settings(ofJar: "to") == database.settings(ofJar: "from"))
        #expect(
            try database.number("SELECT count(*) FROM cookie WHERE source_url IS NOT NULL AND received_at = 5") == 2)
        #expect(try database.jars(now: later).first { $0.name == "to" }?.creation == later)
        // New cookies line up behind the old ones.
        try copied.receive("b=3; Path=/", "last=1; Path=/")
        #expect(try copied.header().hasPrefix("b=3; a=1"))
        #expect(try copied.pairs().last == "last=1" && jar.contents() == before)
    }

    @Test("A copy of a jar knows how the jar's former cookies ended, and which response ended them")
    func endings() throws {
        let database = try Given.database()
        let jar = try database.jar(named: "from", now: Given.now)
        try jar.receive("gone=1; Path=/", "short=1; Path=/; Max-Age=10", "stays=1; Path=/")
        try jar.receive("gone=; Path=/; Max-Age=0")
        let later = Given.now.advanced(bySeconds: 1000)
        try database.pruneConfirmed(at: later)
        try database.copyJar(named: "from", to: "to", now: later)
        let copy = try database.present("to")
        let endings = try jar.endings(of: "example.com", now: later)
        #expect(endings.map(\.cookie.name) == ["gone", "short"])
        #expect(try copy.endings(of: "example.com", now: later) == endings)
        let changes = try copy.changes(after: 0).changes
        #expect(changes.map(\.cause) == [.deleted, .expired, .stored] && changes[0].url == "https://www.example.com/")
    }

    @Test("The values of a jar's copy are sealed to the copy, so a row from the original is detected")
    func sealed() throws {
        let database = try Given.database()
        try database.jar(named: "from", now: Given.now).receive("a=1; Path=/")
        try database.copyJar(named: "from", to: "to", now: Given.now)
        try database.execute(
            """
            UPDATE cookie SET value = (SELECT value FROM cookie ORDER BY jar_id LIMIT 1)
            WHERE jar_id = (SELECT max(id) FROM jar)
            """)
        #expect(try database.present("to").cookies().unreadable.count == 1)
    }

    @Test("A copy of a jar leaves out expired and tampered cookies, and reports them without values")
    func leftOut() throws {
        let database = try Given.database()
        let jar = try database.jar(named: "from", now: Given.now)
        try jar.receive("a=1; Path=/", "bad=2; Path=/", "short=3; Path=/; Max-Age=5")
        try database.execute("UPDATE cookie SET secure = 1 WHERE name = \(Given.octets("bad"))")
        let copy = try database.copyJar(named: "from", to: "to", now: Given.now.advanced(bySeconds: 6))
        #expect(copy.copied == 1 && copy.expired == 1 && copy.unreadable.map(\.name) == ["bad"])
        #expect(copy.unreadable.allSatisfy { $0.value.isEmpty })
        #expect(try database.present("to").pairs() == ["a=1"])
    }

    @Test("A name that is taken, invalid or unknown copies no jar")
    func collisions() throws {
        let database = try Given.database()
        try database.jar(named: "from", now: Given.now).receive("a=1; Path=/")
        try database.jar(named: "there", now: Given.now).receive("b=1; Path=/")
        let before = try database.everything()
        #expect(errorCode { try database.copyJar(named: "from", to: "there", now: Given.now) } == .jarExists)
        #expect(errorCode { try database.copyJar(named: "from", to: "from", now: Given.now) } == .jarExists)
        #expect(errorCode { try database.copyJar(named: "none", to: "new", now: Given.now) } == .jarNotFound)
        #expect(errorCode { try database.copyJar(named: "from", to: "", now: Given.now) } == .nameInvalid)
        #expect(try database.everything() == before)
    }

    @Test("A copy that fails in the middle leaves no jar")
    func atomic() throws {
        let database = try Given.database()
        try database.jar(named: "from", now: Given.now).receive("a=1; Path=/", "z=1; Path=/")
        let before = try database.everything()
        try database.failing("INSERT", of: "z") {
            #expect(errorCode { try database.copyJar(named: "from", to: "to", now: Given.now) } == .databaseFailed)
        }
        #expect(try database.everything() == before)
    }

    @Test("A copy sends the same cookies as the jar for every request", arguments: 0..<30)
    func equivalence(seed: Int) throws {
        let database = try Given.database()
        let (jar, now) = try database.jar(named: "from", afterScenario: seed, steps: 60)
        let alive = try jar.contents().filter { !$0.isExpired(at: now) }
        let copy = try database.copyJar(named: "from", to: "to", now: now)
        #expect(copy.copied == alive.count)
        #expect(try database.present("to").contents() == alive)
    }

    @Test("A jar's login rules are copied, and merged if their names are free")
    func loginRules() throws {
        let database = try Given.database()
        let from = try database.jar(named: "from", now: Given.now)
        let other = try database.jar(named: "other", now: Given.now)
        try from.setLoginRuleDefinition("{1}", named: "app")
        try from.setLoginRuleDefinition("{2}", named: "shop")
        try other.setLoginRuleDefinition("{3}", named: "app")
        func rules(_ name: String) throws -> [String] {
            try database.present(name).loginRuleDefinitions().map { $0.name + $0.definition }
        }
        try database.copyJar(named: "from", to: "copy", now: Given.now)
        try database.mergeJar(named: "from", into: "other", now: Given.now)
        #expect(try rules("copy") == ["app{1}", "shop{2}"] && rules("from") == ["app{1}", "shop{2}"])
        #expect(try rules("other") == ["app{3}", "shop{2}"])
    }
}
