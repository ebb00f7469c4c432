import CookieModel
import SQLiteEngine
import Testing

@testable import SessionStore

@Suite("The state that a transaction leaves in memory for the next")
struct WriterMemoryTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    /// What may happen between two responses of one site.
    enum Interference: String, CaseIterable {
        case otherConnection, otherJarObject, removal, statement, touch, failedBatch, savedSession, key
    }

    private func interfere(_ interference: Interference, _ jar: CookieJar) throws {
        switch interference {
        case .otherConnection:
            try Given.jar(path).receive("a=; Path=/; Max-Age=0")
        case .otherJarObject:
            try jar.database.jar(now: Given.now).receive("a=; Path=/; Max-Age=0")
        case .removal:
            try jar.removeCookies(CookieFilter(), now: Given.now)
        case .statement:
            try jar.database.execute("DELETE FROM cookie")
        case .touch:
            try jar.database.execute("UPDATE cookie SET last_access_at = 0, created_at = 5")
        case .failedBatch:
            let response = ReceivedResponse(
                context: try Given.context(), setCookie: ["a=; Path=/; Max-Age=0", "new=1; Path=/"])
            _ = errorCode {
                try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                    try batch.receive(response, at: Given.now)
                    throw SessionStoreError(.diskFull, "test", "thrown by the test")
                }
            }
        case .savedSession:
            try jar.saveSession(named: "saved", now: Given.now)
            try jar.receive("a=2; Path=/")
            _ = try jar.restoreSession(named: "saved", now: Given.now)
        case .key:
            try jar.database.write { database in
                try SealingKeyRows(database: database).append(try Given.key(9), now: Given.now)
            }
        }
    }

    @Test(
        "The writer's memory matches the rows, whichever process has changed them meanwhile",
        arguments: Interference.allCases)
    func interference(interference: Interference) throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/")
        try jar.receive("b=1; Path=/")
        try interfere(interference, jar)
        let next = Result { try jar.receive("a=3; Path=/", "new=2; Path=/", now: Given.now.advanced(bySeconds: 1)) }
        if interference == .key {
            // The source does not have the new key: nothing may be sealed under the old one any more.
            #expect(errorCode { try next.get() } == .keyChanged)
            return
        }
        let decisions = try next.get()
        let isGone = [.otherConnection, .otherJarObject, .removal, .statement].contains(interference)
        #expect(decisions.map(\.outcome) == [isGone ? .stored : .replaced, .stored])
        // On a server, the journal tells what has changed. Nothing but a test changes this without it.
        if interference == .touch, TestServer.shared == nil {
            #expect(decisions[0].cookie?.creation == Timestamp(microseconds: 5))
        }
        // A jar that remembers nothing finds the same.
        let expected = try Given.jar(path).contents()
        #expect(try jar.contents() == expected)
        #expect(expected.count { $0.name == "a" && $0.value == "3" } == 1)
        #expect(Set(expected.map(\.sequence)).count == expected.count)
    }

    @Test(
        "The writer's memory detects a change outside of batches before the next transaction, even if batches share one",
        .onlyOnSQLite("each transaction of a server has a memory of its own"))
    func otherChanges() throws {
        let database = try Given.database(path)
        let jar = try database.jar(now: Given.now)
        try database.write { connection in
            let memory = WriterMemory(database.keyRing)
            func begins() -> Bool {
                defer { memory.commit(connection) }
                return memory.isCurrent(connection)
            }
            #expect([begins(), begins()] == [false, true])
            try SealingKeyRows(database: connection).append(try Given.key(), now: Given.now)
            #expect([begins(), begins()] == [false, true])
            #expect(memory.isCurrent(connection))
            try SealingKeyRows(database: connection).append(try Given.key(), now: Given.now)
            memory.keep(memory.take(jar.id, connection), ofJar: jar.id, connection)
            memory.commit(connection)
            #expect([begins(), begins()] == [false, true])
            memory.rollBack(connection)
            #expect([begins(), begins()] == [false, true])
        }
    }

    @Test("The writer's memory has cookies that have expired since: a new cookie uses the waiting row")
    func expiry() throws {
        let jar = try Given.jar(path)
        try jar.receive("short=1; Path=/; Max-Age=10", "long=1; Path=/; Max-Age=100")
        let later = Given.now.advanced(bySeconds: 11)
        let decisions = try jar.receive("short=2; Path=/", now: later)
        #expect(decisions.map(\.outcome) == [.stored])
        #expect(
            try jar.changes(after: 2).changes.map { "\($0.cause.identifier) \($0.cookie.name)" }
                == ["stored short"])
        #expect(try jar.database.number("SELECT count(*) FROM cookie") == 2)
    }

    @Test("The writer's memory separates jars and policies on one connection")
    func jars() throws {
        let database = try Given.database(path)
        var strict = CookiePolicy()
        strict.secureConnections = .cryptographic
        let jars = try ["one", "two"].map { try database.jar(named: $0, now: Given.now) }
        let strictJar = try database.jar(named: "one", policy: strict, now: Given.now)
        for round in 0..<3 {
            for jar in jars {
                let outcome = try jar.receive("a=\(round); Path=/; Secure", from: "http://localhost/").map(\.outcome)
                #expect(outcome == [round == 0 ? .stored : .replaced])
            }
            let refused = try strictJar.receive("a=x; Path=/; Secure", from: "http://localhost/")
            #expect(refused.map(\.outcome) == [.rejected])
        }
        #expect(try jars.map { try $0.pairs() } == [["a=2"], ["a=2"]])
    }

    @Test("The writer's memory is limited, and decisions are the same with more sites and jars than it keeps")
    func bounds() throws {
        let database = try Given.database(path)
        let sites = try (0..<600).map {
            ReceivedResponse(context: try Given.context("https://site\($0).example/"), setCookie: ["a=1"])
        }
        for number in 0..<35 {
            let jar = try database.jar(named: "jar \(number)", now: Given.now)
            for outcome in [StorageDecision.Outcome.stored, .replaced] {
                let outcomes = try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                    var outcomes: Set<StorageDecision.Outcome> = []
                    for site in number == 0 ? sites : Array(sites.prefix(3)) {
                        outcomes.formUnion(try batch.receive(site, at: Given.now).map(\.outcome))
                    }
                    return outcomes
                }.result
                #expect(outcomes == [outcome])
            }
        }
    }

    @Test("Statements bind octets of every length unchanged, even if they do not fit a buffer")
    func lengths() throws {
        let jar = try Given.jar(path)
        let lengths = [0, 1, 100, 1900, 1990, 2015, 2048, 4000]
        let lines = lengths.map { Octets("n\($0)=" + String(repeating: "v", count: $0) + "; Path=/") }
        for time in 0..<2 {
            try jar.receive(
                ReceivedResponse(context: try Given.context(), setCookie: lines),
                now: Given.now.advanced(bySeconds: Int64(time)))
        }
        let cookies = try Given.jar(path).contents()
        #expect(cookies.map(\.value.count) == lengths)
        #expect(cookies.allSatisfy { $0.value.allSatisfy { $0 == UInt8(ascii: "v") } })
        let path = "/" + String(repeating: "p", count: 1000)
        try jar.receive("deep=1; Path=\(path)", from: "https://www.example.com\(path)/")
        #expect(try jar.header("https://www.example.com\(path)/").hasPrefix("deep=1; "))
    }
}
