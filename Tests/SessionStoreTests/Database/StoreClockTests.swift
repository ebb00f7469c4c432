import CookieModel
import Foundation
import OAuth2
import SessionStore
import Testing

@Suite("The clock of a database")
struct StoreClockTests {
    private let start = Timestamp(seconds: 1_800_000_000)
    private let time = ManualTime(Timestamp(seconds: 1_800_000_000))

    private func response(_ line: Octets) throws -> ReceivedResponse {
        ReceivedResponse(context: try context(), setCookie: [line])
    }

    private func context() throws -> RequestContext {
        RequestContext(url: try RequestURL("https://www.example.com/"))
    }

    @Test("Calls without a time take it from the clock each time, and a time that is passed takes precedence")
    func manual() throws {
        let database = try SessionDatabase.inMemory(clock: .manual(time))
        let jar = try database.jar()
        #expect(try database.jars().map(\.creation) == [start])
        try jar.receive(response("a=1; Max-Age=60"))
        #expect(try jar.retrieve(for: context()).cookieString == "a=1")
        #expect(try jar.cookieString(for: context(), now: start.advanced(bySeconds: 61)) == "")
        time.advance(bySeconds: 61)
        #expect(try jar.retrieve(for: context()).included.isEmpty)
        #expect(try jar.retrieve(for: context(), now: start).cookieString == "a=1")
        try jar.receive(response("b=1; Max-Age=60"), now: start)
        #expect(try jar.cookieString(for: context()) == "")
        time.now = start
        #expect(try jar.cookieString(for: context()) == "a=1; b=1")
    }

    @Test("The asynchronous calls take it from the clock, too")
    func asynchronous() async throws {
        let jar = try await SessionDatabase.inMemory(clock: .manual(time)).jar()
        try await jar.receive(response("a=1; Max-Age=60"))
        #expect(try await jar.cookieString(for: context()) == "a=1")
        #expect(try await jar.cookieString(for: context(), at: start.advanced(bySeconds: 61)) == "")
        time.advance(bySeconds: 61)
        #expect(try await jar.retrieve(for: context()).included.isEmpty)
        #expect(try await jar.retrieve(for: context(), at: start).cookieString == "a=1")
    }

    @Test("A fixed clock stands still, and the system's does not")
    func fixed() throws {
        #expect(StoreClock.fixed(start).now == start)
        let before = Timestamp(Date())
        #expect(StoreClock.system.now >= before)
        #expect(StoreClock { start }.now == start)
    }

    @Test("The journal and created objects have the time of the clock")
    func created() throws {
        let database = try SessionDatabase.inMemory(clock: .manual(time))
        let jar = try database.jar()
        try jar.receive(response("a=1"))
        time.advance(bySeconds: 5)
        let saved = try jar.saveSession(named: "s")
        #expect(saved.session.creation == start.advanced(bySeconds: 5))
        #expect(try jar.endSession().removed == 1)
        #expect(try jar.changes(after: 0).changes.map(\.time) == [start, start.advanced(bySeconds: 5)])
        #expect(try jar.restoreSession(named: "s").added == 1)
    }
}

@Suite("A database in memory")
struct MemoryDatabaseTests {
    private let folder = TemporaryFolder()

    @Test("It needs no path and no key, and each is a database of its own")
    func own() throws {
        let (first, second) = (try SessionDatabase.inMemory(), try SessionDatabase.inMemory())
        let context = RequestContext(url: try RequestURL("https://www.example.com/"))
        try first.jar().receive(ReceivedResponse(context: context, setCookie: ["a=1"]))
        #expect(try first.jar().cookieString(for: context) == "a=1")
        #expect(try second.jars().isEmpty)
        #expect(first.sizeInBytes == 0 && first.path == ":memory:")
        #expect(!FileManager.default.fileExists(atPath: ":memory:"))
    }

    @Test(
        "SQLite's names for a database in memory are no paths",
        arguments: [":memory:", "file::memory:", "file::memory:?cache=shared"])
    func refused(path: String) throws {
        let key = folder.file("key")
        let error = #expect(throws: SessionStoreError.self) {
            try SessionDatabase(path: path, keys: .file(key))
        }
        #expect(error?.code == .databaseUnavailable)
        #expect(error?.description.contains("SessionDatabase.inMemory()") == true)
        #expect(error?.description.hasPrefix("path '\(path)': ") == true)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: key))
    }

    @Test("A file in a folder may have such a name")
    func file() throws {
        let path = folder.file(":memory:")
        #expect(try SessionDatabase(path: path, keys: .file(folder.file("key"))).path == path)
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
