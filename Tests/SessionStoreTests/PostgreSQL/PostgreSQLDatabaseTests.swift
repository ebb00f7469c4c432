import CookieModel
import Foundation
import OAuth2
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite("A database on PostgreSQL", .onlyOnServer)
struct PostgreSQLDatabaseTests {
    private let server: TestServer
    private let name: String

    init() throws {
        server = try #require(TestServer.shared)
        name = try server.newDatabase()
    }

    private func database() throws -> SessionDatabase {
        try server.open(server.target(name))
    }

    @Test("PostgreSQL accepts every statement of the store that is written in one piece")
    func statements() throws {
        let session = try PostgreSQLSession(try server.target(name))
        let folder = Repository.root.appending(path: "Sources/SessionStore", directoryHint: .isDirectory)
        let literal = #/"""\n([\s\S]*?)\n *"""|"([^"\n]*)"/#
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var count = 0
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: literal) {
                let text = match.1 ?? match.2 ?? ""
                guard text.firstMatch(of: #/^\s*(?:SELECT|INSERT INTO|UPDATE \S+ SET|DELETE FROM) /#) != nil,
                    !text.contains("\\("), !text.contains("pragma_")
                else { continue }
                count += 1
                #expect(throws: Never.self, "\(text)") { _ = try session.prepare(SQLDialect(String(text)).text) }
            }
        }
        #expect(count > 60)
    }

    @Test("A connection receives warnings of the server, but no lesser notices")
    func warnings() throws {
        let received = Mutex<[String]>([])
        var target = try server.target(name)
        target.warn = { warning in received.withLock { $0.append(warning) } }
        let session = try PostgreSQLSession(target)
        try session.enqueue("DO $$ BEGIN RAISE NOTICE 'lesser'; RAISE WARNING 'important'; RAISE INFO 'for it'; END $$")
        try session.synchronize()
        #expect(received.withLock { $0 } == ["important"])
    }

    @Test(
        "A transaction commits nothing if a statement does not change the one row that it must", arguments: [0, 1, 2])
    func oneRow(_ rows: Int64) throws {
        let database = try PostgreSQLDatabase(try server.target(name))
        func write(_ body: (any ServedConnection) throws -> Void) throws {
            try database.write(.database, isPatient: true, isRepeatable: false, prefetching: [], body)
        }
        try write { connection in
            let insertion = try connection.statement("INSERT INTO jar (name, profile, created_at) VALUES (?, ?, 0)")
            for (name, profile) in [("other", "other")] + (0..<rows).map({ ("\($0)", "counted") }) {
                insertion.bind(1, text: name)
                insertion.bind(2, text: profile)
                try insertion.run()
            }
        }
        let outcome = Result {
            try write { connection in
                try connection.statement("UPDATE jar SET next_change = 7 WHERE profile = 'other'").run()
                let update = try connection.statement("UPDATE jar SET next_change = ?2 WHERE profile = ?1")
                update.bind(1, text: "counted")
                update.bind(2, 9)
                try update.runChangingOneRow()
            }
        }
        switch outcome {
        case .success: #expect(rows == 1)
        case .failure(let failure): #expect(rows != 1 && failure as? StoreFailure == .unexpectedResult)
        }
        try write { connection in
            let count = try connection.statement("SELECT count(*) FROM jar WHERE next_change IN (7, 9)")
            #expect(try count.step() && count.int64(0) == (rows == 1 ? 2 : 0))
        }
    }

    @Test("Reads return commits of another connection, even from the cache")
    func freshness() throws {
        let (one, other) = (try database(), try database())
        let (jar, otherJar) = (try one.jar(now: Given.now), try other.jar(now: Given.now))
        for round in 0..<20 {
            try (round % 2 == 0 ? jar : otherJar).receive("a=\(round); Path=/")
            #expect(try jar.header() == "a=\(round)")
            #expect(try otherJar.header() == "a=\(round)")
        }
    }

    @Test("The database counts round trips, commits and requests for the committed state")
    func load() async throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        let before = try #require(database.serverLoad)
        #expect(before.connections == 0 && before.waiting == 0)
        try jar.receive("a=2; Path=/")
        let after = try #require(database.serverLoad)
        #expect(after.commits == before.commits + 1 && after.roundTrips > before.roundTrips)
        #expect(try database.write(.jar(jar.id)) { _ in database.serverLoad?.connections } == 1)
        for _ in 0..<3 { _ = try await database.committedState(ofJar: jar.name) }
        let states = try #require(database.committedStateLoad)
        #expect(states == (3, 3))
    }

    @Test("No update is lost if many connections write jars at once")
    func competition() throws {
        let databases = try (0..<4).map { _ in try database() }
        for index in 0..<2 { _ = try databases[0].createJar(named: "jar \(index)", now: Given.now) }
        _ = try onThreads(8) { thread in
            for round in 0..<20 {
                let jar = try databases[thread % 4].jar(named: "jar \(round % 2)", now: Given.now)
                try jar.receive("c\(thread)-\(round)=1; Path=/; Max-Age=1000")
            }
        }
        for index in 0..<2 {
            let jar = try databases[0].jar(named: "jar \(index)", now: Given.now)
            #expect(try jar.cookies().readable.count == 80)
            let changes = try jar.changes(after: 0).changes
            #expect(changes.map(\.position) == Array(1...80))
        }
    }

    @Test("The database works after the server has ended its connections")
    func lostConnections() throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        for _ in 0..<2 { #expect(try jar.header() == "a=1") }
        let session = try PostgreSQLSession(try server.target("postgres"))
        try session.enqueue("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        try session.synchronize()
        #expect(try jar.header() == "a=1")
        try jar.receive("a=2; Path=/")
        #expect(try jar.header() == "a=2")
    }

    @Test("A transaction that fails leaves nothing, and its error has the reason")
    func failures() throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        #expect {
            try database.write { connection in
                try connection.statement("UPDATE jar SET name = 'other'").run()
                try connection.statement("INSERT INTO snapshot (jar_id, name, created_at) VALUES (99, 'x', 0)").run()
            }
        } throws: { ($0 as? SessionStoreError)?.code == .jarNotFound }
        #expect(try database.existingJar(named: jar.name) != nil)
        try jar.receive("a=1; Path=/")
        #expect(try jar.header() == "a=1")
    }

    @Test(
        "A transaction that a deadlock has ended is retried, unless its body must run only once",
        arguments: [true, false])
    func deadlock(isRepeatable: Bool) throws {
        let database = try database()
        let jars = try ["one", "two"].map { try database.createJar(named: $0, now: Given.now).id }
        let runs = Mutex(0)
        let holders = DispatchGroup()
        for _ in jars { holders.enter() }
        let outcomes = try onThreads(2) { thread in
            var isFirst = true
            let code = errorCode {
                try database.write(.jar(jars[thread]), isRepeatable: isRepeatable) { connection in
                    runs.withLock { $0 += 1 }
                    if isFirst {
                        isFirst = false
                        holders.leave()
                        holders.wait()
                    }
                    let update = try connection.statement(
                        "UPDATE jar SET next_sequence = next_sequence + 1 WHERE id = ?")
                    update.bind(1, jars[1 - thread])
                    try update.run()
                }
            }
            return code?.rawValue ?? "done"
        }
        #expect(outcomes.sorted() == (isRepeatable ? ["done", "done"] : ["database-busy", "done"]))
        // Under load, the one that is repeated may meet the other once more.
        #expect(isRepeatable ? runs.withLock { $0 >= 3 } : runs.withLock { $0 == 2 })
        #expect(
            try database.number("SELECT sum(next_sequence)::bigint FROM jar WHERE name IN ('one', 'two')")
                == (isRepeatable ? 4 : 3))
    }

    @Test("The body of a batch runs once, even if a deadlock ends its transaction")
    func deadlockOfBatch() throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        let other = try PostgreSQLSession(try server.target(name))
        // The batch notices the deadlock, not the other transaction.
        for sql in ["SET deadlock_timeout = '1h'", "BEGIN", "LOCK TABLE cookie IN SHARE MODE"] {
            try other.enqueue(sql)
            try other.synchronize()
        }
        let response = ReceivedResponse(context: try Given.context(), setCookie: ["a=1; Path=/"])
        let end = DispatchGroup()
        var runs = 0
        let code = errorCode {
            try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                runs += 1
                let query = "SELECT id FROM jar WHERE id = \(jar.id) FOR UPDATE"
                end.enter()
                Thread {
                    try? other.enqueue(query)
                    try? other.synchronize()
                    end.leave()
                }.start()
                _ = try batch.receive(response, at: Given.now)
            }
        }
        end.wait()
        other.close()
        #expect(code == .databaseBusy && runs == 1)
        try jar.receive("a=2; Path=/")
        #expect(try jar.header() == "a=2")
    }

    @Test("An unknown commit is distinguished from a failed one")
    func unknownCommit() throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        let end = "SELECT pg_terminate_backend(pg_backend_pid())"
        let session = try PostgreSQLSession(try server.target(name))
        for sql in [
            "CREATE TABLE ended (id bigint)",
            "CREATE FUNCTION end_connection() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM (\(end)); "
                + "RETURN NULL; END $$",
            "CREATE CONSTRAINT TRIGGER ended_at_commit AFTER INSERT ON ended DEFERRABLE INITIALLY DEFERRED "
                + "FOR EACH ROW EXECUTE FUNCTION end_connection()",
        ] {
            try session.enqueue(sql)
            try session.synchronize()
        }
        // The server ends the connection while it commits.
        #expect {
            try database.write(.jar(jar.id)) { try $0.statement("INSERT INTO ended (id) VALUES (1)").run() }
        } throws: { ($0 as? SessionStoreError)?.code == .commitUnknown }
        try jar.receive("a=1; Path=/")
        #expect(try jar.header() == "a=1")
    }

    @Test("An identity that is too long for an index is rejected with the reason")
    func oversizedKey() throws {
        let database = try database()
        let jar = try database.jar(now: Given.now)
        var generator = SystemRandomNumberGenerator()
        // Octets that the server cannot compress.
        let long = String((0..<4000).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &generator) ?? "a" })
        let decisions = try jar.receive("\(long)=1; Path=/", "a=1; Path=/")
        #expect(decisions.map(\.outcome) == [.rejected, .stored])
        #expect(decisions[0].reasons == [.identityTooLong])
        #expect(try jar.header() == "a=1")
        // As long as can be.
        let longest = String(long.prefix(2600 - 2 * "www.example.com".utf8.count - 1))
        #expect(try jar.receive("\(longest)=1; Path=/").map(\.outcome) == [.stored])
        #expect(try jar.receive("\(longest)x=1; Path=/").map(\.outcome) == [.rejected])
        #expect {
            try jar.setHeaderField(Secret("1"), named: "X-Long", scope: Given.site + long)
        } throws: { error in
            (error as? SessionStoreError)?.code == .textInvalid && "\(error)".contains("too long")
        }
    }

    @Test("A server without free connections is distinguished from one that rejects the user")
    func notConnected() throws {
        let session = try PostgreSQLSession(server.target("postgres"))
        let user = "limited_\(name)"
        try session.enqueue("CREATE ROLE \(user) LOGIN CONNECTION LIMIT 0")
        try session.synchronize()
        defer {
            try? session.enqueue("DROP ROLE \(user)")
            try? session.synchronize()
        }
        func failure(_ database: String, user: String) throws -> StoreFailure? {
            #expect(throws: StoreFailure.self) {
                let session = try PostgreSQLSession(try server.target("\(database)?user=\(user)"))
                try session.enqueue("SELECT 1")
            }
        }
        let crowded = try #require(try failure(name, user: user))
        #expect(crowded.kind == .unavailable && crowded.code.contains("53300"))
        #expect(try failure(name, user: "nobody_\(name)")?.kind == .refused)
        #expect(try failure("no_\(name)", user: "postgres")?.kind == .refused)
    }

    @Test("The error for a missing right names the table")
    func missingRight() throws {
        let session = try PostgreSQLSession(server.target(name))
        let user = "reader_\(name)"
        for sql in ["CREATE ROLE \(user) LOGIN", "GRANT USAGE ON SCHEMA crumb TO \(user)"] {
            try session.enqueue(sql)
            try session.synchronize()
        }
        defer {
            for sql in ["REVOKE ALL ON SCHEMA crumb FROM \(user)", "DROP ROLE \(user)"] {
                try? session.enqueue(sql)
                try? session.synchronize()
            }
        }
        let failure = #expect(throws: StoreFailure.self) {
            let limited = try PostgreSQLSession(try server.target("\(name)?user=\(user)"))
            try limited.enqueue("SELECT name FROM jar")
            try limited.synchronize()
        }
        #expect(failure?.kind == .refused && failure?.code == "permission denied for table jar")
    }

    @Test(
        "A connection through a pooler is rejected, with the next step",
        .enabled(if: TestServer.pooler != nil, "CRUMB_TEST_POOLER names no pooler"))
    func pooler() throws {
        let target = try PostgreSQLTarget("\(try #require(TestServer.pooler))/\(name)")
        // Neither the first use nor a later one gets past it.
        let session = try PostgreSQLSession(target)
        for _ in 0..<2 {
            #expect(throws: StoreFailure(.pooled, code: "pooled connection")) { try session.enqueue("SELECT 1") }
        }
        #expect {
            try SessionStoreError.catching(target.name) { _ = try PostgreSQLDatabase(target) }
        } throws: { error in
            "\(error)".contains("pooler") && "\(error)".contains("Several hosts can be named in the URL")
        }
    }

    @Test("The database needs the encoding UTF8, for names in any script", arguments: ["LATIN1", "SQL_ASCII"])
    func encoding(other: String) throws {
        let session = try PostgreSQLSession(server.target("postgres"))
        let other = (name: "\(name)_\(other.lowercased())", encoding: other)
        try session.enqueue(
            "CREATE DATABASE \(other.name) TEMPLATE template0 ENCODING '\(other.encoding)' LC_COLLATE 'C' LC_CTYPE 'C'")
        try session.synchronize()
        let target = try server.target(other.name)
        let schema = try PostgreSQLSchema(target)
        func isRejected(_ error: any Error) -> Bool {
            "\(error)".contains(other.encoding) && "\(error)".contains("ENCODING 'UTF8'")
        }
        #expect { try schema.create() } throws: { isRejected($0) }
        #expect(try schema.version() == nil)
        // Neither does a service start on a schema from elsewhere.
        try schema.upgrade()
        #expect { try PostgreSQLDatabase(target) } throws: { isRejected($0) }
    }

    @Test("The database needs a schema, and an existing key")
    func preparation() throws {
        let target = try server.target("postgres")
        #expect { try PostgreSQLDatabase(target) } throws: { ($0 as? StoreFailure)?.kind == .schemaMissing }
        let folder = TemporaryFolder()
        #expect {
            try SessionDatabase(
                PostgreSQLDatabase(try server.target(name)), name: name, keys: .file(folder.file("key")),
                now: Given.now)
        } throws: { ($0 as? SessionStoreError)?.code == .keyMissing }
        #expect(try folder.contents().isEmpty)
    }
}
