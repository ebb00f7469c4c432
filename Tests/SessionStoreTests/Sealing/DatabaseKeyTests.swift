import CookieModel
import Foundation
import Synchronization
import Testing

@testable import SessionStore

@Suite("A database and its key")
struct DatabaseKeyTests {
    private let folder = TemporaryFolder()

    private func open(_ name: String = "crumb.sqlite", key: String = "key") throws -> SessionDatabase {
        try SessionDatabase(path: folder.file(name), keys: .file(folder.file(key)), now: Given.now)
    }

    private func makeDatabase() throws {
        try open().jar(now: Given.now).receive("a=1; Path=/")
    }

    @Test("A database opens with the key that created it")
    func right() throws {
        try makeDatabase()
        #expect(try open().jar(now: Given.now).header() == "a=1")
    }

    @Test("A wrong key is a clear error, and changes nothing")
    func wrong() throws {
        try makeDatabase()
        _ = try open("other.sqlite", key: "other-key")
        let before = try folder.contents()
        #expect(errorCode { try open(key: "other-key") } == .keyWrong)
        #expect(try folder.contents() == before)
        #expect(try open().jar(now: Given.now).header() == "a=1")
    }

    @Test("A lost key is a clear error, and no new one is created")
    func lost() throws {
        try makeDatabase()
        let before = try folder.contents().filter { $0.key != "key" }
        try FileManager.default.moveItem(atPath: folder.file("key"), toPath: folder.file("aside"))
        #expect(errorCode { try open() } == .keyMissing)
        try FileManager.default.moveItem(atPath: folder.file("aside"), toPath: folder.file("aside.key"))
        #expect(try folder.contents().filter { $0.key != "aside.key" } == before)
        #expect(try open(key: "aside.key").jar(now: Given.now).header() == "a=1")
    }

    @Test("An exposed key is rejected, even for a new database")
    func exposed() throws {
        try makeDatabase()
        try folder.write(try folder.bytes("key"), to: "key", mode: 0o644)
        #expect(errorCode { try open() } == .keyExposed)
        #expect(errorCode { try open("new.sqlite") } == .keyExposed)
    }

    @Test("One key can serve many databases")
    func shared() throws {
        try open("one.sqlite").jar(now: Given.now).receive("a=1")
        try open("two.sqlite").jar(now: Given.now).receive("a=2")
        #expect(try open("one.sqlite").jar(now: Given.now).header() == "a=1")
        #expect(try open("two.sqlite").jar(now: Given.now).header() == "a=2")
    }

    @Test("A value of one database cannot be opened in another one with another key")
    func copiedBetweenDatabases() throws {
        let left = try Given.database(folder.file("left"), key: 1)
        let right = try Given.database(folder.file("right"), key: 2)
        try left.jar(now: Given.now).receive("a=1")
        try right.jar(now: Given.now).receive("a=2")
        try right.execute("UPDATE cookie SET value = ?", try left.blob("SELECT value FROM cookie"))
        #expect(try right.jar(now: Given.now).header() == "")
    }

    @Test("Twenty processes that create the same database at once agree on its key, and none fails", arguments: 0..<8)
    func race(round: Int) throws {
        let (path, key) = (folder.file("crumb.sqlite"), folder.file("key"))
        let headers = try onThreads(20) { index in
            let database = try SessionDatabase(path: path, keys: .file(key), busyTimeout: 3600, now: Given.now)
            let jar = try database.jar(now: Given.now)
            try jar.receive("c\(index)=1; Path=/")
            return try jar.header()
        }
        #expect(headers.enumerated().allSatisfy { $1.contains("c\($0)=1") })
        let jar = try open().jar(now: Given.now)
        #expect(try jar.cookies().readable.count == 20 && jar.cookies().unreadable.isEmpty)
        #expect(try jar.database.number("SELECT count(*) FROM sealing_key") == 1)
    }

    @Test("A custom key source is asked for a new key once, and afterwards for the existing one")
    func custom() throws {
        let asked = Mutex<[Bool]>([])
        let key = try Given.key()
        let source = KeySource(name: "a keychain") { mayCreate throws(SessionStoreError) in
            asked.withLock { $0.append(mayCreate) }
            return key
        }
        for _ in 0..<3 { _ = try SessionDatabase(path: folder.file("db"), keys: source, now: Given.now) }
        #expect(asked.withLock { $0 } == [true, false, false])
        #expect("\(source)".contains("SealingKey") == false)
    }

    @Test("A key source that fails passes on its error, and the database can be created later")
    func failing() throws {
        let source = KeySource(name: "a keychain") { _ throws(SessionStoreError) in
            throw SessionStoreError(.keyUnavailable, "a keychain", "it is locked")
        }
        #expect(
            errorCode { try SessionDatabase(path: folder.file("db"), keys: source, now: Given.now) } == .keyUnavailable)
        #expect(throws: Never.self) { try open("db").jar(now: Given.now).receive("a=1") }
    }
}
