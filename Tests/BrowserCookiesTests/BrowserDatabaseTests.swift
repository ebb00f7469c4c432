import Captures
import CookieModel
import Foundation
import SQLite
import Testing

@testable import BrowserCookies

@Suite("Browsers' databases")
struct BrowserDatabaseTests {
    private let folder = TemporaryFolder()

    /// What a database gives, in a few words: a cookie's name, value and domain, or a failure's code and count.
    private func summary(
        _ path: String, as format: CaptureFormat? = nil, _ options: BrowserDatabase.Options = .init()
    ) throws -> [String] {
        try items(path, as: format, options).map { item in
            switch item {
            case .cookie(let record, _):
                "\(record.name)=\(record.value) \(record.isHostOnly ? "" : ".")\(record.domain)"
            case .failure(let error): "\(error.code) \(error.count)"
            case .response: "response"
            case .storage: "storage"
            }
        }
    }

    private func items(
        _ path: String, as format: CaptureFormat? = nil, _ options: BrowserDatabase.Options = .init()
    ) throws -> [CaptureItem] {
        var items: [CaptureItem] = []
        try BrowserDatabase(path: path, source: "x", options: options).read(as: format) { items.append($0) }
        return items
    }

    private func records(_ path: String, _ options: BrowserDatabase.Options = .init()) throws -> [CookieRecord] {
        try items(path, options).compactMap { if case .cookie(let record, _) = $0 { record } else { nil } }
    }

    private func items(_ path: String, _ options: BrowserDatabase.Options) throws -> [CaptureItem] {
        try items(path, as: nil, options)
    }

    private func code(_ path: String, as format: CaptureFormat? = nil) -> CaptureError.Code? {
        do {
            _ = try items(path, as: format)
            return nil
        } catch {
            return (error as? CaptureError)?.code
        }
    }

    /// A new database with these statements.
    @discardableResult
    private func database(_ name: String, _ statements: String...) throws -> String {
        let path = folder.file(name)
        let database = try DatabaseConnection(path: path)
        try database.transaction(.immediate) { for statement in statements { try database.execute(statement) } }
        try database.close()
        return path
    }

    static let firefox = """
        CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, originAttributes TEXT NOT NULL DEFAULT '', name TEXT, value TEXT,
        host TEXT, path TEXT, expiry INTEGER, lastAccessed INTEGER, creationTime INTEGER, isSecure INTEGER,
        isHttpOnly INTEGER, sameSite INTEGER)
        """

    @Test("Firefox: partitions are kept, and other containers are left for another time")
    func firefox() throws {
        func row(_ name: String, _ attributes: String = "", host: String = "app.a.test", rest: String) -> String {
            "INSERT INTO moz_cookies VALUES (NULL, '\(attributes)', '\(name)', 'v', '\(host)', '/', \(rest))"
        }
        let path = try database(
            "firefox", Self.firefox, row("ms", rest: "1795316015771, 7, 5, 1, 1, 1"),
            row("s", host: ".a.test", rest: "1795316015, 7, 5, 0, 0, 256"),
            row("part", "^partitionKey=%28https%2Cb.test%29", rest: "1795316015, 7, 5, 1, 0, 0"),
            row("work", "^userContextId=2", rest: "1795316015, 7, 5, 1, 0, 0"),
            row("private", "^privateBrowsingId=1", rest: "1795316015, 7, 5, 1, 0, 0"),
            row("bad", "nonsense", rest: "1795316015, 7, 5, 1, 0, 0"), row("end", rest: "'never', 7, 5, 1, 0, 0"),
            row("far", rest: "9223372036854775807, 7, 5, 0, 0, 0"))
        #expect(
            try summary(path) == [
                "ms=v app.a.test", "s=v .a.test", "part=v app.a.test", "entry-malformed 1", "entry-malformed 1",
                "far=v app.a.test", "other-container 1", "other-container 1",
            ])
        let records = try records(path)
        #expect(
            records.map(\.expiry?.microseconds) == [
                1_795_316_015_771_000, 1_795_316_015_000_000, 1_795_316_015_000_000, .max,
            ])
        #expect(records.map(\.sameSite) == [.lax, .default, .none, .default])
        #expect(records.map(\.partitionKey?.serialized) == [nil, nil, "https://b.test cross-site", nil])
        #expect(records[0].isSecure && records[0].isHTTPOnly && records[0].creation?.microseconds == 5)
        #expect(records[0].lastAccess?.microseconds == 7)
        var options = BrowserDatabase.Options()
        options.container = 2
        #expect(try records2(path, options) == ["work"])
    }

    private func records2(_ path: String, _ options: BrowserDatabase.Options) throws -> [String] {
        try records(path, options).map(\.name.description)
    }

    @Test("Octets that are not UTF-8 are preserved")
    func octets() throws {
        let path = try database(
            "webkitgtk",
            """
            CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, name TEXT, value TEXT, host TEXT, path TEXT, expiry INTEGER,
            lastAccessed INTEGER, isSecure INTEGER, isHttpOnly INTEGER, sameSite INTEGER)
            """,
            "INSERT INTO moz_cookies VALUES (1, 'n', CAST(x'ff41' AS TEXT), '.a.test', '/p', 5, NULL, 1, 0, 2)",
            "INSERT INTO moz_cookies VALUES (2, NULL, 'v', 'a.test', '/', 5, NULL, 1, 0, 2)")
        #expect(try summary(path) == [#"n=\xFFA .a.test"#, "entry-malformed 1"])
        #expect(try records(path).map(\.sameSite) == [.strict])
    }

    @Test("A database that is not a browser's, is another browser's, or does not exist is rejected")
    func refusals() throws {
        #expect(code(try database("other", "CREATE TABLE t (x)")) == .inputUnrecognized)
        #expect(code(try database("half", "CREATE TABLE moz_cookies (x)")) == .inputUnrecognized)
        #expect(code(try database("half2", "CREATE TABLE cookies (x)")) == .inputUnrecognized)
        #expect(code(try database("fx", Self.firefox), as: .chromium) == .inputUnrecognized)
        #expect(code(folder.file("missing")) == .databaseUnreadable)
        let broken = folder.file("broken")
        try Data(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 5000)).write(to: URL(filePath: broken))
        #expect(code(broken) == .databaseUnreadable)
    }

    @Test("The log is read while the browser keeps its database locked, and nothing is left behind")
    func running() throws {
        let path = folder.file("running")
        let browser = try DatabaseConnection(path: path) { database in
            try database.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL")
        }
        try browser.transaction(.immediate) {
            try browser.execute(Self.firefox)
            try browser.execute(
                "INSERT INTO moz_cookies VALUES (1, '', 'n', 'v', 'a.test', '/', 1795316015, 7, 5, 1, 1, 1)")
        }
        let before = try (Data(contentsOf: URL(filePath: path)), Data(contentsOf: URL(filePath: "\(path)-wal")))
        #expect(try summary(path) == ["n=v a.test"])
        #expect(before.0 == (try Data(contentsOf: URL(filePath: path))))
        #expect(before.1 == (try Data(contentsOf: URL(filePath: "\(path)-wal"))))
        try browser.transaction(.immediate) { try browser.execute("UPDATE moz_cookies SET value = 'w'") }
        #expect(try summary(path) == ["n=w a.test"])
        try browser.close()
    }

    @Test("In the middle of a transaction that has reached the file, the state before it is read")
    func transaction() throws {
        let path = folder.file("journal")
        let browser = try DatabaseConnection(path: path) { database in
            try database.execute(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 1")
        }
        let insert = "INSERT INTO moz_cookies VALUES (?, '', 'n', ?, 'a.test', '/', 1795316015, 7, 5, 1, 1, 1)"
        let value = String(repeating: "v", count: 3000)
        try browser.transaction(.immediate) {
            try browser.execute(Self.firefox)
            let statement = try browser.cachedStatement(insert)
            for id: Int64 in 1...20 {
                statement.bind(1, id)
                statement.bind(2, value)
                try statement.run()
            }
        }
        let whole = try summary(path)
        let committed = try Data(contentsOf: URL(filePath: path))
        try browser.execute("BEGIN IMMEDIATE")
        try browser.execute("UPDATE moz_cookies SET value = replace(value, 'v', 'w'), expiry = id")
        #expect(try Data(contentsOf: URL(filePath: path)) != committed)
        let journal = try Data(contentsOf: URL(filePath: "\(path)-journal"))
        #expect(try summary(path) == whole)
        #expect(try Data(contentsOf: URL(filePath: "\(path)-journal")) == journal)
        try browser.execute("COMMIT")
        #expect(try summary(path).allSatisfy { $0.hasPrefix("n=www") })
        try browser.close()
    }

    @Test("A row that is longer than any cookie costs itself alone, as does one that the schema makes long")
    func long() throws {
        let insert = "INSERT INTO moz_cookies (name, value, host, path, expiry) VALUES"
        let path = try database(
            "long", Self.firefox, "\(insert) ('a', '1', 'a.test', '/', 1795316015)",
            "\(insert) ('b', zeroblob(9000000), 'a.test', '/', 1795316015)",
            "\(insert) ('c', '3', 'a.test', '/', 1795316015)")
        #expect(try summary(path) == ["a=1 a.test", "line-too-long 1", "c=3 a.test"])
        let made = Self.firefox.replacing(
            "value TEXT", with: "value TEXT GENERATED ALWAYS AS (hex(zeroblob(300000000))) VIRTUAL")
        let row = "INSERT INTO moz_cookies (name, host, path, expiry) VALUES ('a', 'a.test', '/', 1795316015)"
        #expect(try summary(try database("made", made, row)) == ["line-too-long 1"])
    }

    @Test("The copy is private and gone afterwards")
    func copy() throws {
        let path = try database("db", Self.firefox)
        let copy = try DatabaseCopy(of: path, source: "x")
        func mode(_ path: String) throws -> Int? {
            (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
        }
        #expect(try mode(copy.path) == 0o600)
        #expect(try mode(URL(filePath: copy.path).deletingLastPathComponent().path) == 0o700)
        copy.remove()
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    private static let samples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/samples/db")
    static let haveSamples = FileManager.default.fileExists(atPath: samples.path)

    @Test(
        "Databases written by the browsers themselves are read",
        .enabled(if: haveSamples, "shared/samples is not beside the package"),
        arguments: [
            ("chromium-156-Cookies.sqlite", CaptureFormat.chromium, 17), ("firefox-153-cookies.sqlite", .firefox, 14),
            ("webkitgtk-2.50-cookies.sqlite", .webKitGTK, 13),
        ])
    func own(name: String, format: CaptureFormat, count: Int) throws {
        let path = Self.samples.appending(path: name).path
        let summary = try summary(path, as: format)
        #expect(summary.count == count)
        let expected = [
            "dup=second app.example.test", "hto=h1 app.example.test", "lax=l1 app.example.test",
            #"quoted="a b,c" app.example.test"#, "none=n1 app.example.test", "part=pt1 app.example.test",
        ]
        #expect(Set(summary).isSuperset(of: expected))
        let records = try records(path)
        let byName = Dictionary(records.map { ($0.name.description, $0) }) { first, _ in first }
        #expect(byName["hto"]?.isHTTPOnly == true && byName["sec"]?.isSecure == true)
        #expect(byName["dom"]?.isHostOnly == false && byName["ip"]?.isHostOnly == true)
        #expect(byName["strict"]?.sameSite == .strict && byName["pers"]?.sameSite == .default)
        #expect(byName["hto"]?.expiry?.seconds == 1_812_536_294 || format == .chromium)
        let partitions = ["part", "p3"].map { byName[$0]?.partitionKey?.serialized }
        #expect(
            partitions
                == (format == .webKitGTK ? [nil, nil] : ["https://example.test", "https://other.test cross-site"]))
    }
}

/// A folder for one test.
final class TemporaryFolder: Sendable {
    private let path = FileManager.default.temporaryDirectory.appending(path: "browser-cookies-\(UUID().uuidString)")
        .path

    init() {
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}
