import CookieModel
import SQLite
import Testing

@testable import SQLiteEngine
@testable import SessionStore

@Suite("The header of the write-ahead log's index")
struct WALIndexTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    @Test("The WAL-index header stays the same without writes, and changes with every commit of any process")
    func commits() throws {
        let (jar, other) = (try Given.jar(path), try Given.jar(path))
        let connection = try #require(jar.database.engine.file).makeReader()
        let index = try #require(connection.walIndex)
        var seen = [try #require(index.header)]
        for round in 0..<200 {
            try (round % 2 == 0 ? jar : other).receive("a=\(round); Path=/")
            if round % 50 == 49 { #expect(try other.database.emptyLog()) }
            if round % 70 == 69 { try jar.database.compact() }
            let header = try #require(index.header)
            #expect(!seen.contains(header), "round \(round)")
            seen.append(header)
            #expect(try jar.header() == "a=\(round)")
            #expect(try other.cookies().readable.count == 1)
            #expect(index.header == header)
        }
    }

    @Test("The WAL-index header changes with every committed row, and not with one that is rolled back")
    func transactions() throws {
        let database = try Given.database(path)
        let connection = try #require(database.engine.file).makeReader()
        let index = try #require(connection.walIndex)
        let before = try #require(index.header)
        let change = "UPDATE sealing_key SET created_at = created_at + 1"
        let code = errorCode {
            try database.write { connection in
                try connection.statement(change).run()
                throw SessionStoreError(.databaseFailed, "test", "given up")
            }
        }
        #expect(code == .databaseFailed)
        #expect(index.header == before)
        try database.execute(change)
        #expect(index.header != nil && index.header != before)
    }

    @Test("The WAL-index header is not read if the database has no write-ahead log")
    func otherJournal() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.sync { try $0.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
        let file = try queue.sync { try OpenFile($0, path: path) }
        let connection = try SQLiteReader(file, busyTimeout: 1)
        #expect(connection.walIndex == nil)
        #expect(try connection.prepare("SELECT x FROM t").step())
        #expect(try folder.contents().keys.sorted() == ["crumb.sqlite"])
    }
}
