import CookieModel
import HTTPTypes
import OAuth2
import SessionOperations
import Synchronization

/// The logins under way, and those that ended lately: so many, for so long, in memory.
final class LoginRegistry: Sendable {
    /// How many there are at most.
    static let limit = 64
    /// How long one is known, in seconds.
    static let lifetime: Int64 = 900

    /// A login that waits for a browser to come back.
    struct BrowserVisit: Sendable {
        let conversation: TokenLoginConversation
        let attempt: AuthorizationAttempt
        let redirectURI: String
    }

    /// How far a login has come.
    enum State: Sendable {
        /// The user has something to do.
        case pending
        /// The tokens are kept.
        case done
        /// It came to nothing.
        case failed(ServiceProblem)
    }

    /// A login.
    struct Login: Sendable {
        let id: String
        /// The name to keep the tokens under.
        let name: String
        let expiry: Timestamp
        var state = State.pending
        fileprivate(set) var visit: BrowserVisit?
        fileprivate var task: Task<Void, Never>?
    }

    private let logins = Mutex<[String: Login]>([:])

    /// Begins a login under an identifier that nobody can guess.
    func begin(_ name: String, visit: BrowserVisit? = nil, until expiry: Timestamp?, now: Timestamp) throws -> Login {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }
        let latest = now.advanced(bySeconds: LoginRegistry.lifetime)
        let login = Login(id: digits.joined(), name: name, expiry: min(expiry ?? latest, latest), visit: visit)
        try logins.withLock { logins in
            LoginRegistry.forgetOld(&logins, now)
            guard logins.count < LoginRegistry.limit else {
                throw ServiceProblem(
                    .tooManyRequests, "logins-exhausted", "too many logins are under way; end one, or wait")
            }
            logins[login.id] = login
        }
        return login
    }

    /// Lets what waits for the user end with the login.
    func follow(_ id: String, by task: Task<Void, Never>) {
        let isKnown = logins.withLock { logins in
            logins[id]?.task = task
            return logins[id] != nil
        }
        if !isKnown { task.cancel() }
    }

    /// The login of an identifier.
    func login(_ id: String, now: Timestamp) throws(ServiceProblem) -> Login {
        let login = logins.withLock { logins in
            LoginRegistry.forgetOld(&logins, now)
            return logins[id]
        }
        guard let login else { throw .loginNotFound }
        return login
    }

    /// The browser's visit that a redirect ends, which no other redirect ends any more.
    ///
    /// - Parameter isMeant: whether a visit is the one.
    func takeVisit(now: Timestamp, _ isMeant: (Login, BrowserVisit) -> Bool) -> (login: Login, visit: BrowserVisit)? {
        logins.withLock { logins in
            LoginRegistry.forgetOld(&logins, now)
            for login in logins.values {
                guard let visit = login.visit, isMeant(login, visit) else { continue }
                logins[login.id]?.visit = nil
                return (login, visit)
            }
            return nil
        }
    }

    /// Says what a login has come to.
    func end(_ id: String, _ state: State) {
        logins.withLock { $0[id]?.state = state }
    }

    /// Forgets a login, and stops waiting for it.
    func forget(_ id: String) throws(ServiceProblem) {
        let login = logins.withLock { $0.removeValue(forKey: id) }
        guard let login else { throw .loginNotFound }
        login.task?.cancel()
    }

    private static func forgetOld(_ logins: inout [String: Login], _ now: Timestamp) {
        for login in logins.values where login.expiry < now {
            login.task?.cancel()
            logins[login.id] = nil
        }
    }
}

extension ServiceProblem {
    fileprivate static let loginNotFound = ServiceProblem(
        .notFound, "login-not-found", "there is no login of this identifier, or no longer")
}
