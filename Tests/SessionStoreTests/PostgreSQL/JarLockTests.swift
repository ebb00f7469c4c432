import CookieModel
import OAuth2
import Synchronization
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "What transactions on a PostgreSQL server wait for",
    .onlyOnServer)
struct JarLockTests {
    private let shared: SharedDatabase

    init() throws {
        shared = try SharedDatabase()
    }

    @Test("Operations on jars, logins and access tokens wait for no other jar")
    func independence() throws {
        let (one, other) = (try shared.open(), try shared.open())
        let busy = try one.jar(named: "busy", now: Given.now)
        for name in ["a", "b", "c", "d"] { try one.jar(named: name, now: Given.now).receive("\(name)=1; Path=/") }
        var generator = SystemRandomNumberGenerator()
        try one.write(.jar(busy.id)) { _ in
            let made = try other.createJar(named: "made", now: Given.now)
            try made.receive("a=1; Path=/")
            _ = try other.putJar(named: "put", new: JarSettings(), now: Given.now) { _ in }
            _ = try other.changeSettings(ofJar: "a") { $0.limits.totalCookies = 5 }
            _ = try other.renameJar(named: "a", to: "renamed")
            #expect(try other.copyJar(named: "b", to: "copy", now: Given.now).copied == 1)
            #expect(try other.mergeJar(named: "b", into: "c", now: Given.now).added == 1)
            #expect(try other.clearJar(named: "c", now: Given.now).cookies == 2)
            #expect(try other.removeJar(named: "d").cookies == 1)
            #expect(
                try other.tokens.put(
                    TokenSet(accessToken: Secret("a"), receivedAt: Given.now),
                    for: Profile(id: ProfileID(), name: "login"), now: Given.now))
            #expect(try other.tokens.remove("login", now: Given.now))
            _ = try other.serviceTokens.create(
                named: "app", grant: .everything, now: Given.now, using: &generator)
            try other.serviceTokens.noteUse(["app": Given.now])
            #expect(try other.serviceTokens.revoke(named: "app", now: Given.now))
        }
    }

    @Test(
        "Of many transactions that give jars the same name at once, one succeeds",
        arguments: ["create", "copy", "rename"])
    func sameName(way: String) throws {
        let databases = try (0..<4).map { _ in try shared.open() }
        for thread in 0..<8 {
            let jar = try databases[0].jar(named: "jar \(thread)", now: Given.now)
            try jar.receive("a=\(thread); Path=/")
        }
        let codes = try onThreads(8) { thread in
            let database = databases[thread % 4]
            return errorCode {
                switch way {
                case "create": _ = try database.createJar(named: "same", now: Given.now)
                case "copy": _ = try database.copyJar(named: "jar \(thread)", to: "same", now: Given.now)
                default: _ = try database.renameJar(named: "jar \(thread)", to: "same")
                }
            }
        }
        #expect(codes.count { $0 == nil } == 1 && codes.count { $0 == .jarExists } == 7)
        #expect(try databases[0].number("SELECT count(*) FROM jar WHERE name = 'same'") == 1)
    }

    @Test("A jar's journal begins after those of earlier jars with its name, even if both changes happen at once")
    func formerJournals() throws {
        let databases = try (0..<4).map { _ in try shared.open() }
        let positions = Mutex<[Int64]>([])
        _ = try onThreads(4) { thread in
            let database = databases[thread]
            for _ in 0..<1000 where positions.withLock({ $0.count < 120 }) {
                guard let jar = try? database.createJar(named: "same", now: Given.now) else { continue }
                for number in 0..<3 { try jar.receive("c\(number)=1; Path=/") }
                let changes = try jar.changes(after: 0).changes.map(\.position)
                positions.withLock { $0 += changes }
                _ = try database.removeJar(named: "same")
            }
        }
        let found = positions.withLock { $0 }
        #expect(found.count >= 120 && found == Array(Set(found)).sorted())
    }

    @Test("No ID is used up if no jar is created")
    func ids() throws {
        let database = try shared.open()
        let first = try database.createJar(named: "a", now: Given.now).id
        for _ in 0..<5 {
            _ = try database.putJar(named: "a", new: JarSettings(), now: Given.now) { _ in }
            _ = try database.jar(named: "a", now: Given.now)
            #expect(errorCode { try database.createJar(named: "a", now: Given.now) } == .jarExists)
            #expect(errorCode { try database.copyJar(named: "a", to: "a", now: Given.now) } == .jarExists)
        }
        #expect(try database.createJar(named: "b", now: Given.now).id == first + 1)
    }

    @Test("Two concurrent merges of jars into each other complete, one after the other")
    func crossedMerges() throws {
        let databases = [try shared.open(), try shared.open()]
        for name in ["a", "b"] { try databases[0].jar(named: name, now: Given.now).receive("\(name)=1; Path=/") }
        _ = try onThreads(2) { thread in
            for _ in 0..<10 {
                _ = try databases[thread].mergeJar(
                    named: thread == 0 ? "a" : "b", into: thread == 0 ? "b" : "a", now: Given.now)
            }
        }
        for name in ["a", "b"] {
            #expect(try databases[0].jar(named: name, now: Given.now).cookies().readable.count == 2)
        }
    }
}
