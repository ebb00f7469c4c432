import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore
import Synchronization

/// The tokens of a database, and the client of authorization servers.
struct TokenAPI: Sendable {
    let store: TokenStore
    private let transport: (any EndpointTransport)?
    /// The refresher of tokens; `nil` if no authorization servers are asked. There is one in the process, so that all
    /// callers who want the same token refreshed share it.
    let refresher: TokenRefresher?
    private let checkIDToken: IDTokenCheck?
    /// Where the browser comes back to after a login, where that can be this service.
    let callback: LoginCallback
    let now: @Sendable () -> Timestamp
    let clock: any Clock<Duration>

    /// Creates an API for the tokens of a store.
    ///
    /// - Parameters:
    ///   - transport: sends requests to authorization servers; `nil` if none are asked.
    ///   - checkIDToken: checks the signatures of ID tokens by the server's keys.
    ///   - callback: the URL of this service's `/v1/logins/callback` as a browser reaches it.
    ///   - process: the identifier of this process, which shows people who refreshes a token.
    ///   - answerTimeout: how long to wait for the server's response to a refresh.
    ///   - clock: the clock that measures waits.
    init(
        _ store: TokenStore, transport: (any EndpointTransport)?, checkingIDTokens checkIDToken: IDTokenCheck? = nil,
        callback: String? = nil, process: Int32 = ProcessInfo.processInfo.processIdentifier,
        answerTimeout: Duration = .seconds(120), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.transport = transport
        self.checkIDToken = checkIDToken
        self.callback = LoginCallback(callback)
        self.now = now
        self.clock = clock
        // The time by which a token is due is the caller's to say: see ``token(_:skew:)``.
        refresher = transport.map { transport in
            TokenRefresher(
                store: store, transport: transport, checkingIDTokens: checkIDToken, process: process,
                timing: TokenRefresher.Timing(answer: answerTimeout), clock: clock, now: now)
        }
    }

    /// Returns the tokens of a profile, refreshed if fewer seconds than `skew` are left.
    ///
    /// If a refresh fails and the access token is still valid, it is returned all the same.
    ///
    /// - Parameter resource: The resource that the access token is for; `nil` for the login's own.
    func token(_ name: String, for resource: String? = nil, skew: Int) async throws -> StoredToken {
        let stored = try store.get(name, for: resource)
        switch stored.tokens.validity(at: now(), skew: .seconds(skew)) {
        case .valid, .unknown: return stored
        case .due where stored.refusal != nil: return stored
        case .due:
            do {
                return try await onlineRefresher().refreshed(insteadOf: stored)
            } catch {
                let latest = try store.get(name, for: resource)
                guard latest.tokens.validity(at: now()) != .expired else { throw error }
                return latest
            }
        case .expired:
            // After the server has rejected the login, it is not asked again.
            return stored.refusal == nil
                ? try await onlineRefresher().refreshed(insteadOf: stored)
                : try await onlineRefresher().token(name, for: resource)
        }
    }

    /// The ID token of a profile, renewed if fewer seconds than `skew` are left.
    func idToken(_ name: String, skew: Int) async throws -> ValidIDToken {
        try await anyRefresher.idToken(name, skew: .seconds(skew))
    }

    /// The tokens of a profile after a refresh; all who ask in the meantime share it.
    func refreshed(_ name: String) async throws -> StoredToken {
        try await onlineRefresher().refreshed(name)
    }

    /// The fallback that recognizes "not signed in" by a jar's rules, and signs its requests in again.
    func fallback(_ rules: [LoginRule]) -> LoginFallback {
        LoginFallback(
            rules: rules, store: store, refresher: anyRefresher, transport: transport ?? OfflineTransport())
    }

    /// Ends tokens at their server.
    func revoke(_ name: String) async throws -> [TokenKind] {
        try await TokenRevoker(store, over: try onlineTransport(), now: now).revoke(name)
    }

    /// Begins a login at a server.
    func flow(_ request: TokenLoginRequest) async throws -> LoginFlow {
        try flow(try await request.plan(store, over: try onlineTransport()))
    }

    /// Continues a login at a server.
    func flow(_ plan: TokenLoginPlan) throws -> LoginFlow {
        LoginFlow(plan, over: try onlineTransport(), checkingIDTokens: checkIDToken, now: now)
    }

    /// The refresher, or one that fails because no authorization servers are asked.
    private var anyRefresher: TokenRefresher {
        refresher ?? TokenRefresher(store: store, transport: OfflineTransport(), process: 0, now: now)
    }

    private func onlineTransport() throws(ServiceFailure) -> any EndpointTransport {
        guard let transport else { throw .offline }
        return transport
    }

    private func onlineRefresher() throws(ServiceFailure) -> TokenRefresher {
        guard let refresher else { throw .offline }
        return refresher
    }
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

/// Reaches no server.
private struct OfflineTransport: EndpointTransport {
    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        throw OAuth2Error(unreachable: ServiceFailure.offline.detail)
    }
}

extension ServiceFailure {
    fileprivate static let offline: ServiceFailure = {
        var problem = ServiceFailure(.serverUnavailable, "this service cannot send requests to authorization servers")
        problem.status = .serviceUnavailable
        return problem
    }()
}
