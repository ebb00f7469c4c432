import CookieModel
import HTTPTypes
import OAuth2
import SessionOperations
import Synchronization

/// The logins in progress, and those that ended lately. Their number and their time in memory are limited.
final class LoginRegistry: Sendable {
    /// How many there are at most.
    static let limit = 64
    /// How long one is known, in seconds.
    static let lifetime: Int64 = 900

    /// A login that waits for a browser to come back.
    struct BrowserVisit: Sendable {
        let flow: LoginFlow
        let attempt: AuthorizationAttempt
        let redirectURI: String
    }

    /// How far a login has come.
    enum State: Sendable {
        /// The user has something to do.
        case pending
        /// The tokens are kept.
        case done
        /// It failed.
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
        /// The redirect that ends the visit, while its code is exchanged.
        fileprivate var redirect: (url: String, end: Task<Void, Never>)?
        fileprivate var task: Task<Void, Never>?
    }

    private let logins = Mutex<[String: Login]>([:])

    /// Begins a login under an identifier that cannot be guessed.
    func begin(_ name: String, visit: BrowserVisit? = nil, until expiry: Timestamp?, now: Timestamp) throws -> Login {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }
        let latest = now.advanced(bySeconds: LoginRegistry.lifetime)
        let login = Login(id: digits.joined(), name: name, expiry: min(expiry ?? latest, latest), visit: visit)
        try logins.withLock { logins in
            LoginRegistry.forgetOld(&logins, now)
            guard logins.count < LoginRegistry.limit else {
                throw ServiceProblem(
                    .loginsExhausted, "too many logins are in progress; cancel one, or wait")
            }
            logins[login.id] = login
        }
        return login
    }

    /// Makes the task that waits for the user end with the login.
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

    /// Ends the browser's visit of a login with a URL that the browser came back to.
    ///
    /// A second request for the same URL, as a browser sends that loads the page again, waits for the same end. Nothing ends
    /// the login a second time.
    ///
    /// - Parameters:
    ///   - isMeant: Whether a visit is the one. If it throws, the login still waits for its browser.
    ///   - body: Ends the login. It goes on if the browser leaves: the server has ended the code.
    /// - Returns: The identifier of the login and its end; `nil` if no visit is the one.
    func endVisit(
        with url: String, now: Timestamp, _ isMeant: (Login, BrowserVisit) throws -> Bool,
        _ body: @escaping @Sendable (Login, BrowserVisit) async -> Void
    ) rethrows -> (id: String, end: Task<Void, Never>)? {
        try logins.withLock { logins in
            LoginRegistry.forgetOld(&logins, now)
            for login in logins.values {
                guard let visit = login.visit, try isMeant(login, visit) else { continue }
                if let redirect = login.redirect { return redirect.url == url ? (login.id, redirect.end) : nil }
                let end = Task { await body(login, visit) }
                logins[login.id]?.redirect = (url, end)
                return (login.id, end)
            }
            return nil
        }
    }

    /// Records the outcome of a login.
    func end(_ id: String, _ state: State) {
        logins.withLock { logins in
            logins[id]?.state = state
            logins[id]?.visit = nil
            logins[id]?.redirect = nil
        }
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
        .loginNotFound, "no login with this identifier is in progress")
}

/// Where the browser comes back to after a login: `/v1/logins/callback` of this service, as a browser reaches it.
///
/// It is known once the service listens: a port may be any that is free.
final class LoginCallback: Sendable {
    static let path = "/v1/logins/callback"

    private let value: Mutex<String?>

    init(_ url: String?) {
        value = Mutex(url)
    }

    /// `nil` if no browser can come back to this service.
    var url: String? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
