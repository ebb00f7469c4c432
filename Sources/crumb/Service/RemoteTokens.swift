import CookieModel
import OAuth2
import SessionOperations

/// The OAuth2 tokens of a running service.
struct RemoteTokens: TokensBackend {
    private let service: ServiceConnection

    init(_ service: ServiceConnection) {
        self.service = service
    }

    func list() throws -> StoredTokenList {
        try service.answer(to: .get("tokens"))
    }

    func status(of name: String) throws -> TokenStatusReport {
        try service.answer(to: .get("tokens", name))
    }

    func accessToken(
        of name: String, resource: String?, skew: Int, for request: DPoPRequest?
    ) throws -> AccessTokenReport {
        let document = AccessTokenDocument(
            skew: skew, method: request?.method, url: request?.url.description, nonce: request?.nonce,
            resource: resource)
        return try service.answer(to: .post("tokens", name, "access-token", document: document))
    }

    func idToken(of name: String, skew: Int) throws -> IDTokenReport {
        try service.answer(to: .post("tokens", name, "id-token", document: IDTokenDocument(skew: skew)))
    }

    func invalidateAccessToken(_ token: Secret?, of name: String) throws {
        let report: StoredTokenReport = try service.answer(to: .get("tokens", name), as: TokenStatusReport.self).token
        guard report.hasRefreshToken else { return }
        if let token {
            let current = try accessToken(of: name, skew: 0).accessToken
            guard Secret(current) == token else { return }
        }
        _ = try refresh(name)
    }

    func refresh(_ name: String) throws -> StoredTokenReport {
        try service.answer(to: .post("tokens", name, "refresh"))
    }

    func revoke(_ name: String) throws -> RevocationReport {
        try service.answer(to: .post("tokens", name, "revoke"))
    }

    func logOut(_ name: String, force: Bool) throws -> RevocationReport {
        try service.answer(to: .post("tokens", name, "logout", document: LogoutDocument(force: force)))
    }

    func remove(_ name: String) throws -> Bool {
        do {
            _ = try service.answer(to: .delete("tokens", name), as: TokenRemoval.self)
            return true
        } catch let refusal as ServiceRefusal where refusal.code == FailureKind.tokenNotFound.code {
            return false
        }
    }
}
