internal import CookieModel
internal import OAuth2

/// One question to the server for new tokens, by who holds the lease; every answer is kept before anyone sees it.
struct TokenRenewal: Sendable {
    let store: TokenStore
    let holder: LeaseHolder
    let transport: LeasedTransport
    let checkIDToken: IDTokenCheck?
    /// Fetches the server's keys, which takes no lease and is waited for no longer than any request.
    let keyTransport: any EndpointTransport
    let now: @Sendable () -> Timestamp
    /// The tokens of another login, for a grant that exchanges them.
    let otherTokens: @Sendable (String) async throws -> TokenSet

    /// Asks, unless the lease is lost before anything was sent.
    ///
    /// - Throws: ``LeaseLost``, besides what there is to tell a user.
    func run(_ current: StoredToken) async throws -> StoredToken {
        do {
            return try await renewed(current)
        } catch let error as OAuth2Error {
            throw transport.failure ?? error
        }
    }

    private func renewed(_ current: StoredToken) async throws -> StoredToken {
        let name = current.profile.name
        guard var credentials = try store.credentials(name) else {
            throw TokenRefreshError(
                current.tokens.refreshToken == nil ? .tokenExpired : .settingsMissing, name,
                hasExpired: hasExpired(current))
        }
        if let resource = current.resource { credentials.settings.resources = [resource] }
        let transport = try credentials.binding(transport) { [now] in now().microseconds }
        if current.tokens.refreshToken == nil, let grant = try await repeatableGrant(of: current, by: credentials) {
            let response = try await transport.send(grant.request())
            return try await keep(
                try grant.tokens(in: response, now: now().microseconds), by: credentials, over: current,
                current.generation)
        }
        guard current.tokens.refreshToken != nil else {
            throw TokenRefreshError(.tokenExpired, name, hasExpired: hasExpired(current))
        }
        var generator = SystemRandomNumberGenerator()
        let authentication = try credentials.authentication(
            of: current.profile.id, now: now().microseconds, using: &generator)
        let grant = RefreshGrant(
            tokenEndpoint: try credentials.settings.url(of: .token), authentication: authentication,
            resources: credentials.settings.resources)
        let response = try await transport.send(try grant.request(refreshing: current.tokens))
        return try await keep(response, to: grant, by: credentials, over: current)
    }

    private func repeatableGrant(
        of current: StoredToken, by credentials: ProfileCredentials
    ) async throws -> (any RepeatableGrant)? {
        try store.checkExchange(credentials.settings, of: current.profile.name)
        return try await credentials.repeatableGrant(
            of: current.profile.id, now: { now().microseconds }, loggedInAs: otherTokens)
    }

    private func hasExpired(_ current: StoredToken) -> Bool {
        current.tokens.validity(at: now().microseconds) == .expired
    }

    private func keep(
        _ response: EndpointResponse, to grant: RefreshGrant, by credentials: ProfileCredentials,
        over current: StoredToken
    ) async throws -> StoredToken {
        let name = current.profile.name
        var tokens = current.tokens
        var generation = current.generation
        // The server has ended the old refresh token when it answers: the new one is nowhere else.
        if let rotated = TokenResponse.refreshToken(status: response.status, body: response.exposedBody),
            rotated != tokens.refreshToken
        {
            guard
                let next = try store.rotate(
                    rotated, of: name, for: current.tokens.refreshToken, expectedGeneration: generation, now: now())
            else { return try changedMeanwhile(current) }
            tokens.refreshToken = rotated
            tokens.refreshTokenExpiry = nil
            generation = next
        }
        do {
            let renewed = try grant.tokens(in: response, refreshing: tokens, now: now().microseconds)
            return try await keep(renewed, by: credentials, over: current, generation)
        } catch let error as OAuth2Error where error.code == .invalidGrant {
            guard
                try store.refuse(
                    name, expectedGeneration: generation, releasing: holder, now: now())
            else { return try changedMeanwhile(current) }
            throw TokenRefreshError(.loginRequired, name)
        }
    }

    private func keep(
        _ tokens: TokenSet, by credentials: ProfileCredentials, over current: StoredToken, _ generation: Int64
    ) async throws -> StoredToken {
        var tokens = tokens
        // The ID token that comes with a resource's access token is not kept: the login has its own.
        let isOwn = current.resource == nil
        let refusal = await isOwn ? idTokenRefusal(of: tokens, by: credentials, after: current) : nil
        if refusal != nil { tokens.idToken = current.tokens.idToken }
        func isWritten(over generation: Int64) throws -> Bool {
            if let resource = current.resource {
                return try store.put(
                    tokens, for: resource, of: current.profile.name, expectedGeneration: generation,
                    releasing: holder, now: now())
            }
            return try store.put(
                tokens, for: current.profile, expectedGeneration: generation,
                cause: refusal == nil ? .refreshed : .refreshedWithoutIDToken, releasing: holder, now: now())
        }
        if try !isWritten(over: generation) {
            // Somebody else was refused meanwhile with the same refresh token: what came for it counts.
            let latest = try store.get(current.profile.name)
            guard latest.refusal != nil, let sent = current.tokens.refreshToken, latest.tokens.refreshToken == sent,
                try isWritten(over: latest.generation)
            else { return try changedMeanwhile(current) }
        }
        var stored = try store.get(current.profile.name, for: current.resource)
        stored.idTokenRefusal = refusal
        return stored
    }

    /// Why an ID token that came with a refresh is not of the login that was refreshed; `nil` if it is.
    ///
    /// Its algorithm has to be an expected one, and a signature by the client's secret or by the server's keys a right
    /// one. Where the keys cannot be fetched, TLS vouches for the token, which came from the token endpoint itself
    /// (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
    private func idTokenRefusal(
        of tokens: TokenSet, by credentials: ProfileCredentials, after current: StoredToken
    ) async -> OAuth2Error? {
        guard let token = tokens.idToken, token != current.tokens.idToken else { return nil }
        let profile = current.profile.id
        do throws(OAuth2Error) {
            let claims = try IDTokenClaims(unverified: token)
            try claims.check(
                issuer: profile.issuer, clientID: profile.clientID, nonce: nil, now: now().microseconds)
            try claims.check(accessToken: tokens.accessToken)
            if let earlier = current.tokens.idToken.flatMap({ try? IDTokenClaims(unverified: $0) }) {
                try claims.check(following: earlier)
            }
            guard try credentials.needsServerKey(for: token, claims) else { return nil }
        } catch {
            return error
        }
        return await signatureRefusal(of: token, by: credentials)
    }

    /// Why none of the server's keys has signed an ID token; `nil` if one has, or if there are no keys to be had.
    private func signatureRefusal(of token: Secret, by credentials: ProfileCredentials) async -> OAuth2Error? {
        guard let checkIDToken, credentials.settings.endpoints[.keys] != nil,
            let endpoint = try? credentials.settings.url(of: .keys),
            let keys = try? await keyTransport.send(EndpointRequest(reading: endpoint)),
            (try? keys.expectSuccess()) != nil
        else { return nil }
        do {
            try await checkIDToken(token, keys)
            return nil
        } catch let error as OAuth2Error where error.code == .invalidIDToken {
            return error
        } catch {
            // What checks signatures cannot be run: that says nothing of this one.
            return nil
        }
    }

    /// Somebody has logged in anew, or imported: that counts, not what the server said of the old grant.
    private func changedMeanwhile(_ current: StoredToken) throws -> StoredToken {
        let name = current.profile.name
        try store.releaseLease(name, of: holder)
        let latest = try store.get(name, for: current.resource)
        // A new login has no tokens for single resources yet.
        if latest.resource != nil, latest.refusal == nil, latest.tokens.accessToken.isEmpty {
            throw TokenRefreshError(.refreshBusy, name)
        }
        guard latest.refusal == nil, latest.tokens.validity(at: now().microseconds) != .expired else {
            throw TokenRefreshError(.loginRequired, name)
        }
        return latest
    }
}
