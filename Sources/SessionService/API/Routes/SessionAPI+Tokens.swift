import CookieModel
import HTTPTypes
import Hummingbird
import OAuth2
import SessionOperations
import SessionStore

extension AccessTokenDocument {
    /// The request that the token is for, where one is named.
    fileprivate func request() throws -> DPoPRequest? {
        guard let url else {
            guard method == nil, nonce == nil else {
                throw ServiceFailure.bodyInvalid("url: method and nonce describe a request; add its URL")
            }
            return nil
        }
        guard method.map({ HTTPRequest.Method($0) != nil }) ?? true else {
            throw ServiceFailure.bodyInvalid("method: this is not an HTTP method")
        }
        return DPoPRequest(method: method ?? "GET", url: try RequestURL(url, member: "url"), nonce: nonce)
    }
}

extension SessionAPI {
    /// Tokens belong to no jar: only callers with access to all jars may see them.
    var tokenRoutes: [ServiceRoute] {
        [
            ServiceRoute(.accessToken) {
                request, context in
                let asked = try await request.optionalDocument(AccessTokenDocument.self, in: context)
                let skew = asked.skew?.value ?? TokenSkew.usual
                let proven = try asked.request()
                let name = try context.pathParameter("name")
                let stored = try await tokens.token(name, for: asked.resource, skew: skew)
                // Token and key in one reading, whatever a login changes in the meantime.
                let credential = try tokens.store.credential(name, for: asked.resource)
                guard let token = credential.tokens.accessToken.exposedText else {
                    throw ServiceFailure(
                        .valueDamaged, "\(name): the stored token is not text")
                }
                context.audit(SecretAccess(.accessToken, names: [name]))
                let proof = try proven?.proof(by: credential, of: name, now: now())
                return .json(AccessTokenReport(credential.tokens, of: stored, token: token, proof: proof))
            },
            ServiceRoute(.idToken) {
                request, context in
                let asked = try await request.optionalDocument(IDTokenDocument.self, in: context)
                let name = try context.pathParameter("name")
                let token = try await tokens.idToken(name, skew: asked.skew?.value ?? TokenSkew.usual)
                let report = try IDTokenReport(token, of: name)
                context.audit(SecretAccess(.idToken, names: [name]))
                return .json(report)
            },
            ServiceRoute(.refreshToken) { _, context in
                let stored = try await tokens.refreshed(try context.pathParameter("name"))
                return .json(StoredTokenReport(stored, now: now()))
            },
            ServiceRoute(.revokeToken) { _, context in
                let name = try context.pathParameter("name")
                let revoked = try await tokens.revoke(name)
                return .json(RevocationReport(name: name, revoked: revoked, isRemoved: false))
            },
            ServiceRoute(.logOut, use: logOut),
        ]
    }

    private func logOut(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let force = try await request.optionalDocument(LogoutDocument.self, in: context).force ?? false
        let name = try context.pathParameter("name")
        var revoked: [TokenKind] = []
        var problem: String?
        do {
            revoked = try await tokens.revoke(name)
        } catch let error as OAuth2Error where error.code == .endpointMissing || force {
            // The server has no revocation endpoint, or the caller forces the logout: the stored tokens are removed all
            // the same.
            problem = "\(name): the server did not revoke the tokens: \(error)"
        } catch let error as OperationError {
            // Likewise if the server is not known.
            problem = "the server did not revoke the tokens: \(error)"
        }
        try await removeToken(name)
        return .json(RevocationReport(name: name, revoked: revoked, isRemoved: true, problem: problem))
    }

    private func removeToken(_ name: String) async throws {
        let now = now()
        guard try await blocking({ try tokens.store.remove(name, now: now) }) else {
            throw ServiceFailure.tokenNotFound(name)
        }
    }
}
