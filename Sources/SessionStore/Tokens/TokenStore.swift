public import CookieModel
public import OAuth2

/// The OAuth2 tokens of a ``SessionDatabase``: a token set for each profile, every token sealed.
public struct TokenStore: Sendable {
    let database: SessionDatabase

    /// Stores a token set under a profile's name, replacing an earlier one.
    ///
    /// - Parameters:
    ///   - credentials: how the tokens can be renewed; if `nil`, the stored credentials stay.
    ///   - expectedGeneration: if given, nothing is written unless the stored generation is still this one.
    ///   - now: the time of creation of a new profile.
    /// - Returns: whether the token set was stored.
    @discardableResult
    public func put(
        _ tokens: TokenSet, for profile: Profile, credentials: ProfileCredentials? = nil,
        expectedGeneration: Int64? = nil, now: Timestamp? = nil
    ) throws(SessionStoreError) -> Bool {
        try put(
            tokens, for: profile, credentials: credentials, expectedGeneration: expectedGeneration, cause: .stored,
            now: now)
    }

    /// The same, for a step of a refresh.
    ///
    /// - Parameters:
    ///   - cause: the cause in the journal. With ``TokenChange/Cause/refused`` only a new login helps from then on.
    ///   - holder: the holder whose lease ends with this call.
    @discardableResult
    package func put(
        _ tokens: TokenSet, for profile: Profile, credentials: ProfileCredentials? = nil,
        expectedGeneration: Int64? = nil, cause: TokenChange.Cause, releasing holder: LeaseHolder? = nil,
        now: Timestamp? = nil
    ) throws(SessionStoreError) -> Bool {
        let now = now ?? database.clock.now
        try SessionStoreError.check(profile.name, of: "token")
        return try database.write(.profiles) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            let existing = try rows.row(named: profile.name)
            if let expectedGeneration, existing?.generation != expectedGeneration { return false }
            if let other = try rows.otherName(of: profile) {
                throw SessionStoreError(
                    .nameInvalid, profile.name,
                    advice: "the login of the same issuer, client and account is stored as '\(other)'; use that "
                        + "name, or name another account\(command: ", as with --account")")
            }
            let id = try rows.upsert(
                profile, tokens, keepsResourceTokens: cause == .refreshed || cause == .refreshedWithoutIDToken, now: now
            )
            try rows.seal(tokens, id: id)
            if cause == .refused { try rows.refuse(id: id, now: now) }
            if let credentials { try rows.put(credentials, id: id) }
            try TokenChangeRows(database: connection).append(
                cause, profile.name, generation: (existing?.generation ?? 0) + (cause == .refused ? 2 : 1), now: now)
            if let holder { try TokenLeaseRows(database: connection).release(id, holder) }
            return true
        }
    }

    /// Stores an access token for one resource (RFC 8707), which was received for a login's refresh token.
    ///
    /// - Returns: Whether the profile was unchanged; if not, nothing was written.
    func put(
        _ tokens: TokenSet, for resource: String, of name: String, expectedGeneration: Int64,
        releasing holder: LeaseHolder, now: Timestamp
    ) throws(SessionStoreError) -> Bool {
        try database.write(.profiles) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name), row.generation == expectedGeneration else { return false }
            try rows.put(tokens, for: resource, named: name, id: row.id)
            try TokenChangeRows(database: connection).append(
                .refreshed, name, generation: row.generation + 1, now: now)
            try TokenLeaseRows(database: connection).release(row.id, holder)
            return true
        }
    }

    /// The token set of that name.
    ///
    /// - Parameter resource: If given, the access token is the one for this resource (RFC 8707). A token that was not
    ///   requested yet is expired.
    /// - Throws: `SessionStoreError.Code.tokenNotFound` if no token set has this name, and
    ///   `SessionStoreError.Code.valueDamaged` if it was tampered with.
    public func get(_ name: String, for resource: String? = nil) throws(SessionStoreError) -> StoredToken {
        try SessionStoreError.check(name, of: "token")
        return try database.read { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let token = try rows.tokens(named: name).first?.get() else { throw TokenStore.notFound(name) }
            return if let resource { try rows.view(token, for: resource) } else { token }
        }
    }

    /// The token set of that name. `nil` if no token set has the name, or if it was tampered with and can only be replaced.
    package func readable(_ name: String) throws(SessionStoreError) -> StoredToken? {
        do {
            return try get(name)
        } catch {
            guard error.code == .tokenNotFound || error.code == .valueDamaged else { throw error }
            return nil
        }
    }

    /// The access tokens of that name for single resources (RFC 8707) that have not expired, at most 64.
    ///
    /// - Throws: As ``get(_:for:)``.
    package func resourceAccessTokens(of name: String, now: Timestamp) throws(SessionStoreError) -> [Secret] {
        try database.read { connection in
            try TokenRows(database: connection, sealer: database.sealer).resourceTokens(of: name)
                .accessTokens(at: now)
        }
    }

    /// How the tokens of that name can be renewed; `nil` if that is unknown.
    package func credentials(_ name: String) throws(SessionStoreError) -> ProfileCredentials? {
        try database.read { connection in
            try TokenRows(database: connection, sealer: database.sealer).credentials(named: name)
        }
    }

    /// The tokens of that name as they are presented to a site, with the key that they are bound to, if any.
    ///
    /// - Throws: As ``get(_:for:)``.
    package func credential(
        _ name: String, for resource: String? = nil
    ) throws(SessionStoreError) -> AccessCredential {
        try SessionStoreError.check(name, of: "token")
        // Both are read in one transaction, because a login in between would change the key.
        return try database.read { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let token = try rows.tokens(named: name).first else { throw TokenStore.notFound(name) }
            let stored = try token.get()
            let tokens = try resource.map { try rows.view(stored, for: $0).tokens } ?? stored.tokens
            guard tokens.tokenType == .dpop, let key = try rows.credentials(named: name)?.proofKey else {
                return AccessCredential(tokens)
            }
            guard let proofKey = try? SigningKey(key) else {
                throw SessionStoreError(
                    .valueDamaged, name, "the key that the tokens are bound to was damaged; log in again")
            }
            return AccessCredential(tokens, proofKey: proofKey)
        }
    }

    /// Checks that renewing tokens terminates: an exchange uses other logins, which may use exchanges themselves.
    ///
    /// - Throws: ``SessionStoreError/Code/nameInvalid`` if an exchange uses the login itself, or more than 16 logins.
    /// - Complexity: O(1): at most 16 logins are read.
    package func checkExchange(_ settings: ProfileSettings, of name: String) throws(SessionStoreError) {
        try database.read { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            var open = settings.exchange?.logins ?? []
            var seen: Set<String> = []
            while let next = open.popLast() {
                guard next != name else {
                    throw SessionStoreError(
                        .nameInvalid, name,
                        "a token cannot be exchanged for itself; exchange the token of another login")
                }
                guard seen.insert(next).inserted else { continue }
                guard seen.count <= 16 else {
                    throw SessionStoreError(.nameInvalid, name, "its token depends on more than 16 other logins")
                }
                open += try rows.credentials(named: next)?.settings.exchange?.logins ?? []
            }
        }
    }

    /// Changes how the tokens of that name are renewed.
    ///
    /// - Parameter change: changes the present settings, within the transaction.
    /// - Returns: whether the profile has settings.
    /// - Throws: ``SessionStoreError/Code/tokenNotFound``.
    package func changeSettings(
        of name: String, _ change: (inout ProfileSettings) -> Void
    ) throws(SessionStoreError) -> Bool {
        try database.write(.profiles) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let row = try rows.row(named: name) else { throw TokenStore.notFound(name) }
            guard var credentials = try rows.credentials(named: name) else { return false }
            change(&credentials.settings)
            try rows.put(credentials, id: row.id)
            return true
        }
    }

    /// All token sets by name. A damaged one is represented by its error.
    public func all() throws(SessionStoreError) -> [Result<StoredToken, SessionStoreError>] {
        try database.read { connection in
            try TokenRows(database: connection, sealer: database.sealer).tokens(named: nil)
        }
    }

    /// Removes the token set of that name.
    ///
    /// - Returns: whether it existed.
    public func remove(_ name: String, now: Timestamp? = nil) throws(SessionStoreError) -> Bool {
        let now = now ?? database.clock.now
        // PostgreSQL does not accept this character, and no name contains it.
        guard !name.utf8.contains(0) else { return false }
        return try database.write(.profiles) { connection in
            let rows = TokenRows(database: connection, sealer: database.sealer)
            guard let generation = try rows.delete(named: name) else { return false }
            try TokenChangeRows(database: connection).append(.removed, name, generation: generation, now: now)
            return true
        }
    }

    static func notFound(_ name: String) -> SessionStoreError {
        SessionStoreError(
            .tokenNotFound, name, "there is no token with this name")
    }
}

extension SessionDatabase {
    /// The OAuth2 tokens in this database.
    public var tokens: TokenStore {
        TokenStore(database: self)
    }
}

/// A stored token set, with its profile and the number of its changes.
public struct StoredToken: Sendable {
    /// Issuer, client, account and the name for users.
    public let profile: Profile
    /// The tokens.
    public let tokens: TokenSet
    /// The number of changes, from 1, for compare-and-swap.
    package let generation: Int64
    /// When the profile was first stored.
    package let creation: Timestamp
    /// When the server rejected the grant, so that only a new login helps; `nil` if it did not.
    package let refusal: Timestamp?
    /// The reason why the ID token of the refresh that returned these tokens was not stored; the earlier ID token
    /// stayed. `nil` for tokens that were read, not refreshed.
    package internal(set) var idTokenRefusal: OAuth2Error?

    /// The resource that the access token is for (RFC 8707); `nil` for the login's own.
    public internal(set) var resource: String?

    /// Whether the server may still renew the tokens, as far as is known at `now`.
    package func isRefreshable(at now: Timestamp) -> Bool {
        refusal == nil && tokens.isRefreshable(at: now)
    }
}
