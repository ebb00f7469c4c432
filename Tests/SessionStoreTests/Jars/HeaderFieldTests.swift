import CookieModel
import OAuth2
import Testing

@testable import SessionStore

@Suite("Header fields that are kept with a jar")
struct HeaderFieldTests {
    private let folder = TemporaryFolder()

    private func fields(_ jar: CookieJar) throws -> [String] {
        try jar.headerFields().map { "\($0.name) \($0.scope ?? "-") \($0.value?.exposedText ?? "damaged")" }
    }

    private func given(_ database: SessionDatabase, _ name: String = "default") throws -> CookieJar {
        let jar = try database.jar(named: name, now: Given.now)
        try jar.setHeaderField(Secret("k1"), named: "X-Key", scope: "https://a.test/")
        try jar.setHeaderField(Secret("k2"), named: "X-Key", scope: "https://a.test/v2")
        try jar.setHeaderField(Secret("ua"), named: "User-Agent", scope: nil)
        return jar
    }

    @Test("A jar's header fields survive a restart unchanged, those for fewer URLs first")
    func roundTrip() throws {
        let path = folder.file("crumb.sqlite")
        _ = try given(try Given.database(path))
        let expected = ["User-Agent - ua", "X-Key https://a.test/v2 k2", "X-Key https://a.test/ k1"]
        let database = try Given.database(path)
        for _ in 0..<3 { #expect(try fields(database.present("default")) == expected) }
        #expect(try fields(Given.database(path).jar(named: "other", now: Given.now)).isEmpty)
    }

    @Test("Header fields are distinguished by name and scope, without case")
    func identity() throws {
        let jar = try given(try Given.database())
        try jar.setHeaderField(Secret("new"), named: "x-KEY", scope: "https://a.test/")
        #expect(try fields(jar) == ["User-Agent - ua", "X-Key https://a.test/v2 k2", "x-KEY https://a.test/ new"])
        #expect(try !jar.removeHeaderField(named: "X-Key", scope: nil))
        #expect(try jar.removeHeaderField(named: "X-Key", scope: "https://a.test/"))
        #expect(try !jar.removeHeaderField(named: "X-Key", scope: "https://a.test/"))
        #expect(try fields(jar) == ["User-Agent - ua", "X-Key https://a.test/v2 k2"])
    }

    @Test("The next read of header fields, and the next opening of the jar, see changes of another connection")
    func otherWriter() throws {
        let path = folder.file("crumb.sqlite")
        let (reader, writer) = (try Given.database(path), try Given.database(path))
        let jar = try writer.jar(now: Given.now)
        for _ in 0..<3 {
            #expect(try reader.present("default").cachedHeaderFields().isEmpty)
            #expect(try fields(reader.present("default")).isEmpty)
        }
        let open = try reader.present("default")
        try jar.setHeaderField(Secret("1"), named: "A", scope: nil)
        #expect(try fields(open) == ["A - 1"])
        #expect(try reader.present("default").cachedHeaderFields().count == 1)
        try jar.setHeaderField(Secret("2"), named: "A", scope: nil)
        #expect(try fields(open) == ["A - 2"])
        _ = try jar.removeHeaderField(named: "A", scope: nil)
        #expect(try fields(open).isEmpty && !reader.present("default").hasHeaderFields)
    }

    @Test("A jar that was just opened without header fields reads no row for them")
    func nothingAsked() throws {
        let path = folder.file("crumb.sqlite")
        let database = try Given.database(path)
        let jar = try database.jar(now: Given.now)
        #expect(!jar.hasHeaderFields)
        // A question would fail.
        try database.execute("DROP TABLE header_field")
        #expect(try jar.cachedHeaderFields().isEmpty)
        #expect(
            errorCode { try jar.headerFields() } == (TestServer.shared == nil ? .databaseFailed : .databaseUnavailable))
    }

    @Test("Copies and merges of jars include header fields, and the target keeps its own")
    func copies() throws {
        let database = try Given.database()
        _ = try given(database, "from")
        let other = try database.jar(named: "other", now: Given.now)
        try other.setHeaderField(Secret("own"), named: "user-agent", scope: nil)
        try database.copyJar(named: "from", to: "copy", now: Given.now)
        try database.mergeJar(named: "from", into: "other", now: Given.now)
        let all = ["User-Agent - ua", "X-Key https://a.test/v2 k2", "X-Key https://a.test/ k1"]
        #expect(try fields(database.present("copy")) == all && fields(database.present("from")) == all)
        #expect(try fields(other) == ["user-agent - own", all[1], all[2]])
        try database.renameJar(named: "copy", to: "renamed")
        #expect(try fields(database.present("renamed")) == all)
        #expect(try database.check().isSound)
    }

    @Test("Header fields are removed with their jar")
    func removed() throws {
        let database = try Given.database()
        _ = try given(database)
        try database.removeJar(named: "default")
        #expect(try database.number("SELECT count(*) FROM header_field") == 0)
    }

    @Test(
        "A header field's value that was changed, moved or truncated is reported, and the others are read",
        arguments: [
            "UPDATE header_field SET value = x'00' WHERE scope = 'https://a.test/'",
            "UPDATE header_field SET value = substr(value, 1, length(value) - 1) WHERE scope = 'https://a.test/'",
            "UPDATE header_field SET scope = 'https://evil.test/' WHERE scope = 'https://a.test/'",
            "UPDATE header_field SET name = 'X-Other' WHERE scope = 'https://a.test/'",
            """
            UPDATE header_field SET value = (SELECT value FROM header_field AS other WHERE scope = 'https://a.test/v2')
            WHERE scope = 'https://a.test/'
            """,
            "UPDATE header_field SET jar_id = 2 WHERE scope = 'https://a.test/'",
        ])
    func tampered(sql: String) throws {
        let database = try Given.database()
        let jars = [try given(database), try database.jar(named: "work", now: Given.now)]
        try database.execute(sql)
        let all = try jars.flatMap { try $0.headerFields() }
        #expect(all.count == 3 && all.count { $0.value == nil } == 1)
        #expect(try jars[0].headerFields().contains { $0.value == Secret("ua") })
        #expect(try database.check().findings.map(\.location?.kind) == [.headerField])
        // A copy keeps it as damaged as it is.
        try database.copyJar(named: "default", to: "copy", now: Given.now)
        #expect(try database.present("copy").headerFields() == jars[0].headerFields())
    }

    @Test("Header fields can be read after the key was rotated while their jar was open")
    func rotated() throws {
        func open() throws -> SessionDatabase {
            try SessionDatabase(path: folder.file("crumb.sqlite"), keys: .file(folder.file("key")), now: Given.now)
        }
        let (rotating, reading) = (try open(), try open())
        _ = try given(rotating)
        let jar = try reading.present("default")
        let before = try fields(jar)
        #expect(try rotating.rotateKey(now: Given.now).resealed == 3)
        #expect(try fields(jar) == before && before.count == 3)
        #expect(try fields(open().present("default")) == before)
        #expect(try FullDatabase.count(rotating, under: 1) == 0)
    }
}
