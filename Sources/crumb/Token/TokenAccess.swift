import CookieModel
import Foundation
import OAuth2
import SessionOperations
import SessionStore

/// The tokens of a database, and what gets them from servers.
struct TokenAccess: Sendable {
    let store: TokenStore

    /// The tokens of the database where there is one; makes nothing.
    ///
    /// - Throws: that there is no token called `name`.
    init(_ options: DatabaseOptions, for name: String, now: Timestamp) throws {
        // A rotated refresh token must outlive a power failure: the server has ended the one before.
        guard let database = try options.openExisting(now: now, durability: .full) else {
            throw Problem(
                .tokenNotFound, "\(name): there is no token of this name; 'crumb token login' and 'import' store one")
        }
        store = database.tokens
    }

    init(_ store: TokenStore) {
        self.store = store
    }

    /// What refreshes the tokens.
    ///
    /// - Parameter timeout: how many seconds the server has to answer; `nil` for what the environment or the default says.
    func refresher(skew: Int = 60, timeout: Int? = nil) throws -> TokenRefresher {
        let timeout = try RefreshOptions.seconds(timeout)
        return TokenRefresher(
            store: store, transport: HelperTransport(),
            checkingIDTokens: { token, keys in try IDTokenSignature.check(token, keys: keys) },
            process: ProcessInfo.processInfo.processIdentifier,
            timing: TokenRefresher.Timing(skew: .seconds(skew), answer: .seconds(timeout)),
            shield: { try await SignalDeferral.run($0) }, now: { .now })
    }

    /// The tokens of a profile, refreshed where they are due. Nothing is started for those that are not.
    ///
    /// - Parameter resource: What the access token is for; `nil` for the login's own.
    func token(
        _ name: String, for resource: String? = nil, skew: Int = 60, timeout: Int? = nil, now: Timestamp
    ) throws -> StoredToken {
        let stored = try store.get(name, for: resource)
        switch stored.tokens.validity(at: now.microseconds, skew: .seconds(skew)) {
        case .valid, .unknown: return stored
        case .due, .expired: break
        }
        let refresher = try refresher(skew: skew, timeout: timeout)
        return try Blocking.run { try await refresher.token(name, for: resource) }
    }

    /// The profile and how its server is asked, for a command that needs an endpoint.
    func connection(_ name: String, now: Timestamp) throws -> TokenConnection {
        let stored = try store.get(name)
        guard let credentials = try store.credentials(name) else {
            throw OperationError(noEndpointsOf: name)
        }
        var generator = SystemRandomNumberGenerator()
        return TokenConnection(
            stored: stored, credentials: credentials,
            authentication: try credentials.authentication(
                of: stored.profile.id, now: now.microseconds, using: &generator),
            transport: try credentials.binding(HelperTransport()) { Timestamp.now.microseconds })
    }
}

/// A profile and how its server is asked.
struct TokenConnection: Sendable {
    let stored: StoredToken
    let credentials: ProfileCredentials
    let authentication: ClientAuthentication
    let transport: any EndpointTransport
}
