internal import CookieModel
internal import OAuth2

/// Rows of the `token_profile` table. Tokens are sealed to their profile and column.
struct TokenRows {
    private static let columns = """
        id, name, issuer, client_id, account, token_type, scope, access_token, refresh_token, id_token, received_at,
        access_expires_at, refresh_expires_at, generation, created_at, refused_at, grant_expires_at
        """

    /// SQL for "the tokens come from the same issuer and client as the stored ones". Tokens of one server are never
    /// sent to the endpoints of another.
    private static let isSameClient = """
        token_profile.issuer = excluded.issuer AND token_profile.client_id = excluded.client_id
        """

    /// The columns with sealed values. The raw value is the beginning of the sealing context.
    enum SealedColumn: String, CaseIterable {
        case accessToken = "access token"
        case refreshToken = "refresh token"
        case idToken = "ID token"
        case clientSecret = "client secret"
        case proofKey = "proof key"
        case grantKey = "grant key"
        case clientCertificate = "client certificate"
        case registrationToken = "registration token"
        case resourceTokens = "resource tokens"

        /// The column's name in SQL.
        var columnName: String {
            switch self {
            case .accessToken: "access_token"
            case .refreshToken: "refresh_token"
            case .idToken: "id_token"
            case .clientSecret: "client_secret"
            case .proofKey: "proof_key"
            case .grantKey: "grant_key"
            case .clientCertificate: "client_certificate"
            case .registrationToken: "registration_token"
            case .resourceTokens: "resource_tokens"
            }
        }
    }

    let database: Connection
    let sealer: Sealer

    /// The other name under which the same issuer, client and account are stored. A profile has one name.
    func otherName(of profile: Profile) throws -> String? {
        try database.statement(
            """
            SELECT name FROM token_profile
            WHERE issuer = ? AND client_id = ? AND account = ? AND issuer <> '' AND name <> ?
            """
        ).first(profile.id.issuer, profile.id.clientID, profile.id.account, profile.name) { $0.text(0) }
    }

    /// Writes everything but the tokens, whose sealing needs the row's id.
    ///
    /// - Parameter keepsResourceTokens: Whether the tokens belong to the same login as the stored ones.
    func upsert(
        _ profile: Profile, _ tokens: TokenSet, keepsResourceTokens: Bool = false, now: Timestamp
    ) throws -> Int64 {
        // Tokens of another client are never sent to the endpoints of this one.
        let settings = [
            "settings", "client_secret", "proof_key", "client_certificate", "registration_token", "grant_key",
        ]
        let kept = settings + (keepsResourceTokens ? ["resource_tokens"] : [])
        return try database.statement(
            """
            INSERT INTO token_profile (name, issuer, client_id, account, token_type, scope, access_token, received_at,
                access_expires_at, refresh_expires_at, generation, created_at, grant_expires_at)
            VALUES (?, ?, ?, ?, ?, ?, x'', ?, ?, ?, 1, ?, ?)
            ON CONFLICT (name) DO UPDATE SET
                \(kept.map { "\($0) = CASE WHEN \(TokenRows.isSameClient) THEN token_profile.\($0) END" }
                    .joined(separator: ", ")),
                \(keepsResourceTokens ? "" : "resource_tokens = NULL,")
                issuer = excluded.issuer, client_id = excluded.client_id, account = excluded.account,
                token_type = excluded.token_type, scope = excluded.scope, received_at = excluded.received_at,
                access_expires_at = excluded.access_expires_at, refresh_expires_at = excluded.refresh_expires_at,
                grant_expires_at = excluded.grant_expires_at, generation = token_profile.generation + 1,
                refused_at = NULL
            RETURNING id
            """
        ).returnedNumber(
            profile.name, profile.id.issuer, profile.id.clientID, profile.id.account, tokens.tokenType.name,
            tokens.scopes?.description, tokens.receivedAt, tokens.accessTokenExpiry, tokens.refreshTokenExpiry, now,
            tokens.grantExpiry)
    }

    func seal(_ tokens: TokenSet, id: Int64) throws {
        try database.statement(
            "UPDATE token_profile SET access_token = ?, refresh_token = ?, id_token = ? WHERE id = ?"
        ).run(
            try sealed(tokens.accessToken, id, .accessToken),
            try tokens.refreshToken.map { try sealed($0, id, .refreshToken) },
            try tokens.idToken.map { try sealed($0, id, .idToken) }, id)
    }

    /// The profile of that name, or all of them.
    func tokens(named name: String?) throws -> [Result<StoredToken, SessionStoreError>] {
        try database.statement(
            "SELECT \(TokenRows.columns) FROM token_profile \(name == nil ? "" : "WHERE name = ?1") ORDER BY name"
        ).rows(name) { token($0) }
    }

    /// Removes a profile. Returns its generation; `nil` if it did not exist.
    func delete(named name: String) throws -> Int64? {
        try database.statement("DELETE FROM token_profile WHERE name = ? RETURNING generation")
            .rows(name) { $0.int64(0) }.first
    }

    /// Replaces the refresh token by the one that was received for it. Apart from the generation, nothing else changes.
    func rotate(_ refreshToken: Secret, id: Int64) throws {
        try database.statement(
            """
            UPDATE token_profile
            SET refresh_token = ?, refresh_expires_at = NULL, refused_at = NULL, generation = generation + 1
            WHERE id = ?
            """
        ).run(try sealed(refreshToken, id, .refreshToken), id)
    }

    /// A login with the access token for a resource instead of its own.
    func view(_ stored: StoredToken, for resource: String) throws -> StoredToken {
        let tokens = try resourceTokens(of: stored.profile.name).tokens(stored.tokens, for: resource)
        var view = StoredToken(
            profile: stored.profile, tokens: tokens, generation: stored.generation, creation: stored.creation,
            refusal: stored.refusal)
        view.resource = resource
        return view
    }

    /// Stores the access token for a resource. The login's own tokens do not change.
    func put(_ tokens: TokenSet, for resource: String, named name: String, id: Int64) throws {
        var all = try resourceTokens(of: name)
        all.put(tokens, for: resource)
        try database.statement(
            """
            UPDATE token_profile
            SET resource_tokens = ?, refresh_expires_at = ?, refused_at = NULL, generation = generation + 1
            WHERE id = ?
            """
        ).run(try sealed(try all.stored(), id, .resourceTokens), tokens.refreshTokenExpiry, id)
    }

    /// The access tokens of a login for single resources.
    func resourceTokens(of name: String) throws -> ResourceTokens {
        let statement = try database.statement("SELECT id, resource_tokens FROM token_profile WHERE name = ?")
        defer { statement.reset() }
        statement.bindAll(name)
        guard try statement.step() else { throw TokenStore.notFound(name) }
        guard let stored = optional(statement, 1, statement.int64(0), .resourceTokens),
            let tokens = ResourceTokens(stored)
        else {
            throw SessionStoreError(
                .valueDamaged, name, "the stored tokens for single resources were changed or damaged; log in again")
        }
        return tokens
    }

    /// Records when the refresh token ends. The tokens and the generation do not change.
    func noteExpiryOfRefreshToken(_ expiry: Timestamp, id: Int64) throws {
        try database.statement("UPDATE token_profile SET refresh_expires_at = ? WHERE id = ?").run(expiry, id)
    }

    /// Records when the access token ends. The tokens and the generation do not change.
    func expireAccessToken(at end: Timestamp, id: Int64) throws {
        try database.statement("UPDATE token_profile SET access_expires_at = ? WHERE id = ?").run(end, id)
    }

    /// Records that the server no longer accepts the grant.
    func refuse(id: Int64, now: Timestamp) throws {
        try database.statement(
            "UPDATE token_profile SET refused_at = ?, generation = generation + 1 WHERE id = ?"
        ).run(now, id)
    }

    /// Treats all grants with a refresh token as refused.
    ///
    /// - Returns: the names and generations of those that were not refused before.
    func quarantine(now: Timestamp) throws -> [(name: String, generation: Int64)] {
        try database.statement(
            """
            UPDATE token_profile SET refused_at = ?, generation = generation + 1
            WHERE refresh_token IS NOT NULL AND refused_at IS NULL RETURNING name, generation
            """
        ).rows(now) { ($0.text(0), $0.int64(1)) }
    }

    /// A profile's row and generation.
    func row(named name: String) throws -> (id: Int64, generation: Int64)? {
        try database.statement("SELECT id, generation FROM token_profile WHERE name = ?").first(name) {
            ($0.int64(0), $0.int64(1))
        }
    }

    // MARK: - Settings

    func put(_ credentials: ProfileCredentials, id: Int64) throws {
        try database.statement(
            """
            UPDATE token_profile
            SET settings = ?, client_secret = ?, proof_key = ?, grant_key = ?, client_certificate = ?,
                registration_token = ?
            WHERE id = ?
            """
        ).run(
            try credentials.settings.storedText(),
            try credentials.clientSecret.map { try sealed($0, id, .clientSecret) },
            try credentials.proofKey.map { try sealed($0, id, .proofKey) },
            try credentials.grantKey.map { try sealed($0, id, .grantKey) },
            try credentials.clientCertificate.map { try sealed($0, id, .clientCertificate) },
            try credentials.registrationToken.map { try sealed($0, id, .registrationToken) }, id)
    }

    /// The settings of a profile with their secrets; `nil` if it has none.
    func credentials(named name: String) throws -> ProfileCredentials? {
        let statement = try database.statement(
            """
            SELECT id, settings, client_secret, proof_key, grant_key, client_certificate, registration_token
            FROM token_profile WHERE name = ?
            """)
        defer { statement.reset() }
        statement.bindAll(name)
        guard try statement.step(), !statement.isNull(1) else { return nil }
        let id = statement.int64(0)
        guard let settings = ProfileSettings(storedText: statement.text(1)),
            let clientSecret = optional(statement, 2, id, .clientSecret),
            let proofKey = optional(statement, 3, id, .proofKey),
            let grantKey = optional(statement, 4, id, .grantKey),
            let clientCertificate = optional(statement, 5, id, .clientCertificate),
            let registrationToken = optional(statement, 6, id, .registrationToken)
        else {
            throw SessionStoreError(
                .valueDamaged, name, "the stored settings were changed or damaged; log in again")
        }
        return ProfileCredentials(
            settings: settings, clientSecret: clientSecret, proofKey: proofKey, grantKey: grantKey,
            clientCertificate: clientCertificate, registrationToken: registrationToken)
    }

    private func token(_ statement: Statement) -> Result<StoredToken, SessionStoreError> {
        let id = statement.int64(0)
        let name = statement.text(1)
        guard let accessToken = opened(statement, 7, id, .accessToken),
            let refreshToken = optional(statement, 8, id, .refreshToken),
            let idToken = optional(statement, 9, id, .idToken)
        else {
            return .failure(
                SessionStoreError(.valueDamaged, name, "the stored token was changed or damaged; import it again"))
        }
        let profile = Profile(
            id: ProfileID(issuer: statement.text(2), clientID: statement.text(3), account: statement.text(4)),
            name: name)
        let tokens = TokenSet(
            accessToken: accessToken, tokenType: TokenType(statement.text(5)), refreshToken: refreshToken,
            idToken: idToken, scopes: statement.isNull(6) ? nil : Scopes(parsing: statement.text(6)),
            receivedAt: statement.timestamp(10), accessTokenExpiry: statement.optionalTimestamp(11),
            refreshTokenExpiry: statement.optionalTimestamp(12), grantExpiry: statement.optionalTimestamp(16))
        return .success(
            StoredToken(
                profile: profile, tokens: tokens, generation: statement.int64(13),
                creation: statement.timestamp(14),
                refusal: statement.optionalTimestamp(15)))
    }

    private func sealed(_ secret: Secret, _ id: Int64, _ column: SealedColumn) throws -> [UInt8] {
        try sealer.seal(secret.exposedBytes, at: TokenRows.place(id, column))
    }

    private func opened(_ statement: Statement, _ index: Int32, _ id: Int64, _ column: SealedColumn) -> Secret? {
        sealer.open(Octets(statement.bytes(index)), at: TokenRows.place(id, column)).map { Secret($0) }
    }

    /// The secret of a column that may be NULL: the inner optional is `nil` for NULL, the outer one for a damaged
    /// value.
    private func optional(_ statement: Statement, _ index: Int32, _ id: Int64, _ column: SealedColumn) -> Secret?? {
        statement.isNull(index) ? .some(nil) : opened(statement, index, id, column).map { .some($0) }
    }

    /// Returns the context that a token is sealed to: its profile's row and its column.
    static func place(_ id: Int64, _ column: SealedColumn) -> [UInt8] {
        var place = SealedPlace(column.rawValue)
        place.append(id)
        return place.bytes
    }
}
