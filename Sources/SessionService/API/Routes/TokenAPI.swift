import CookieModel
import OAuth2
import Platform
import SessionOperations
import SessionStore
import Synchronization

/// The logins of a database, as the service answers for them.
struct TokenAPI: Sendable {
    let access: TokenAccess
    /// Where the browser comes back to after a login, if that can be this service.
    let callback: LoginCallback
    let clock: any Clock<Duration>

    /// Creates an API for the tokens of a store.
    ///
    /// - Parameters:
    ///   - transport: sends requests to authorization servers.
    ///   - checkIDToken: checks the signatures of ID tokens by the server's keys.
    ///   - callback: the URL of this service's `/v1/logins/callback` as a browser reaches it.
    ///   - process: the identifier of this process, which shows people the process that refreshes a token.
    ///   - answerTimeout: how long to wait for the server's response to a refresh.
    ///   - clock: the clock that measures waits.
    init(
        _ store: TokenStore, transport: any EndpointTransport, checkingIDTokens checkIDToken: IDTokenCheck? = nil,
        callback: String? = nil, process: Int32 = getpid(),
        answerTimeout: Duration = .seconds(120), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        access = TokenAccess(
            store, over: transport, checkingIDTokens: checkIDToken, process: process,
            timing: TokenRefresher.Timing(answer: answerTimeout), clock: clock, now: now)
        self.callback = LoginCallback(callback)
        self.clock = clock
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
