import CookieModel
import OAuth2
import SessionClient
import SessionOperations

/// The OAuth2 tokens of a running service.
struct RemoteTokens: TokensBackend {
    private let service: ServiceConnection

    init(_ service: ServiceConnection) {
        self.service = service
    }

    func accessToken(
        of name: String, resource: String?, skew: Int, for request: DPoPRequest?
    ) throws -> AccessTokenReport {
        let document = AccessTokenDocument(
            skew: skew, method: request?.method, url: request?.url.description, nonce: request?.nonce,
            resource: resource)
        return try service.answer(to: .accessToken(name, document))
    }

    func idToken(of name: String, skew: Int) throws -> IDTokenReport {
        try service.answer(to: .idToken(name, IDTokenDocument(skew: skew)))
    }

    func invalidateAccessToken(_ token: Secret?, of name: String) throws {
        let report: StoredTokenReport = try service.answer(to: .token(name)).token
        guard report.hasRefreshToken else { return }
        if let token {
            let current = try accessToken(of: name, skew: 0).accessToken
            guard Secret(current) == token else { return }
        }
        _ = try refresh(name)
    }

    func refresh(_ name: String) throws -> StoredTokenReport {
        try service.answer(to: .refreshToken(name))
    }

    func revoke(_ name: String) throws -> RevocationReport {
        try service.answer(to: .revokeToken(name))
    }

    func logOut(_ name: String, force: Bool) throws -> RevocationReport {
        try service.answer(to: .logOut(name, LogoutDocument(force: force)))
    }
}
