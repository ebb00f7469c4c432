import CookieModel
import SessionStore
import Synchronization

/// Stores the logins of a ``LoginRegistry``. An expired login is unknown.
protocol PendingLoginStore: Sendable {
    /// Adds a login, unless `limit` logins are stored.
    func add(_ login: PendingLogin, limit: Int, now: Timestamp) throws -> Bool
    /// The login with an identifier.
    func pendingLogin(_ id: String, now: Timestamp) throws -> PendingLogin?
    /// The login whose redirect has a state with this digest.
    func pendingLogin(withStateDigest digest: [UInt8], now: Timestamp) throws -> PendingLogin?
    /// Changes a login while nothing else does; returns `nil` if it is unknown.
    func changePendingLogin<Result>(
        _ id: String, now: Timestamp, _ change: (inout PendingLogin) throws -> Result
    ) throws -> Result?
    /// Removes a login, and returns whether there was one.
    func removePendingLogin(_ id: String, now: Timestamp) throws -> Bool
}

extension SessionDatabase: PendingLoginStore {}

/// Logins in memory, for a service that has its database to itself.
final class LoginMemory: PendingLoginStore {
    private let logins = Mutex<[String: PendingLogin]>([:])

    func add(_ login: PendingLogin, limit: Int, now: Timestamp) -> Bool {
        withLogins(now) { logins in
            guard logins.count < limit else { return false }
            logins[login.id] = login
            return true
        }
    }

    func pendingLogin(_ id: String, now: Timestamp) -> PendingLogin? {
        withLogins(now) { $0[id] }
    }

    func pendingLogin(withStateDigest digest: [UInt8], now: Timestamp) -> PendingLogin? {
        withLogins(now) { logins in logins.values.first { $0.stateDigest == digest } }
    }

    func changePendingLogin<Result>(
        _ id: String, now: Timestamp, _ change: (inout PendingLogin) throws -> Result
    ) rethrows -> Result? {
        try withLogins(now) { logins in
            guard var login = logins[id] else { return nil }
            let result = try change(&login)
            logins[id] = login
            return result
        }
    }

    func removePendingLogin(_ id: String, now: Timestamp) -> Bool {
        withLogins(now) { $0.removeValue(forKey: id) != nil }
    }

    /// Forgets the expired logins before each use.
    private func withLogins<Result>(
        _ now: Timestamp, _ body: (inout [String: PendingLogin]) throws -> Result
    ) rethrows -> Result {
        try logins.withLock { logins in
            logins = logins.filter { $0.value.expiry >= now }
            return try body(&logins)
        }
    }
}
