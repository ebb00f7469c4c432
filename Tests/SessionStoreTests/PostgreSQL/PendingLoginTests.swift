import CookieModel
import OAuth2
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

@Suite(
    "Logins in progress that services share",
    .onlyOnServer)
struct PendingLoginTests {
    private let one: SessionDatabase
    private let other: SessionDatabase

    init() throws {
        let shared = try SharedDatabase()
        (one, other) = (try shared.open(), try shared.open())
    }

    private func login(_ id: String = "a", state: String? = nil, lifetime: Int64 = 900) -> PendingLogin {
        PendingLogin(
            id: id, expiry: Given.now.advanced(bySeconds: lifetime), stateDigest: state.map { Array($0.utf8) },
            content: Secret("content of \(id)"))
    }

    private func add(_ login: PendingLogin, limit: Int = 10, after seconds: Int64 = 0) throws -> Bool {
        try one.add(login, limit: limit, now: Given.now.advanced(bySeconds: seconds))
    }

    private func content(_ id: String, after seconds: Int64 = 0) throws -> String? {
        try other.pendingLogin(id, now: Given.now.advanced(bySeconds: seconds))?.content.exposedText
    }

    private func count() throws -> Int64 {
        try one.read { try $0.statement("SELECT count(*) FROM pending_login").returnedNumber() }
    }

    @Test("Pending logins are found by their identifier, and by their state until they have ended")
    func found() throws {
        #expect(try add(login(state: "state")))
        #expect(try content("a") == "content of a" && content("b") == nil)
        let digest = Array("state".utf8)
        #expect(try other.pendingLogin(withStateDigest: digest, now: Given.now)?.id == "a")
        let result = try other.changePendingLogin("a", now: Given.now) { login in
            login.content = Secret("new")
            login.stateDigest = nil
            return "result"
        }
        #expect(result == "result")
        #expect(try content("a") == "new")
        #expect(try one.pendingLogin(withStateDigest: digest, now: Given.now) == nil)
        #expect(try other.changePendingLogin("b", now: Given.now) { _ in true } == nil)
        #expect(try other.removePendingLogin("a", now: Given.now))
        #expect(try one.removePendingLogin("a", now: Given.now) == false && content("a") == nil)
    }

    @Test("One service at a time changes a pending login")
    func competition() throws {
        #expect(try add(login()))
        let taken = try onThreads(16) { thread in
            try (thread % 2 == 0 ? one : other).changePendingLogin("a", now: Given.now) { login in
                guard login.content == Secret("content of a") else { return false }
                login.content = Secret("taken")
                return true
            }
        }
        #expect(taken.filter { $0 == true }.count == 1 && taken.filter { $0 == false }.count == 15)
    }

    @Test(
        "Pending logins are sealed to their row, and unknown if it was changed",
        arguments: [
            "content = (SELECT content FROM pending_login WHERE id = 'b')", "expires_at = expires_at + 1",
            "state_digest = NULL", "id = 'c'", "content = substr(content, 2)",
        ])
    func sealed(change: String) throws {
        #expect(try add(login("a", state: "state a")) && add(login("b", state: "state b")))
        let shown = try one.read { connection in
            try connection.statement("SELECT content FROM pending_login").rows { Octets($0.bytes(0)) }
        }
        #expect(shown.count == 2 && !shown.contains { "\($0)".contains("content") })
        try one.execute("UPDATE pending_login SET \(change) WHERE id = 'a'")
        for id in ["a", "c"] {
            #expect(try content(id) == nil)
            #expect(try one.changePendingLogin(id, now: Given.now) { _ in true } == nil)
        }
        #expect(try other.pendingLogin(withStateDigest: Array("state a".utf8), now: Given.now) == nil)
        #expect(try content("b") == "content of b")
    }

    @Test("Pending logins expire, and are removed when others are added")
    func expired() throws {
        for number in 0..<6 { #expect(try add(login("\(number)", lifetime: 10))) }
        #expect(try content("0", after: 10) != nil && content("0", after: 11) == nil)
        let later = Given.now.advanced(bySeconds: 11)
        #expect(try other.changePendingLogin("0", now: later) { _ in true } == nil)
        #expect(try other.removePendingLogin("0", now: later) == false)
        for number in 0..<3 { #expect(try add(login("late \(number)"), after: 20)) }
        #expect(try count() == 3)
    }

    @Test("Pending logins are removed after a restore, because their codes may have been redeemed")
    func restored() throws {
        #expect(try add(login()))
        _ = try one.tokens.quarantine(now: Given.now)
        #expect(try content("a") == nil && count() == 0)
    }

    @Test("The number of pending logins is limited; expired ones do not count")
    func limited() throws {
        for number in 0..<5 { #expect(try add(login("\(number)", lifetime: 10), limit: 5)) }
        #expect(try other.add(login("more"), limit: 5, now: Given.now) == false && count() == 5)
        #expect(try add(login("more"), limit: 5, after: 11))
    }
}
