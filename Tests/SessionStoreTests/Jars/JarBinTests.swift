import CookieModel
import OAuth2
import Testing

@testable import SessionStore

@Suite("Restoring jars that were removed, cleared or merged into")
struct JarBinTests {
    private let folder = TemporaryFolder()

    private func open() throws -> SessionDatabase { try Given.database(folder.file("crumb.sqlite")) }

    /// A database with two jars, and the first one's cookies, fields, rules, storage and saved sessions as a text.
    private func filled() throws -> (database: SessionDatabase, contents: [String]) {
        let database = try open()
        try fill(database)
        return (database, try contents(of: "default", database))
    }

    private func fill(_ database: SessionDatabase) throws {
        try FullDatabase.fill(database, cookies: 6)
        let jar = try database.present("default")
        let item = try #require(WebStorageItem(origin: "https://a.example", key: "key", value: "value"))
        let capture = try jar.beginCapture(named: "login.har", now: Given.now)
        let response = ReceivedResponse(context: try Given.context(), setCookie: ["captured=1; Path=/"])
        try jar.withBatch(from: capture, now: Given.now) { batch throws(SessionStoreError) in
            try batch.receive(response, at: Given.now)
            _ = try batch.receive(item)
        }
        _ = try jar.saveSession(named: "with storage", now: Given.now)
        try jar.setLoginRuleDefinition("{}", named: "rule")
    }

    private func contents(of name: String, _ database: SessionDatabase) throws -> [String] {
        let jar = try database.present(name)
        var contents = try jar.contents().map { "\($0)" }
        contents += try jar.headerFields().map { "\($0.name) \($0.value?.exposedText ?? "?")" }
        contents += try jar.savedSessions().map { "\($0.name) \($0.cookieCount)" }
        contents += try jar.webStorage().readable.map { "\($0)" }
        contents += try jar.loginRuleDefinitions().map { "\($0.name) \($0.definition)" }
        contents += try jar.origins().map { "\($0.key) \($0.value)" }.sorted()
        contents.append("\(try jar.database.settings(ofJar: name))")
        return contents
    }

    private func lateNow(_ hours: Int64) -> Timestamp { Given.now.advanced(bySeconds: hours * 3600) }

    @Test("A removed jar does not exist for readers and writers, and is restored completely, in the same order")
    func removed() throws {
        let (database, before) = try filled()
        let jar = try database.present("default")
        let header = try jar.header("https://h1.example/1")
        try #require(!header.isEmpty)
        #expect(try database.discardJar(named: "default", now: Given.now) == JarRemoval(cookies: 8, savedSessions: 2))
        #expect(try database.existingJar(named: "default") == nil)
        #expect(try database.jars(now: Given.now).map(\.name) == ["work"])
        #expect(try jar.header("https://h1.example/1").isEmpty)
        #expect(errorCode { try jar.receive("x=1; Path=/") } == .jarNotFound)
        #expect(try database.statistics(now: Given.now).savedSessions == 1)
        #expect(try database.statistics(now: Given.now).removedJars == 1)
        let removed = try #require(try database.removedJars().first)
        #expect(removed.name == "default" && removed.cause == .removed && removed.time == Given.now)
        #expect(removed.cookieCount == 8 && removed.savedSessionCount == 2)
        #expect(try database.removedJars(named: ["work"]).isEmpty)

        #expect(try open().restoreJar(named: "default", now: Given.now) == removed)
        #expect(try contents(of: "default", database) == before)
        #expect(try database.present("default").header("https://h1.example/1") == header)
        #expect(try database.removedJars().isEmpty && database.check().findings.isEmpty)
        try database.present("default").receive("later=1; Path=/1", from: "https://h1.example/1")
        #expect(try database.present("default").header("https://h1.example/1").hasSuffix("later=1"))
        #expect(errorCode { try database.restoreJar(named: "default", now: Given.now) } == .jarNotFound)
        try database.present("default").restoreSession(named: "with storage", now: Given.now)
        #expect(try contents(of: "default", database) == before)
        let other = RequestContext(url: try RequestURL("https://h1.example/1"))
        #expect(try database.retrievals(for: other, besides: "work", now: Given.now).map(\.jar) == ["default"])
    }

    @Test("The name of a removed jar is free, and the jar can be restored under another one")
    func nameTaken() throws {
        let (database, _) = try filled()
        let header = try database.present("default").header("https://h1.example/1")
        try database.discardJar(named: "default", now: Given.now)
        try database.jar(named: "default", now: Given.now).receive("new=1; Path=/")
        #expect(errorCode { try database.restoreJar(named: "default", now: Given.now) } == .jarExists)
        #expect(errorCode { try database.restoreJar(named: "default", to: "work", now: Given.now) } == .jarExists)
        #expect(try database.restoreJar(named: "default", to: "old", now: Given.now).name == "old")
        #expect(try database.present("old").header("https://h1.example/1") == header)
        #expect(try database.present("default").header() == "new=1")
    }

    @Test("Several removed jars of one name are listed, and the newest is restored first")
    func several() throws {
        let database = try open()
        for number in 1...3 {
            try database.jar(named: "a", now: Given.now).receive("n=\(number); Path=/")
            try database.discardJar(named: "a", now: lateNow(Int64(number)))
        }
        #expect(try database.removedJars().map(\.time) == [3, 2, 1].map(lateNow))
        try database.restoreJar(named: "a", now: lateNow(4))
        #expect(try database.present("a").header() == "n=3")
    }

    @Test("After a jar is restored, a follower of its journal learns that it missed changes")
    func journal() throws {
        let database = try open()
        let jar = try database.jar(named: "a", now: Given.now)
        try jar.receive("a=1; Path=/")
        let position = try jar.changes(after: 0).position
        try database.discardJar(named: "a", now: Given.now)
        try database.restoreJar(named: "a", now: Given.now)
        #expect(try database.present("a").changes(after: position).hasGap)
    }

    @Test("Restoring a jar undoes clearing and merging, and the same call undoes the restoration")
    func undone() throws {
        let database = try open()
        let jar = try database.jar(named: "a", now: Given.now)
        try jar.receive("one=1; Path=/", "two=2; Path=/")
        _ = try database.clearJar(named: "a", now: Given.now)
        _ = try database.clearJar(named: "a", now: Given.now)
        #expect(try database.removedJars().map(\.cause) == [.cleared] && database.removedJars()[0].cookieCount == 2)
        #expect(try jar.savedSessions().isEmpty && database.jars(now: Given.now)[0].savedSessionCount == 0)
        try jar.receive("three=3; Path=/")
        #expect(try database.restoreJar(named: "a", now: Given.now).cookieCount == 2)
        #expect(try jar.header() == "one=1; two=2")
        try database.restoreJar(named: "a", now: Given.now)
        #expect(try jar.header() == "three=3")

        try database.jar(named: "b", now: Given.now).receive("three=b; Path=/", "four=b; Path=/")
        _ = try database.mergeJar(named: "b", into: "a", now: lateNow(1))
        #expect(try jar.header() != "three=3")
        #expect(try database.restoreJar(named: "a", now: lateNow(1)).cause == .merged)
        #expect(try jar.header() == "three=3")
        #expect(try database.check().findings.isEmpty)
    }

    @Test("A change that changes nothing does not replace an earlier one that can be undone")
    func unchanged() throws {
        let database = try open()
        let jar = try database.jar(named: "a", now: Given.now)
        try jar.receive("one=1; Path=/")
        let source = try database.jar(named: "b", now: Given.now)
        try source.receive("two=2; Path=/")
        for _ in 0..<2 { _ = try database.mergeJar(named: "b", into: "a", now: Given.now) }
        #expect(try jar.header() == "one=1; two=2")
        try database.restoreJar(named: "a", now: Given.now)
        #expect(try jar.header() == "one=1")

        let item = try #require(WebStorageItem(origin: "https://a.example", key: "key", value: "value"))
        try source.withBatch(now: Given.now) { batch throws(SessionStoreError) in _ = try batch.receive(item) }
        try database.restoreJar(named: "a", now: Given.now)
        for _ in 0..<2 { _ = try database.mergeJar(named: "b", into: "a", now: Given.now) }
        #expect(try jar.webStorage().readable == [item])
        try database.restoreJar(named: "a", now: Given.now)
        #expect(try jar.webStorage().readable.isEmpty)
    }

    @Test("A jar that was cleared and then removed can be restored from both")
    func clearedAndRemoved() throws {
        let (database, before) = try filled()
        _ = try database.clearJar(named: "default", now: Given.now)
        try database.discardJar(named: "default", now: Given.now)
        #expect(try database.removedJars().map(\.cause) == [.removed])
        #expect(try database.restoreJar(named: "default", now: Given.now).savedSessionCount == 2)
        #expect(try database.restoreJar(named: "default", now: Given.now).cause == .cleared)
        #expect(try contents(of: "default", database) == before)
        #expect(try database.check().findings.isEmpty)
    }

    @Test("Of removed jars with one name, the newest ten are kept")
    func bounded() throws {
        let database = try open()
        for number in 0..<12 {
            for name in ["a", "b"] { _ = try database.jar(named: name, now: Given.now) }
            try database.discardJar(named: "a", now: Given.now.advanced(bySeconds: Int64(number)))
        }
        try database.discardJar(named: "b", now: Given.now)
        let removed = try database.removedJars()
        #expect(removed.map(\.name) == Array(repeating: "a", count: 10) + ["b"])
        #expect(removed[9].time == Given.now.advanced(bySeconds: 2))
    }

    @Test("In a file, removing and clearing jars empties the bin of what is older than a day")
    func emptiedByOthers() throws {
        guard TestServer.shared == nil else { return }
        let database = try open()
        for name in ["a", "b"] { try database.jar(named: name, now: Given.now).receive("n=1; Path=/") }
        try database.discardJar(named: "a", now: Given.now)
        _ = try database.clearJar(named: "b", now: lateNow(8))
        func discard(at hours: Int64...) throws -> [String] {
            for hour in hours {
                _ = try database.jar(named: "c", now: lateNow(hour))
                try database.discardJar(named: "c", now: lateNow(hour))
            }
            return try database.removedJars().map { "\($0.name) \($0.cause)" }
        }
        #expect(try discard(at: 16) == ["a removed", "b cleared", "c removed"])
        #expect(try discard(at: 24) == ["b cleared", "c removed", "c removed"])
        #expect(try discard(at: 32, 40, 48) == ["c removed", "c removed", "c removed"])
    }

    @Test("The bin is emptied after a day that the clock has confirmed; a clock that jumps ahead empties nothing")
    func emptied() throws {
        let (database, _) = try filled()
        _ = try database.prune(now: Given.now)
        _ = try database.clearJar(named: "work", now: Given.now)
        try database.discardJar(named: "default", now: Given.now)
        #expect(try database.prune(now: lateNow(100_000)).removedJars == 0)
        // The jump counts as eight hours.
        for hour: Int64 in [0, 8] { #expect(try database.prune(now: lateNow(hour)).removedJars == 0) }
        #expect(try database.prune(now: lateNow(16)).removedJars == 2)
        #expect(try database.removedJars().isEmpty)
        #expect(try database.number("SELECT count(*) FROM jar WHERE id < 0") == 0)
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie WHERE jar_id < 0") == 0)
        #expect(try database.number("SELECT count(*) FROM snapshot") == 1)
        #expect(try database.number("SELECT count(*) FROM jar_undo") == 0)
    }

    @Test("The bin is emptied at once on request, of one jar or of all")
    func emptiedAtOnce() throws {
        let (database, _) = try filled()
        _ = try database.clearJar(named: "work", now: Given.now)
        try database.discardJar(named: "default", now: Given.now)
        #expect(try database.prune(jar: "default", emptiesBin: true, now: Given.now).removedJars == 1)
        #expect(try database.removedJars().map(\.name) == ["work"])
        #expect(try database.prune(emptiesBin: true, now: Given.now).removedJars == 1)
        #expect(errorCode { try database.restoreJar(named: "default", now: Given.now) } == .jarNotFound)
    }

    @Test("A key rotation, a check and a backup include removed jars")
    func sealed() throws {
        guard TestServer.shared == nil else { return }
        let path = folder.file("crumb.sqlite")
        func open() throws -> SessionDatabase {
            try SessionDatabase(path: path, keys: .file(folder.file("key")), now: Given.now)
        }
        let database = try open()
        try fill(database)
        let before = try contents(of: "default", database)
        let values = try database.check().readableValues
        try database.discardJar(named: "default", now: Given.now)
        #expect(try database.check().findings.isEmpty && database.check().readableValues == values)
        #expect(try database.rotateKey(now: Given.now).resealed == values)
        let file = KeyFile(folder.file("key"))
        try file.forget(try file.formerKeys())
        try database.backUp(to: folder.file("backup"))
        try open().restoreJar(named: "default", now: Given.now)
        #expect(try contents(of: "default", open()) == before)
        let backup = try SessionDatabase(path: folder.file("backup"), keys: .file(file), now: Given.now)
        try backup.restoreJar(named: "default", now: Given.now)
        #expect(try contents(of: "default", backup) == before)
    }
}
