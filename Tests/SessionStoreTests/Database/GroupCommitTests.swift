import CookieModel
import Dispatch
import Foundation
import SQLiteEngine
import Synchronization
import Testing

@testable import SessionStore

@Suite("Writers that share a commit")
struct GroupCommitTests {
    /// Runs writers that all wait for one that holds the database until they are there, or have failed before.
    private func run(
        _ count: Int, on database: SessionDatabase, _ body: @escaping @Sendable (Int) throws -> Void
    ) throws -> [Bool] {
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = Thread {
            try? database.write { _ in
                begun.signal()
                mayEnd.wait()
            }
            // If the write has failed.
            begun.signal()
        }
        holder.start()
        begun.wait()
        let ended = Mutex(0)
        let release = Thread {
            while database.writeLoad.waiting + ended.withLock({ $0 }) < count { usleep(1000) }
            mayEnd.signal()
        }
        release.start()
        return try onThreads(count) { index in
            defer { ended.withLock { $0 += 1 } }
            do {
                try body(index)
                return true
            } catch {
                return false
            }
        }
    }

    @Test("The next commit has all waiting writes, and each sees those before it")
    func together() throws {
        let folder = TemporaryFolder()
        let database = try Given.database(folder.file("crumb.sqlite"))
        let jar = try database.jar(now: Given.now)
        let before = database.writeLoad
        let done = try run(24, on: database) { try jar.receive("c\($0)=1; Path=/", "shared=\($0); Path=/") }
        #expect(done.allSatisfy { $0 })
        let after = database.writeLoad
        // One for the writer that held the others up.
        #expect((after.commits - before.commits, after.writers - before.writers) == (2, 25))
        let cookies = try Given.jar(folder.file("crumb.sqlite")).cookies().readable
        #expect(cookies.count == 25)
        #expect(Set(cookies.map(\.sequence)) == Set(1...25))
        let changes = try jar.changes(after: 0).changes
        #expect(changes.count == 48 && changes.map(\.position) == Array(1...48))
        #expect(changes.count { $0.cause == .replaced } == 23)
    }

    @Test("A write that fails in a shared commit leaves nothing and does not affect the others")
    func failing() throws {
        let folder = TemporaryFolder()
        let database = try Given.database(folder.file("crumb.sqlite"))
        let jar = try database.jar(now: Given.now)
        let context = try Given.context()
        let done = try run(12, on: database) { index in
            try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                try batch.receive(
                    ReceivedResponse(context: context, setCookie: [Octets("c\(index)=1; Path=/")]), at: Given.now)
                if index % 3 == 0 { throw SessionStoreError(.valueDamaged, "test", "thrown by the test") }
            }
        }
        #expect(done == (0..<12).map { $0 % 3 != 0 })
        let names = try Given.jar(folder.file("crumb.sqlite")).cookies().readable.map(\.name.description)
        #expect(names.sorted() == (0..<12).filter { $0 % 3 != 0 }.map { "c\($0)" }.sorted())
        #expect(try jar.changes(after: 0).changes.count == 8)
    }

    @Test("If a shared commit fails, nothing of it is stored or remembered")
    func failingCommit() throws {
        let folder = TemporaryFolder()
        let database = try Given.database(folder.file("crumb.sqlite"))
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        let hasOtherEnded = Mutex(false)
        let done = try run(2, on: database) { index in
            if index == 0 {
                // After the other one, whose changes would be noticed by themselves.
                while database.writeLoad.waiting < 1, !hasOtherEnded.withLock({ $0 }) { usleep(1000) }
                try jar.receive("b=1; Path=/")
            } else {
                defer { hasOtherEnded.withLock { $0 = true } }
                // SQLite asks for the jar of this row when it commits, and there is none.
                try database.write { connection in
                    try connection.statement("PRAGMA defer_foreign_keys = ON").run()
                    try connection.statement(
                        "INSERT INTO snapshot (jar_id, name, created_at) VALUES (99, 'orphan', 0)"
                    ).run()
                }
            }
        }
        #expect(done == [false, false])
        #expect(try jar.receive("b=2; Path=/").map(\.outcome) == [.stored])
        #expect(try Given.jar(folder.file("crumb.sqlite")).pairs() == ["a=1", "b=2"])
    }

    @Test("If a shared commit is impossible, no write is acknowledged")
    func noCommit() throws {
        let folder = TemporaryFolder()
        let path = folder.file("crumb.sqlite")
        let database = try Given.database(path, busyTimeout: 0.2)
        let jar = try database.jar(now: Given.now)
        let other = try Given.database(path)
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = Thread {
            try? other.write { _ in
                begun.signal()
                mayEnd.wait()
            }
            // If the write has failed.
            begun.signal()
        }
        holder.start()
        begun.wait()
        let codes = try onThreads(6) { index in errorCode { try jar.receive("c\(index)=1") } }
        mayEnd.signal()
        #expect(codes.allSatisfy { $0 == .databaseBusy })
        #expect(try jar.cookies().readable.isEmpty)
        try jar.receive("late=1")
        #expect(try jar.cookies().readable.count == 1)
    }
}
