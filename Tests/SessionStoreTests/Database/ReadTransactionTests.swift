import CookieModel
import OAuth2
import Synchronization
import Testing

@testable import SQLiteEngine
@testable import SessionStore

@Suite("A read of several statements")
struct ReadTransactionTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    /// Calls `body` with another connection once, when the first one begins a statement that contains `text`.
    private func besides<Result>(
        _ text: String, of database: SessionDatabase, _ body: @escaping (SessionDatabase) throws -> Void,
        in read: () throws -> Result
    ) throws -> Result {
        let other = try Given.database(path)
        let hasRun = Mutex(false)
        let failure = Mutex<(any Error)?>(nil)
        try database.read { connection in
            connection.file?.database.trace { sql in
                let isFirst = sql.contains(text) && !hasRun.withLock { $0 }
                guard isFirst else { return }
                hasRun.withLock { $0 = true }
                do { try body(other) } catch { failure.withLock { $0 = error } }
            }
        }
        defer { try? database.read { $0.file?.database.trace(nil) } }
        let result = try read()
        if let error = failure.withLock({ $0 }) { throw error }
        #expect(hasRun.withLock { $0 })
        return result
    }

    @Test("A read of several statements sees one commit; later commits appear with the next read")
    func oneCommit() throws {
        let database = try Given.database(path)
        let jar = try Given.jar(path)
        let counts = try database.read { connection in
            let rows = CookieRows(database: connection, jarID: jar.id)
            let before = try rows.count()
            try jar.receive("a=1; Path=/")
            return [before, try rows.count()]
        }
        #expect(counts == [0, 0])
        #expect(try database.number("SELECT count(*) FROM cookie") == 1)
    }

    @Test("A read returns tokens with the key that they are bound to, even if a login replaces them meanwhile")
    func credential() throws {
        let database = try Given.database(path)
        let keys = [SigningKey(), SigningKey()]
        func logIn(_ number: Int, _ database: SessionDatabase) throws {
            let tokens = TokenSet(
                accessToken: Secret("token \(number)"), tokenType: .dpop, receivedAt: Given.now)
            let settings = ProfileSettings(grant: .tokenExchange, endpoints: [:])
            try database.tokens.put(
                tokens, for: Profile(id: ProfileID(issuer: "", clientID: "", account: ""), name: "p"),
                credentials: ProfileCredentials(settings: settings, proofKey: keys[number].secret), now: Given.now)
        }
        try logIn(0, database)
        let credential = try besides("proof_key", of: database, { try logIn(1, $0) }) {
            try database.tokens.credential("p")
        }
        #expect(credential.tokens.accessToken == Secret("token 0") && credential.proofKey == keys[0])
        let next = try database.tokens.credential("p")
        #expect(next.tokens.accessToken == Secret("token 1") && next.proofKey == keys[1])
    }

    @Test("A read returns a page of the journal with an end, even if entries are added meanwhile")
    func page() throws {
        let database = try Given.database(path)
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        let page = try besides(
            "ORDER BY cookie_change.id LIMIT", of: database,
            { other in
                try other.jar(now: Given.now).receive("b=1; Path=/")
            }
        ) {
            try jar.changes(after: 0)
        }
        #expect(page.changes.map(\.position) == [1] && page.position == 1 && !page.hasMore)
        #expect(try jar.changes(after: page.position).changes.map(\.position) == [2])
    }

    @Test("A read that fails ends its transaction, so the next read and the next write work")
    func failing() throws {
        let database = try Given.database(path)
        #expect(errorCode { try database.tokens.get("none") } == .tokenNotFound)
        #expect(errorCode { try database.read { _ = try $0.statement("SELECT none FROM nothing").step() } } != nil)
        try database.jar(now: Given.now).receive("a=1; Path=/")
        #expect(try database.number("SELECT count(*) FROM cookie") == 1)
    }
}
