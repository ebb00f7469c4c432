import CookieModel
import Testing

@testable import SessionStore

@Suite("Jars")
struct JarTests {
    private let folder = TemporaryFolder()

    @Test("A jar does not see another jar's cookies")
    func isolation() throws {
        let database = try Given.database()
        let names = ["default", "work", "Work", "wörk", "a'b", "%", " "]
        for (index, name) in names.enumerated() {
            try database.jar(named: name, now: Given.now).receive("id=\(index); Path=/", "own\(index)=1; Path=/")
        }
        for (index, name) in names.enumerated() {
            let jar = try #require(try database.existingJar(named: name))
            #expect(try jar.header() == "id=\(index); own\(index)=1")
            try jar.receive("id=; Max-Age=0; Path=/")
        }
        #expect(try database.jars(now: Given.now).map(\.cookieCount) == names.map { _ in 1 })
    }

    @Test("An insecure cookie is not kept out by a Secure one of another jar")
    func isolatedDecisions() throws {
        let database = try Given.database()
        try database.jar(named: "secure", now: Given.now).receive("a=1; Secure; Path=/")
        let decisions = try database.jar(named: "plain", now: Given.now).receive(
            "a=2; Path=/", from: "http://www.example.com/")
        #expect(decisions.map(\.outcome) == [.stored])
    }

    @Test("Reading does not create a jar")
    func existing() throws {
        let database = try Given.database()
        #expect(try database.existingJar(named: "default") == nil)
        #expect(try database.jars(now: Given.now).isEmpty)
        let jar = try database.jar(now: Given.now)
        #expect(try database.jar(now: Given.now).id == jar.id)
        #expect(try database.existingJar(named: "default")?.id == jar.id)
    }

    @Test(
        "Names that cannot be typed are rejected",
        arguments: [
            "", "a\n", "\u{0}", "\u{7F}", String(repeating: "x", count: 101),
            // One character.
            "a" + String(repeating: "\u{301}", count: 1250),
        ])
    func names(name: String) throws {
        let database = try Given.database()
        #expect(errorCode { try database.jar(named: name, now: Given.now) } == .nameInvalid)
        #expect(errorCode { try database.existingJar(named: name) } == .nameInvalid)
    }

    @Test("A jar's summary counts cookies and session cookies, and has the next expiry")
    func summary() throws {
        let database = try Given.database()
        let jar = try database.jar(named: "j", now: Given.now)
        try jar.receive("s=1", "p=2; Max-Age=500", "q=3; Max-Age=100", "r=4; Max-Age=5")
        let later = Given.now.advanced(bySeconds: 50)
        let summary = try #require(try database.jars(now: later).first)
        #expect(summary.name == "j" && summary.cookieCount == 4 && summary.sessionCookieCount == 1)
        #expect(summary.nextExpiry == Given.now.advanced(bySeconds: 100))
        #expect(summary.creation == Given.now)
        #expect(try database.jars(now: Given.now.advanced(bySeconds: 501)).first?.nextExpiry == nil)
    }

    @Test("Two processes that create the same jar at once get the same one")
    func race() throws {
        let path = folder.file("crumb.sqlite")
        _ = try Given.database(path)
        let ids = try onThreads(8) { _ in try Given.database(path).jar(named: "new", now: Given.now).id }
        #expect(ids.count == 8 && Set(ids).count == 1)
    }

    @Test("The number of a removed jar is never used again: values are sealed to it")
    func numbers() throws {
        let database = try Given.database()
        let first = try database.jar(named: "first", now: Given.now).id
        try database.execute("DELETE FROM jar")
        #expect(try database.jar(named: "second", now: Given.now).id > first)
    }
}
