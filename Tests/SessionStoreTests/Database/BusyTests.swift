import CookieModel
import Foundation
import Testing

@testable import SessionStore

@Suite("A database that another process holds")
struct BusyTests {
    private let folder = TemporaryFolder()

    /// Runs `body` while another connection is within a write transaction.
    private func whileHeld(_ path: String, _ body: () throws -> Void) throws {
        let holder = try Given.jar(path)
        try holder.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            do {
                try batch.receive(
                    ReceivedResponse(context: try Given.context("https://held.example/"), setCookie: ["h=1"]),
                    at: Given.now)
                try body()
            } catch let error as SessionStoreError {
                throw error
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test("A write that cannot wait any longer fails with a clear error, and nothing is stored")
    func timeout() throws {
        let path = folder.file("crumb.sqlite")
        let database = try Given.database(path, busyTimeout: 0.05)
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1")
        try whileHeld(path) {
            let error = #expect(throws: SessionStoreError.self) { try jar.receive("b=2") }
            #expect(error?.code == .databaseBusy && error?.subject == path)
        }
        #expect(try jar.header() == "a=1")
        try jar.receive("b=2")
        #expect(try jar.header() == "a=1; b=2")
        #expect(try jar.header("https://held.example/") == "h=1")
    }

    @Test("Readers of a locked database see committed data, and do not wait")
    func readers() throws {
        let path = folder.file("crumb.sqlite")
        let jar = try Given.database(path, busyTimeout: 0).jar(now: Given.now)
        try jar.receive("a=1")
        try whileHeld(path) { () throws in
            #expect(try jar.header() == "a=1")
            #expect(try jar.header("https://held.example/") == "")
            #expect(try jar.cookies().readable.count == 1)
            #expect(try jar.database.jars(now: Given.now).map(\.cookieCount) == [1])
        }
    }

    @Test("A header does not wait for the lock only to record when its cookies were last sent")
    func headerDoesNotWait() throws {
        let path = folder.file("crumb.sqlite")
        let jar = try Given.database(path, busyTimeout: 3600).jar(now: Given.now)
        try jar.receive("a=1")
        let later = Given.now.advanced(bySeconds: 100_000)
        let (isHeld, isRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let results = try onThreads(2) { index in
            if index == 0 {
                var wasReadInTime = false
                try whileHeld(path) {
                    isHeld.signal()
                    // If the header waits for this transaction, there is no signal.
                    wasReadInTime = isRead.wait(timeout: .now() + 3600) == .success
                }
                return wasReadInTime
            }
            isHeld.wait()
            let header = try jar.header(now: later)
            isRead.signal()
            return header == "a=1"
        }
        #expect(results == [true, true])
        #expect(try jar.header(now: later) == "a=1")
        #expect(try jar.database.number("SELECT last_access_at FROM cookie WHERE name = x'61'") == later.microseconds)
        // The timeout is back where it was.
        #expect(try jar.database.number("PRAGMA busy_timeout") == 3_600_000)
    }
}
