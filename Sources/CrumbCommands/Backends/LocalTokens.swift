import CookieModel
import OAuth2
import SessionOperations
import SessionStore

/// The tokens of a database file.
struct LocalTokens: TokensBackend {
    private let options: DatabaseOptions
    private let refreshTimeout: Int?
    private let clock: CommandClock
    private var now: Timestamp { clock() }

    /// - Parameter refreshTimeout: how many seconds a server has to answer a refresh; `nil` for the default.
    init(_ options: DatabaseOptions, refreshTimeout: Int? = nil, clock: @escaping CommandClock) {
        self.options = options
        self.refreshTimeout = refreshTimeout
        self.clock = clock
    }

    private func access(to name: String) throws -> TokenAccess {
        try TokenAccess(options, for: name, clock: clock)
    }

    func accessToken(
        of name: String, resource: String?, skew: Int, for request: DPoPRequest?
    ) throws -> AccessTokenReport {
        let access = try access(to: name)
        let stored = try access.token(name, for: resource, skew: skew, timeout: refreshTimeout)
        guard let request, stored.tokens.tokenType == .dpop else {
            return AccessTokenReport(stored.tokens, of: stored, token: try stored.exposedAccessToken)
        }
        // Token and key in one reading, whatever a login changes in the meantime.
        let credential = try access.store.credential(name, for: resource)
        return AccessTokenReport(
            credential.tokens, of: stored, token: try stored.profile.exposedText(of: credential.tokens),
            proof: try request.proof(by: credential, of: name, now: now))
    }

    func idToken(of name: String, skew: Int) throws -> IDTokenReport {
        let access = try access(to: name)
        let held = try ValidIDToken(try access.store.get(name))
        switch held.lifetime.validity(at: now, skew: .seconds(skew)) {
        case .valid, .unknown: return try IDTokenReport(held, of: name)
        case .due, .expired: break
        }
        let refresher = try access.refresher(skew: skew, timeout: refreshTimeout)
        return try IDTokenReport(try Blocking.run { try await refresher.idToken(name) }, of: name)
    }

    func invalidateAccessToken(_ token: Secret?, of name: String) throws {
        try access(to: name).store.expireAccessToken(token, of: name, now: now)
    }

    func refresh(_ name: String) throws -> StoredTokenReport {
        let refresher = try access(to: name).refresher(timeout: refreshTimeout)
        let stored = try Blocking.run { try await refresher.refreshed(name) }
        return StoredTokenReport(stored, now: now)
    }

    func revoke(_ name: String) throws -> RevocationReport {
        let revoked = try access(to: name).revoke(name)
        return RevocationReport(name: name, revoked: revoked, isRemoved: false)
    }

    func logOut(_ name: String, force: Bool) throws -> RevocationReport {
        let access = try access(to: name)
        var revoked: [TokenKind] = []
        var problem: String?
        do {
            revoked = try access.revoke(name)
        } catch let error as OAuth2Error where error.code == .endpointMissing || force {
            problem = "\(name): the server did not revoke the tokens: \(error)"
        } catch let error as OAuth2Error {
            throw CommandFailure(
                FailureKind(error),
                "\(name): the login was not removed, since the server did not revoke the tokens: \(error) "
                    + "Try again, or remove it with --force")
        } catch let error as OperationError {
            problem = "the server did not revoke the tokens: \(error)"
        }
        _ = try access.store.remove(name, now: now)
        return RevocationReport(name: name, revoked: revoked, isRemoved: true, problem: problem)
    }
}

extension TokenAccess {
    /// Ends a profile's tokens at the server; which.
    fileprivate func revoke(_ name: String) throws -> [TokenKind] {
        let revoker = TokenRevoker(store, over: try Network.required().endpoints, now: clock)
        return try Blocking.run { try await revoker.revoke(name) }
    }
}
