import CSQLite
import Dispatch
import Foundation
import SQLite
import Synchronization
import Testing

@Suite("Connections of SQLite")
struct DatabaseConnectionTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sqlite-\(UUID().uuidString)")
    private var path: String { folder.appending(path: "test.sqlite").path }

    /// Calls `body` with the path of a new database, in a folder of its own.
    private func withDatabase(_ sql: String = "", _ body: (DatabaseConnection) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = try DatabaseConnection(path: path)
        try database.execute(sql)
        try body(database)
    }

    private func code(_ body: () throws -> Void) -> Int32? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DatabaseError)?.code
        }
    }

    @Test("An error has the extended code of what was violated")
    func constraints() throws {
        let database = try DatabaseConnection(path: ":memory:")
        try database.execute(
            """
            CREATE TABLE p (id INTEGER PRIMARY KEY, u UNIQUE, n NOT NULL DEFAULT 1, c CHECK (c > 0));
            CREATE TABLE child (p REFERENCES p (id));
            INSERT INTO p (id, u) VALUES (1, 1)
            """)
        let codes: [(String, Int32)] = [
            ("INSERT INTO p (id) VALUES (1)", 6), ("INSERT INTO p (u) VALUES (1)", 8),
            ("INSERT INTO p (n) VALUES (NULL)", 5), ("INSERT INTO p (c) VALUES (0)", 1),
            ("INSERT INTO child VALUES (9)", 3),
        ]
        for (sql, number) in codes {
            #expect(code { try database.execute(sql) } == SQLITE_CONSTRAINT | number << 8, "\(sql)")
        }
        #expect(code { try database.execute("SELECT none FROM p") } == SQLITE_ERROR)
        #expect(try database.number("SELECT count(*) FROM p") == 1)
        let error = #expect(throws: DatabaseError.self) { try database.execute("SELECT none FROM p") }
        #expect(error?.description == "SQLite error 1: no such column: none")
    }

    @Test("Text in double quotes is a name")
    func quotes() throws {
        let database = try DatabaseConnection(path: ":memory:")
        #expect(code { try database.execute(#"SELECT "none""#) } == SQLITE_ERROR)
        #expect(code { try database.execute(#"CREATE TABLE t (a CHECK (a <> "none"))"#) } == SQLITE_ERROR)
    }

    @Test("One statement is prepared; several are executed, with comments between and after them")
    func several() throws {
        let database = try DatabaseConnection(path: ":memory:")
        for empty in ["", " ", "-- nothing", ";"] {
            #expect(code { _ = try database.prepare(empty) } == SQLITE_ERROR, "\(empty)")
            try database.execute(empty)
        }
        for several in ["SELECT 1; SELECT 2", "SELECT 1; none"] {
            #expect(code { _ = try database.prepare(several) } == SQLITE_MISUSE)
            #expect(code { _ = try database.cachedStatement(several) } == SQLITE_MISUSE)
        }
        #expect(try database.number("SELECT 1; -- one\n ") == 1)
        try database.execute("CREATE TABLE t (x); -- a table\n; /* and */ INSERT INTO t VALUES (1); ")
        #expect(
            code { try database.execute("INSERT INTO t VALUES (2); none; INSERT INTO t VALUES (3)") } == SQLITE_ERROR)
        #expect(try database.number("SELECT sum(x) FROM t") == 3)
    }

    @Test("A lock of another connection is waited for as long as the connection was told")
    func busy() throws {
        try withDatabase("CREATE TABLE t (x)") { database in
            let clock = ContinuousClock()
            for (timeout, expected) in [(0, 0.0..<1), (0.3, 0.3..<10)] as [(Double, Range<Double>)] {
                let other = try DatabaseConnection(path: path, busyTimeout: timeout)
                try database.execute("BEGIN IMMEDIATE")
                let time = clock.measure {
                    let error = #expect(throws: DatabaseError.self) { try other.execute("INSERT INTO t VALUES (1)") }
                    #expect(error?.isBusy == true && error?.code == SQLITE_BUSY)
                }
                #expect(expected.contains(time / .seconds(1)), "\(time)")
                try database.execute("COMMIT")
                try other.execute("INSERT INTO t VALUES (1)")
            }
            #expect(try database.number("SELECT count(*) FROM t") == 2)
        }
    }

    @Test("An interrupted statement fails, and the connection goes on")
    func interrupted() throws {
        let database = try DatabaseConnection(path: ":memory:")
        try database.execute("CREATE TABLE t (x)")
        // Interrupts at the first call, which is not the last one.
        sqlite3_progress_handler(database.pointer, 100, { _ in 1 }, nil)
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) INSERT INTO t SELECT x FROM n"
        #expect(code { try database.execute(endless) } == SQLITE_INTERRUPT)
        #expect(code { try database.transaction(.immediate) { try database.execute(endless) } } == SQLITE_INTERRUPT)
        sqlite3_progress_handler(database.pointer, 0, nil, nil)
        #expect(!database.isInTransaction)
        #expect(try database.number("SELECT count(*) FROM t") == 0)
    }

    @Test("A closed connection fails, as often as it is asked, and can be closed again")
    func closed() throws {
        let database = try DatabaseConnection(path: ":memory:")
        _ = try database.cachedStatement("SELECT 1")
        _ = try database.prepare("SELECT 2").step()
        try database.close()
        try database.close()
        #expect(!database.isInTransaction)
        for _ in 0..<2 {
            #expect(code { try database.execute("SELECT 1") } == SQLITE_MISUSE)
            #expect(code { _ = try database.cachedStatement("SELECT 1") } == SQLITE_MISUSE)
            #expect(code { _ = try database.read { 1 } } == SQLITE_MISUSE)
            #expect(code { try database.truncateLog() } == SQLITE_MISUSE)
            #expect(code { try database.backUp(to: database) } == SQLITE_MISUSE)
        }
    }

    @Test("What is not a database, and a file that cannot be opened, is rejected")
    func notOpened() throws {
        try withDatabase { _ in
            let other = folder.appending(path: "other").path
            try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: other))
            #expect(code { _ = try DatabaseConnection(path: other) } == SQLITE_NOTADB)
            let missing = folder.appending(path: "none").path
            #expect(code { _ = try DatabaseConnection(path: missing, isReadOnly: true) } == SQLITE_CANTOPEN)
            #expect(!FileManager.default.fileExists(atPath: missing))
            #expect(code { _ = try DatabaseConnection(path: "\(missing)/none") } == SQLITE_CANTOPEN)
        }
    }

    @Test("A virtual table keeps its own statements until the connection closes")
    func virtualTable() throws {
        let database = try DatabaseConnection(path: ":memory:")
        guard code({ try database.execute("CREATE VIRTUAL TABLE r USING rtree(id, low, high)") }) == nil else { return }
        try database.execute("INSERT INTO r VALUES (1, 2, 3)")
        #expect(try database.prepare("SELECT id FROM r WHERE low < 5").step())
        try database.close()
    }

    @Test("A transaction is rolled back on any error, and a reading one rejects changes")
    func transactions() throws {
        struct Failure: Error {}
        try withDatabase("CREATE TABLE t (x)") { database in
            #expect(throws: Failure.self) {
                try database.transaction(.immediate) {
                    try database.execute("INSERT INTO t VALUES (1)")
                    throw Failure()
                }
            }
            #expect(!database.isInTransaction)
            #expect(code { try database.transaction(.deferred) { try database.execute("ROLLBACK") } } == SQLITE_ABORT)
            let insert = "INSERT INTO t VALUES (2)"
            #expect(code { try database.read { try database.execute(insert) } } == SQLITE_READONLY)
            try database.transaction(.immediate) { try database.execute(insert) }
            let reader = try DatabaseConnection(path: path, isReadOnly: true)
            #expect(try reader.read { try reader.number("SELECT x FROM t") } == 2)
            #expect(code { try reader.execute(insert) } == SQLITE_READONLY)
            #expect(try database.hasTable("T") && !database.hasTable("none"))
        }
    }

    @Test("A backup has the contents of the log, and a truncated log is empty")
    func backup() throws {
        try withDatabase("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (7)") { database in
            let copy = try DatabaseConnection(path: folder.appending(path: "copy").path)
            try copy.execute("CREATE TABLE gone (x)")
            try database.read { try database.backUp(to: copy) }
            #expect(try copy.number("SELECT x FROM t") == 7)
            #expect(try !copy.hasTable("gone"))
            let log = { try FileManager.default.attributesOfItem(atPath: "\(path)-wal")[.size] as? Int }
            #expect(try log() != 0)
            // Another connection that reads keeps the log.
            let other = try DatabaseConnection(path: path)
            try other.read {
                _ = try other.number("SELECT x FROM t")
                try database.execute("INSERT INTO t VALUES (8)")
                #expect(code { try database.truncateLog() } == SQLITE_BUSY)
            }
            try database.truncateLog()
            #expect(try log() == 0)
        }
    }

    @Test("Threads use the connection of a queue one at a time")
    func queue() throws {
        let queue = try DatabaseQueue(path: ":memory:")
        try queue.sync { try $0.execute("CREATE TABLE t (x); INSERT INTO t VALUES (0)") }
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 200) { _ in
            do {
                try queue.sync { database in
                    let before = try database.number("SELECT x FROM t") ?? 0
                    try database.execute("UPDATE t SET x = \(before + 1)")
                }
            } catch {
                failures.withLock { $0 += 1 }
            }
        }
        #expect(failures.withLock { $0 } == 0)
        #expect(try queue.read { try $0.number("SELECT x FROM t") } == 200)
        try queue.close()
        #expect(code { try queue.read { _ = $0 } } == SQLITE_MISUSE)
    }
}
