import CookieModel
import Crypto
import HTTPTypes
import OAuth2
import SessionOperations
import SessionStore
import SessionWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The logins in progress, and those that ended lately. Their number and their lifetime are limited.
///
/// They are in memory; over a database on a server they are rows, so that every service there can report, end and cancel
/// each of them. All calls may wait for the database.
struct LoginRegistry: Sendable {
    /// How many there are at most in memory.
    static let limit = 64
    /// How many there are at most in a database on a server, which many services use.
    static let sharedLimit = 4096
    /// How long one is known, in seconds.
    static let lifetime: Int64 = 900
    /// How many seconds an attempt to end a login has over a database on a server. The login counts as failed then: its
    /// service may have stopped after it sent the code, which no other service sends again.
    static let hold: Int64 = 30

    /// A login.
    struct Login: Sendable {
        /// How far a login has come.
        enum State: Sendable {
            /// The user has something to do.
            case pending
            /// The browser has come back; a service exchanges the code.
            case ending
            /// The tokens are stored.
            case done
            /// It failed.
            case failed(ProblemReport)
        }

        let id: String
        /// The name to store the tokens under.
        let name: String
        let expiry: Timestamp
        let state: State
        /// The browser that is expected.
        let visit: BrowserVisit?
    }

    /// What the user has to do.
    enum UserTask: Sendable {
        /// Nothing: the tokens are stored.
        case none
        /// To confirm on another device, while the service that began the login asks the server.
        case confirm
        /// To log in in a browser.
        case visit(BrowserVisit)
    }

    /// The right to end a login. A login that ends without a redirect needs none.
    struct Attempt: Sendable, Equatable {
        let name: UUID?

        /// The attempt of the service that polls for a login on another device.
        static let polling = Attempt(name: nil)
    }

    /// The answer to a redirect.
    enum Answer: Sendable {
        /// Only the caller ends the login.
        case taken(Attempt)
        /// The same redirect is ending the login.
        case ending
        /// The login does not wait for this redirect.
        case refused
    }

    private let store: any PendingLoginStore
    private let isShared: Bool

    /// Logins in a database on a server, or in memory.
    init(_ server: SessionDatabase? = nil) {
        self.init(in: server ?? LoginMemory(), isShared: server != nil)
    }

    /// Logins in a store.
    ///
    /// - Parameter isShared: whether several services use it.
    init(in store: any PendingLoginStore, isShared: Bool) {
        self.store = store
        self.isShared = isShared
    }

    /// Begins a login under an identifier that cannot be guessed.
    func begin(_ name: String, _ task: UserTask, until expiry: Timestamp? = nil, now: Timestamp) throws -> Login {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }
        let latest = now.advanced(bySeconds: LoginRegistry.lifetime)
        let (stage, state): (LoginStage, Secret?) =
            switch task {
            case .none: (.done, nil)
            case .confirm: (.confirming, nil)
            case .visit(let visit): (.visiting(ExposedBrowserVisit(visit)), visit.attempt.state)
            }
        let content = LoginContent(name: name, stage: stage)
        let stored = PendingLogin(
            id: digits.joined(), expiry: min(expiry ?? latest, latest),
            stateDigest: state.map { LoginRegistry.digest($0.exposedBytes) }, content: try content.encoded())
        let limit = isShared ? LoginRegistry.sharedLimit : LoginRegistry.limit
        guard try store.add(stored, limit: limit, now: now) else {
            throw ServiceFailure(.loginsExhausted, "too many logins are in progress; cancel one, or wait")
        }
        return Login(stored, content, now: now)
    }

    /// The login of an identifier.
    func login(_ id: String, now: Timestamp) throws -> Login {
        let stored = try store.pendingLogin(id, now: now)
        guard let login = stored.flatMap({ Login($0, now: now) }) else { throw ServiceFailure.loginNotFound }
        return login
    }

    /// The login that a redirect belongs to, by its state.
    func login(redirectedTo url: String, now: Timestamp) throws -> Login? {
        guard let state = AuthorizationCodeGrant.state(inRedirect: url) else { return nil }
        let digest = LoginRegistry.digest(state.exposedBytes)
        return try store.pendingLogin(withStateDigest: digest, now: now).flatMap { Login($0, now: now) }
    }

    /// Takes a login that waits for a browser, to end it with the URL that the browser came back to.
    ///
    /// A second request for the same URL, as a browser sends that loads the page again, gets ``Answer/ending``. Nothing
    /// takes the login a second time.
    func take(_ id: String, with url: String, now: Timestamp) throws -> Answer {
        let redirect = LoginRegistry.digest(Array(url.utf8))
        let attempt = UUID()
        return try change(id, now: now) { stage in
            switch stage {
            case .visiting:
                stage = .ending(
                    LoginStage.Ending(redirect: redirect, attempt: attempt, heldUntil: heldUntil(now)))
                return .taken(Attempt(name: attempt))
            case .ending(let ending) where ending.redirect == redirect: return .ending
            default: return .refused
            }
        } ?? .refused
    }

    /// Makes sure that an attempt may still end its login, and holds it for a further time.
    ///
    /// - Throws: `ServiceFailure` if the login was cancelled, or the attempt has taken too long.
    func confirm(_ id: String, _ attempt: Attempt, now: Timestamp) throws {
        let isHeld = try change(id, now: now) { stage in
            guard stage.attempt == attempt, !stage.isLost(now) else { return false }
            if case .ending(var ending) = stage {
                ending.heldUntil = heldUntil(now)
                stage = .ending(ending)
            }
            return true
        }
        guard isHeld == true else {
            throw ServiceFailure(.loginFailed, "the login was cancelled, or took too long; log in again")
        }
    }

    /// Records the outcome of an attempt: the problem, or `nil` if the tokens are stored.
    func end(_ id: String, _ attempt: Attempt, _ problem: ServiceFailure?, now: Timestamp) throws {
        _ = try change(id, now: now) { stage in
            guard stage.attempt == attempt else { return }
            stage = problem.map { .failed($0.document) } ?? .done
        }
    }

    /// Forgets a login. Its attempt stores nothing any more.
    func forget(_ id: String, now: Timestamp) throws {
        guard try store.removePendingLogin(id, now: now) else { throw ServiceFailure.loginNotFound }
    }

    /// The end of the hold of an attempt; `nil` in memory, which ends with the attempt.
    private func heldUntil(_ now: Timestamp) -> Timestamp? {
        isShared ? now.advanced(bySeconds: LoginRegistry.hold) : nil
    }

    /// Changes the stage of a login, while nothing else does.
    ///
    /// - Returns: `nil` if the login is unknown.
    private func change<Result>(
        _ id: String, now: Timestamp, _ body: (inout LoginStage) -> Result
    ) throws -> Result? {
        let result: Result?? = try store.changePendingLogin(id, now: now) { stored -> Result? in
            guard var content = LoginContent(stored.content) else { return nil }
            let result = body(&content.stage)
            stored.content = try content.encoded()
            if content.stage.isOver { stored.stateDigest = nil }
            return result
        }
        return result ?? nil
    }

    private static func digest(_ octets: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: octets)) }
}

extension LoginRegistry.Login {
    fileprivate init?(_ stored: PendingLogin, now: Timestamp) {
        guard let content = LoginContent(stored.content) else { return nil }
        self.init(stored, content, now: now)
    }

    fileprivate init(_ stored: PendingLogin, _ content: LoginContent, now: Timestamp) {
        id = stored.id
        name = content.name
        expiry = stored.expiry
        visit = if case .visiting(let visit) = content.stage { visit.visit } else { nil }
        state =
            switch content.stage {
            case .confirming, .visiting: .pending
            case .ending: content.stage.isLost(now) ? .failed(ServiceFailure.loginLost.document) : .ending
            case .done: .done
            case .failed(let problem): .failed(problem)
            }
    }
}

extension ServiceFailure {
    fileprivate static let loginNotFound = ServiceFailure(
        .loginNotFound, "no login with this identifier is in progress")
    fileprivate static let loginLost = ServiceFailure(
        .loginFailed,
        "the service that was ending the login did not finish, and the code may have been used; log in again")
}
