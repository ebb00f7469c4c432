import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import SessionStore
import Synchronization
import Testing

@testable import SessionService

/// Logins that services share are rows of a server, whose answer no thread of Swift's may wait for.
@Suite("The threads that wait for logins in progress", .timeLimit(.minutes(10)))
struct LoginThreadTests {
    /// Logins in memory that note whether the thread of a task calls them.
    private final class WatchedLogins: PendingLoginStore {
        private let memory = LoginMemory()
        private let noted = Mutex<(all: [String], byTasks: [String])>(([], []))

        /// The names of the calls, and of those that a task has made itself.
        var calls: (all: [String], byTasks: [String]) { noted.withLock { $0 } }

        private func note(_ name: String = #function) {
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            noted.withLock { noted in
                noted.all.append(name)
                if isInTask { noted.byTasks.append(name) }
            }
        }

        func add(_ login: PendingLogin, limit: Int, now: Timestamp) -> Bool {
            note()
            return memory.add(login, limit: limit, now: now)
        }

        func pendingLogin(_ id: String, now: Timestamp) -> PendingLogin? {
            note()
            return memory.pendingLogin(id, now: now)
        }

        func pendingLogin(withStateDigest digest: [UInt8], now: Timestamp) -> PendingLogin? {
            note()
            return memory.pendingLogin(withStateDigest: digest, now: now)
        }

        func changePendingLogin<Result>(
            _ id: String, now: Timestamp, _ change: (inout PendingLogin) throws -> Result
        ) rethrows -> Result? {
            note()
            return try memory.changePendingLogin(id, now: now, change)
        }

        func removePendingLogin(_ id: String, now: Timestamp) -> Bool {
            note()
            return memory.removePendingLogin(id, now: now)
        }
    }

    private let logins = WatchedLogins()

    /// Begins a login, and returns the answer.
    private func begin(_ flow: String, _ client: ServiceClient) async throws -> [String: Any] {
        let begun = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"\#(flow)"}"#)
        #expect(begun.status == 201, "\(begun.text)")
        return begun.object
    }

    @Test("The service reports, confirms, ends and cancels logins on threads that may block")
    func threads() async throws {
        let fixture = try ServiceFixture(logins: LoginRegistry(in: logins, isShared: true))
        try await fixture.run { client in
            let browser = try await begin("browser", client)
            let url = URLComponents(string: try #require(browser["authorizationURL"] as? String))
            let state = try #require(url?.queryItems?.first { $0.name == "state" }?.value)
            #expect(try await client.send(.get, "/v1/logins/callback?code=c&state=\(state)").status == 200)
            let device = try #require(try await begin("device", client)["id"] as? String)
            while try await client.send(.get, "/v1/logins/\(device)").object["state"] as? String == "pending" {}
            let cancelled = try #require(try await begin("browser", client)["id"] as? String)
            #expect(try await client.send(.delete, "/v1/logins/\(cancelled)").status == 204)
        }
        let (all, byTasks) = logins.calls
        // A login in a browser is taken, confirmed and ended, and the other one is confirmed and ended.
        #expect(all.filter { $0.hasPrefix("change") }.count == 5)
        #expect(byTasks == [])
    }
}
