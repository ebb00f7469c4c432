package import CookieModel
import OAuth2
package import SessionStore
package import SessionWire

extension DatabaseOperation where Document == NoDocument, Output == StoredTokenList {
    package static var listTokens: Self {
        Self(.listTokens) { _, context in
            StoredTokenList(try context.database.tokens.all(), now: context.now)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == TokenStatusReport {
    package static var getToken: Self {
        Self(.getToken) { input, context in
            let tokens = context.database.tokens
            let stored = try tokens.get(input.name)
            return TokenStatusReport(
                token: StoredTokenReport(stored, now: context.now), credentials: try tokens.credentials(input.name),
                tokens: stored.tokens, holder: try tokens.lease(input.name, now: context.now)?.process)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == TokenRemoval {
    package static var removeToken: Self {
        Self(.removeToken) { input, context in
            guard try context.database.tokens.remove(input.name, now: context.now) else {
                throw OperationError(noTokenNamed: input.name)
            }
            return TokenRemoval(removed: input.name)
        }
    }
}

extension OperationError {
    /// The error that there is no login of a name.
    init(noTokenNamed name: String) {
        self.init(.tokenNotFound, "\(name): there is no token with this name")
    }
}

/// An operation on a login, whose authorization server may have to be asked.
///
/// `Document` is the body of its requests, and `Output` the answer.
package struct TokenOperation<Document: RequestDocument, Output: Sendable>: Sendable {
    package typealias Stored = @Sendable (_ name: String, Document, TokenStore, _ now: Timestamp) throws -> Output?
    package typealias Work =
        @Sendable (_ name: String, Document, TokenAccess) async throws -> Output

    package let description: OperationDescription
    /// The secret that the answer contains; `nil` if it contains none.
    package let disclosed: SecretAccess.Kind?
    /// The answer if no server has to be asked; else `nil`.
    package let stored: Stored
    /// The answer, for which a server may be asked.
    package let work: Work

    fileprivate init(
        _ description: OperationDescription, disclosing disclosed: SecretAccess.Kind? = nil,
        stored: @escaping Stored = { _, _, _, _ in nil }, _ work: @escaping Work
    ) {
        self.description = description
        self.disclosed = disclosed
        self.stored = stored
        self.work = work
    }
}

extension TokenOperation where Document == AccessTokenDocument, Output == AccessTokenReport {
    package static var accessToken: Self {
        Self(.accessToken, disclosing: .accessToken) { name, asked, tokens, now in
            let request = try asked.request()
            let stored = try tokens.get(name, for: asked.resource)
            if stored.tokens.validity(at: now, skew: asked.skew.duration).isDue { return nil }
            return try AccessTokenReport(stored, of: tokens, resource: asked.resource, for: request, now: now)
        } _: { name, asked, access in
            let request = try asked.request()
            let stored = try await access.refresher.token(name, for: asked.resource, skew: asked.skew.duration)
            let now = access.now()
            return try await access.store.reading { store in
                try AccessTokenReport(stored, of: store, resource: asked.resource, for: request, now: now)
            }
        }
    }
}

extension TokenOperation where Document == IDTokenDocument, Output == IDTokenReport {
    package static var idToken: Self {
        Self(.idToken, disclosing: .idToken) { name, asked, tokens, now in
            let held = try ValidIDToken(try tokens.get(name))
            if held.lifetime.validity(at: now, skew: asked.skew.duration).isDue { return nil }
            return try IDTokenReport(held, of: name)
        } _: { name, asked, access in
            try IDTokenReport(try await access.refresher.idToken(name, skew: asked.skew.duration), of: name)
        }
    }
}

extension TokenOperation where Document == NoDocument, Output == StoredTokenReport {
    package static var refreshToken: Self {
        Self(.refreshToken) { name, _, access in
            StoredTokenReport(try await access.refresher.refreshed(name), now: access.now())
        }
    }
}

extension TokenOperation where Document == NoDocument, Output == RevocationReport {
    package static var revokeToken: Self {
        Self(.revokeToken) { name, _, access in
            RevocationReport(name: name, revoked: try await access.revoke(name), isRemoved: false)
        }
    }
}

extension TokenOperation where Document == LogoutDocument, Output == RevocationReport {
    package static var logOut: Self {
        Self(.logOut) { name, asked, access in
            try await access.logOut(name, force: asked.force ?? false)
        }
    }
}

extension Number<TokenSkew>? {
    /// The time for which a token has to be valid.
    fileprivate var duration: Duration { .seconds(self?.value ?? TokenSkew.usual) }
}

extension AccessTokenReport {
    /// The report of a token, with the proof for a request that the caller describes.
    fileprivate init(
        _ stored: StoredToken, of store: TokenStore, resource: String?, for request: DPoPRequest?, now: Timestamp
    ) throws {
        let name = stored.profile.name
        guard let request, stored.tokens.tokenType == .dpop else {
            self.init(stored.tokens, of: stored, token: try stored.tokens.exposedAccessToken(of: name))
            return
        }
        // The token and its key are read at once: a login may replace both in the meantime.
        let credential = try store.credential(name, for: resource)
        self.init(
            credential.tokens, of: stored, token: try credential.tokens.exposedAccessToken(of: name),
            proof: try request.proof(by: credential, of: name, now: now))
    }
}

extension TokenSet {
    /// The access token as text, which is no longer protected.
    ///
    /// - Parameter name: The name of the login.
    package func exposedAccessToken(of name: String) throws(OperationError) -> String {
        guard let token = accessToken.exposedText else {
            throw OperationError(.valueDamaged, "\(name): the stored token is not text")
        }
        return token
    }
}

extension AccessTokenDocument {
    /// The request that the token is for; `nil` if the caller describes none.
    fileprivate func request() throws(OperationError) -> DPoPRequest? {
        guard let url else {
            guard method == nil, nonce == nil else {
                throw .bodyInvalid("url: method and nonce describe a request; add its URL")
            }
            return nil
        }
        if let method { try checkMethod(method) }
        return DPoPRequest(method: method ?? "GET", url: try RequestURL(url, member: "url"), nonce: nonce)
    }
}

/// A request that will carry an access token. A bound token needs a proof for this request alone (RFC 9449).
struct DPoPRequest: Sendable {
    let method: String
    let url: RequestURL
    /// The last nonce of the URL's server; `nil` if it gave none.
    let nonce: String?

    init(method: String, url: RequestURL, nonce: String? = nil) {
        self.method = method
        self.url = url
        self.nonce = nonce
    }

    /// Returns the proof to send with the request; `nil` for tokens that are bound to no key.
    ///
    /// - Parameter name: the name of the tokens.
    /// - Throws: `OperationError` if the key is missing, `OAuth2Error` if it cannot sign.
    func proof(by credential: AccessCredential, of name: String, now: Timestamp) throws -> String? {
        guard credential.tokens.tokenType == .dpop else { return nil }
        var generator = SystemRandomNumberGenerator()
        let proof = try credential.proof(
            method: method, url: url.withoutQuery.description, nonce: nonce, now: now, using: &generator)
        guard let proof = proof?.exposedText else {
            throw OperationError(
                .tokenSettingsInvalid,
                "\(name): the key that the token is bound to is unknown; log in with 'crumb token login --dpop'")
        }
        return proof
    }
}
