import ArgumentParser
import CookieModel
import HTTPTypes
import OAuth2
import Platform
import SessionClient
import SessionOperations
import SessionStore

/// Where a command gets tokens: from a database file, or from a running service.
///
/// ``OperationPlace`` does what needs no authorization server.
struct TokenPlace {
    private let options: DatabaseOptions
    private let service: ServiceConnection?
    private let refresh: RefreshOptions?
    private let clock: CommandClock

    /// - Parameter refresh: The time limit of a refresh from here, for operations that refresh; a service has its own
    ///   setting.
    init(_ options: DatabaseOptions, refresh: RefreshOptions? = nil, clock: @escaping CommandClock) throws {
        self.options = options
        self.clock = clock
        self.refresh = refresh
        service = try options.service()
        guard service == nil || refresh?.refreshTimeout == nil else {
            throw ValidationError("--refresh-timeout: the service uses its own setting, refresh.timeoutSeconds.")
        }
    }

    /// The answer to a request about a login.
    func perform<Document, Answer: Decodable>(
        _ request: SessionRequest<Answer>, by operation: TokenOperation<Document, Answer>
    ) throws -> Answer {
        if let service { return try service.answer(to: request) }
        let document: Document = request.document(of: operation.description)
        let name = operation.description.argument("name", of: request.arguments)
        let store = try options.tokenStore(with: name, now: clock())
        if let answer = try operation.stored(name, document, store, clock()) { return answer }
        let access = try TokenAccess(store, refreshTimeout: refresh?.seconds(), clock: clock)
        return try Blocking.run { try await operation.work(name, document, access) }
    }

    /// Returns a valid access token, refreshed if it is due.
    func accessToken(of name: String, _ document: AccessTokenDocument) throws -> AccessTokenReport {
        try perform(.accessToken(name, document), by: .accessToken)
    }

    /// A valid ID token, renewed with the other tokens if fewer seconds than `skew` are left.
    func idToken(of name: String, skew: Int) throws -> IDTokenReport {
        try perform(.idToken(name, IDTokenDocument(skew: skew)), by: .idToken)
    }

    /// Makes the next caller get a renewed access token, because a site has rejected the current one.
    ///
    /// A token that cannot be renewed stays as it is.
    ///
    /// - Parameter token: The token that was rejected; nothing happens if the login has another one by now. `nil` for
    ///   whatever it has.
    func invalidateAccessToken(_ token: Secret?, of name: String) throws {
        guard let service else {
            try options.tokenStore(with: name, now: clock()).expireAccessToken(token, of: name, now: clock())
            return
        }
        guard try service.answer(to: .token(name)).token.hasRefreshToken else { return }
        if let token {
            let current = try accessToken(of: name, AccessTokenDocument(skew: 0)).accessToken
            guard Secret(current) == token else { return }
        }
        _ = try perform(.refreshToken(name), by: .refreshToken)
    }
}

extension DatabaseChoice {
    /// The logins of a database file that has one of that name. Never creates the file.
    func tokenStore(with name: String, now: Timestamp) throws -> TokenStore {
        // A rotated refresh token must outlive a power failure: the server has ended the one before.
        guard let database = try openExisting(now: now, durability: .full) else {
            throw CommandFailure.noToken(named: name)
        }
        return database.tokens
    }
}

extension TokenAccess {
    /// The client of authorization servers in this program. It needs the network, so `crumb` is replaced before a lease
    /// is taken. Call it on the main thread, whose signal mask the other program inherits.
    ///
    /// - Parameter refreshTimeout: How many seconds the server has to respond to a refresh; `nil` for the default.
    init(_ store: TokenStore, refreshTimeout: Int? = nil, clock: @escaping CommandClock) throws {
        let timeout = refreshTimeout ?? RefreshOptions.defaultTimeout
        let network = try Network.required()
        self.init(
            store, over: network.endpoints, checkingIDTokens: network.checkIDToken,
            process: getpid(),
            timing: TokenRefresher.Timing(answer: .seconds(timeout)), shield: { try await SignalDeferral.run($0) },
            now: clock)
    }
}

extension AccessTokenReport {
    /// Notes that the token is the last one of its login, if it is.
    ///
    /// - Parameter name: the name of the login.
    func noteIfLast(of name: String, _ console: Console) {
        guard loginRequired == true else { return }
        console.note(
            "\(name): the server no longer accepts the login, so this token cannot be renewed"
                + (expires.map { " after \($0)" } ?? "") + "; log in again with 'crumb token login \(ShellWord(name))'")
    }

    /// The fields that present the token: Authorization, and for a bound one the proof.
    ///
    /// - Throws: `CommandFailure` if the token cannot be presented, or if a proof is missing.
    func exposedFields(of name: String) throws -> [(name: String, value: String)] {
        let type = TokenType(tokenType)
        guard type == .dpop else {
            let tokens = TokenSet(accessToken: Secret(Array(accessToken.utf8)), tokenType: type, receivedAt: .epoch)
            guard let field = tokens.exposedAuthorizationField else {
                throw CommandFailure(
                    .tokenSettingsInvalid,
                    "\(name): a token of the type \(tokenType) cannot be presented in a header alone")
            }
            return [(field.name.rawName, field.value)]
        }
        guard let proof else {
            throw CommandFailure(
                .tokenSettingsInvalid,
                "\(name): the token is bound to a key, and each request needs its own proof; describe the "
                    + "request with --method and --url")
        }
        return [("Authorization", "DPoP \(accessToken)"), ("DPoP", proof)]
    }
}
