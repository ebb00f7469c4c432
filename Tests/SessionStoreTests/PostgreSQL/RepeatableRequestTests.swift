import CookieModel
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "Writes that are sent again to another service",
    .onlyOnServer)
struct RepeatableRequestTests {
    private let one: SessionDatabase
    private let other: SessionDatabase

    init() throws {
        let shared = try SharedDatabase()
        (one, other) = (try shared.open(), try shared.open())
    }

    private func attempt(_ key: String = "key", _ request: String = "request") -> RepeatableRequest {
        RepeatableRequest(key: Array(key.utf8), request: Array(request.utf8))
    }

    private func begin(
        _ request: RepeatableRequest, in database: SessionDatabase, after seconds: Int64 = 0, lifetime: Int64 = 3600
    ) throws -> RepeatableRequest.State {
        let now = Given.now.advanced(bySeconds: seconds)
        return try database.begin(request, until: now.advanced(bySeconds: lifetime), now: now)
    }

    /// Creates a jar on behalf of an attempt.
    private func createJar(_ name: String, for request: RepeatableRequest, in database: SessionDatabase) throws {
        try RepeatableRequest.$current.withValue([request]) {
            _ = try database.createJar(named: name, now: Given.now)
        }
    }

    @Test("Every service answers a repeated write as the first time")
    func answered() throws {
        let first = attempt()
        #expect(try begin(first, in: one) == .new)
        #expect(try begin(attempt(), in: other) == .running)
        #expect(try begin(attempt("key", "another"), in: other) == .different)
        #expect(try begin(attempt("another key"), in: other) == .new)
        try createJar("new", for: first, in: one)
        try one.end(first, answer: Array("answer".utf8))
        for database in [one, other] {
            #expect(try begin(attempt(), in: database, after: 3599) == .answered("answer"))
        }
        #expect(try begin(attempt(), in: other, after: 3601) == .new)
    }

    @Test("The answer to a repeatable write is sealed, and lost rather than wrong if its row was changed")
    func sealed() throws {
        let first = attempt()
        _ = try begin(first, in: one)
        try one.end(first, answer: Array("answer".utf8))
        try one.execute("UPDATE repeatable_request SET key = \(Given.octets("moved"))")
        #expect(try begin(attempt("moved"), in: one) == .committed)
    }

    @Test("A repeatable write starts again after an attempt that has done nothing")
    func forgotten() throws {
        let first = attempt()
        #expect(try begin(first, in: one) == .new)
        try one.forget(first)
        #expect(try begin(attempt(), in: other) == .new)
    }

    @Test("A repeatable write is settled after a commit that was not answered", arguments: [true, false])
    func unknownCommit(isCommitted: Bool) throws {
        let first = attempt()
        #expect(try begin(first, in: one) == .new)
        if isCommitted { try createJar("new", for: first, in: one) }
        try one.end(first, answer: nil)
        #expect(try begin(attempt(), in: other, after: 1) == (isCommitted ? .committed : .new))
    }

    @Test(
        "A repeatable write is taken over from a service that has ended, which can no longer commit",
        arguments: [true, false])
    func takenOver(isCommitted: Bool) throws {
        let first = attempt()
        #expect(try begin(first, in: one) == .new)
        if isCommitted { try createJar("first", for: first, in: one) }
        #expect(try begin(attempt(), in: other, after: 30) == .running)
        let second = attempt()
        #expect(try begin(second, in: other, after: 31) == (isCommitted ? .committed : .new))
        guard !isCommitted else { return }
        #expect(throws: SessionStoreError.self) { try createJar("first", for: first, in: one) }
        try createJar("second", for: second, in: other)
        // The first attempt has no say any more.
        try one.forget(first)
        try one.end(first, answer: Array("late".utf8))
        try other.end(second, answer: Array("answer".utf8))
        #expect(try begin(attempt(), in: one, after: 32) == .answered("answer"))
        #expect(try one.jars(now: Given.now).map(\.name) == ["second"])
    }

    @Test("Of many attempts at a repeatable write that begin at once, one takes it")
    func competition() throws {
        let states = try onThreads(16) { thread in try begin(attempt(), in: thread % 2 == 0 ? one : other) }
        #expect(states.filter { $0 == .new }.count == 1 && states.filter { $0 == .running }.count == 15)
    }

    @Test("Expired repeatable writes are removed when others come")
    func expired() throws {
        for number in 0..<6 { _ = try begin(attempt("\(number)"), in: one, lifetime: 10) }
        for number in 0..<3 { _ = try begin(attempt("late \(number)"), in: one, after: 20) }
        let count = try one.read { connection in
            try connection.statement("SELECT count(*) FROM repeatable_request").returnedNumber()
        }
        #expect(count == 3)
    }
}
