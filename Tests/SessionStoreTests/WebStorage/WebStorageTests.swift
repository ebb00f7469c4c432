import CookieModel
import Foundation
import Testing

@testable import SessionStore

@Suite("Web storage of a jar")
struct WebStorageTests {
    private let folder = TemporaryFolder()

    private func item(_ key: String, _ value: String, _ origin: String = "https://a.example") throws -> WebStorageItem {
        try #require(WebStorageItem(origin: origin, key: Octets(key), value: Octets(value)))
    }

    /// Stores items; which had room.
    @discardableResult
    private func store(_ items: [WebStorageItem], in jar: CookieJar) throws -> [Bool] {
        try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            var results: [Bool] = []
            for item in items { results.append(try batch.receive(item)) }
            return results
        }.result
    }

    private func text(_ jar: CookieJar) throws -> [String] {
        try jar.webStorage().readable.map { "\($0.origin) \($0.key)=\($0.value)" }
    }

    @Test("Items of web storage stay in their order, by origin; a key that is set again keeps its position")
    func order() throws {
        let jar = try Given.jar()
        let first = try [item("z", "1"), item("a", "2"), item("a", "3", "https://b.example:8443"), item("", "")]
        #expect(try store(first, in: jar) == [true, true, true, true])
        try store([item("z", "new"), item("b", "4")], in: jar)
        #expect(
            try text(jar) == [
                "https://a.example z=new", "https://a.example a=2", "https://a.example =", "https://a.example b=4",
                "https://b.example:8443 a=3",
            ])
        #expect(try jar.webStorage(ofOrigin: "https://b.example:8443").readable.map(\.value) == ["3"])
        #expect(try jar.webStorageOrigins().map(\.origin) == ["https://a.example", "https://b.example:8443"])
        #expect(try jar.webStorageOrigins().map(\.octets) == [8, 2])
    }

    @Test("Values of web storage are sealed to jar, origin and key, and included in key rotations")
    func sealed() throws {
        let path = folder.file("crumb.sqlite")
        let database = try SessionDatabase(path: path, keys: .file(folder.file("key")), now: Given.now)
        let jar = try database.jar(now: Given.now)
        try store([item("token", "s3cret-value"), item("other", "x")], in: jar)
        _ = try jar.saveSession(named: "saved", now: Given.now)
        for bytes in try folder.contents().values {
            #expect(Data(bytes).firstRange(of: Data("s3cret-value".utf8)) == nil)
        }
        _ = try database.rotateKey(batchSize: 1, now: Given.now)
        #expect(try text(jar) == ["https://a.example token=s3cret-value", "https://a.example other=x"])
        #expect(try database.check().readableValues == 4)
        try database.execute(
            "UPDATE web_storage SET value = (SELECT value FROM web_storage WHERE key = x'6F74686572' AND snapshot_id = 0)"
        )
        #expect(try jar.webStorage().unreadable.map(\.key) == ["token"])
        let damaged = try database.check().findings.filter { $0.code == .unreadable }
        #expect(damaged.count == 2 && damaged.allSatisfy { $0.description.contains("localStorage item 'token'") })
    }

    @Test("Copies, merges and saved sessions include web storage; clearing and removing a jar remove it")
    func withTheJar() throws {
        let database = try Given.database()
        let jar = try database.jar(now: Given.now)
        try store([item("a", "1"), item("b", "2")], in: jar)
        _ = try database.copyJar(named: "default", to: "copy", now: Given.now)
        let copy = try database.jar(named: "copy", now: Given.now)
        #expect(try text(copy) == text(jar))
        try store([item("a", "own"), item("c", "3")], in: copy)
        _ = try database.mergeJar(named: "copy", into: "default", now: Given.now)
        #expect(try text(jar) == ["https://a.example a=1", "https://a.example b=2", "https://a.example c=3"])
        _ = try jar.saveSession(named: "saved", now: Given.now)
        #expect(try jar.removeWebStorage(ofOrigin: "https://a.example", key: "b") == 1)
        try store([item("d", "4")], in: jar)
        _ = try jar.restoreSession(named: "saved", now: Given.now)
        #expect(try text(jar) == ["https://a.example a=1", "https://a.example b=2", "https://a.example c=3"])
        _ = try jar.endSession(now: Given.now)
        #expect(try text(jar).count == 3)
        _ = try database.clearJar(named: "default", now: Given.now)
        #expect(try text(jar).isEmpty)
        _ = try jar.restoreSession(named: "saved", now: Given.now)
        #expect(try text(jar).count == 3)
        try jar.removeSavedSession(named: "saved")
        // What clearing took away.
        #expect(try database.number("SELECT count(*) FROM web_storage WHERE jar_id = 1") == 6)
        #expect(try database.prune(emptiesBin: true, now: Given.now).removedJars == 1)
        #expect(try database.number("SELECT count(*) FROM web_storage WHERE jar_id = 1") == 3)
        _ = try database.removeJar(named: "default")
        #expect(try database.number("SELECT count(*) FROM web_storage") == 3)
        #expect(try copy.removeWebStorage(ofOrigin: nil, key: nil) == 3)
    }

    @Test("An origin has at most 5 MiB and 10,000 items; an item that replaces another uses its room")
    func limits() throws {
        let jar = try Given.jar()
        let megabyte = String(repeating: "v", count: 1 << 20)
        let items = try (0..<6).map { try item("k\($0)", megabyte) }
        #expect(try store(items, in: jar) == [true, true, true, true, false, false])
        #expect(try store([item("k0", megabyte + "x"), item("k9", "small")], in: jar) == [true, true])
        #expect(try store([item("k9", megabyte)], in: jar) == [false])
        #expect(try store([item("k", megabyte, "https://b.example")], in: jar) == [true])
        let many = try (0...WebStorageItem.originItemLimit).map { try item("\($0)", "", "https://c.example") }
        #expect(try store(many, in: jar).firstIndex(of: false) == WebStorageItem.originItemLimit)
        #expect(try store([many[0]], in: jar) == [true])
    }

    @Test("A jar has at most 50 MiB and 100,000 items of web storage, and a dry run counts as an import does")
    func jarLimits() throws {
        let megabyte = String(repeating: "v", count: (1 << 20) - 2)
        let items = try (0..<52).map { try item("k\($0 % 5)", megabyte, "https://\($0 / 5).example") }
        let jar = try Given.jar()
        func dryRun() throws -> [Bool] {
            var trial = WebStorageTrial()
            return try items.map { try trial.receive($0, in: jar) }
        }
        let wanted = Array(repeating: true, count: 50) + [false, false]
        #expect(try dryRun() == wanted)
        #expect(try jar.webStorageOrigins().isEmpty)
        #expect(try store(items, in: jar) == wanted)
        #expect(try dryRun() == wanted)
        var room = WebStorageRoom()
        let fits = try (0...WebStorageItem.jarItemLimit).map {
            try room.takes(1, Octets("\($0)"), ofOrigin: "https://\($0 / 1000).example", in: nil)
        }
        #expect(fits.firstIndex(of: false) == WebStorageItem.jarItemLimit)
    }

    @Test(
        "The cost of adding items of web storage is linear, because each origin is read once", arguments: [500, 1000])
    func work(count: Int) throws {
        let jar = try Given.jar()
        let items = try (0..<count).map { try item("k\($0)", "v", "https://\($0 % 7).example") }
        try store(items, in: jar)
        var room = WebStorageRoom()
        try jar.database.read { connection in
            let rows = WebStorageRows(database: connection, jarID: jar.id)
            for item in items {
                _ = try room.takes(item.octetCount, item.key, ofOrigin: item.origin, in: rows)
                #expect(try room.holds(item.key, ofOrigin: item.origin, in: rows))
            }
        }
        #expect(room.readCount == count)
    }

    @Test(
        "Only pages over HTTP have storage",
        arguments: ["", "null", "file://", "about:blank", "a.example", "wss://a.example"])
    func origins(_ origin: String) {
        #expect(WebStorageItem(origin: origin, key: "k", value: "v") == nil)
    }
}
