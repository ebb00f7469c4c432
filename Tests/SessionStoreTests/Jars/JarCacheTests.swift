import CookieModel
import Testing

@testable import SessionStore

@Suite("Jars that were asked for before")
struct JarCacheTests {
    @Test("The next lookup of a jar sees another connection's changes to it")
    func otherWriter() throws {
        let folder = TemporaryFolder()
        let reader = try Given.database(folder.file("crumb.sqlite"))
        let writer = try Given.database(folder.file("crumb.sqlite"))
        _ = try writer.createJar(named: "work", now: Given.now)
        for _ in 0..<3 { #expect(try reader.existingJar(named: "work") != nil) }

        _ = try writer.changeSettings(ofJar: "work") { $0.limits.requestCookies = 7 }
        #expect(try reader.existingJar(named: "work")?.policy.limits.requestCookies == 7)

        _ = try writer.renameJar(named: "work", to: "home")
        #expect(try reader.existingJar(named: "work") == nil)
        #expect(try reader.existingJar(named: "home")?.policy.limits.requestCookies == 7)

        _ = try writer.removeJar(named: "home")
        #expect(try reader.existingJar(named: "home") == nil)

        // Another one of the same name is another jar.
        let jar = try writer.jar(named: "home", now: Given.now)
        try jar.receive("a=1; Path=/")
        #expect(try reader.existingJar(named: "home")?.contents().count == 1)
    }

    @Test("Names that look alike belong to different jars")
    func equivalentNames() throws {
        let folder = TemporaryFolder()
        let database = try Given.database(folder.file("crumb.sqlite"))
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        _ = try database.createJar(named: composed, now: Given.now)
        for _ in 0..<3 {
            #expect(try database.existingJar(named: composed) != nil)
            #expect(try database.existingJar(named: decomposed) == nil)
        }
        _ = try database.renameJar(named: composed, to: decomposed)
        #expect(try database.existingJar(named: composed) == nil)
        #expect(try database.prune(jar: decomposed, now: Given.now).expiredCookies.isEmpty)
        #expect(throws: SessionStoreError.self) { try database.prune(jar: composed, now: Given.now) }
        let other = try database.createJar(named: composed, now: Given.now)
        try other.receive("a=1; Path=/")
        for _ in 0..<3 {
            #expect(try database.existingJar(named: decomposed)?.contents().isEmpty == true)
            #expect(try database.existingJar(named: composed)?.contents().count == 1)
        }
        #expect(try database.mergeJar(named: composed, into: decomposed, now: Given.now).added == 1)
    }

    @Test("A missing jar is looked up again each time")
    func missing() throws {
        let folder = TemporaryFolder()
        let database = try Given.database(folder.file("crumb.sqlite"))
        for _ in 0..<3 { #expect(try database.existingJar(named: "work") == nil) }
        _ = try database.jar(named: "work", now: Given.now)
        #expect(try database.existingJar(named: "work") != nil)
    }
}
