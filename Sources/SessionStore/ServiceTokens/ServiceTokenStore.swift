package import CookieModel
package import OAuth2

/// The access tokens of the service over HTTP. The database has only their hashes.
package struct ServiceTokenStore: Sendable {
    let database: SessionDatabase

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - name: 1 to 100 characters, none of them a control character. It must differ from the names of all tokens
    ///     that are not revoked.
    ///   - grant: the rights of its bearer.
    ///   - expiry: when it ends; `nil` for never.
    ///   - generator: the source of its 256 bits; it must be suitable for keys.
    /// - Returns: The token, which cannot be read again.
    /// - Throws: ``SessionStoreError/Code/nameInvalid`` if a token of that name exists.
    package func create(
        named name: String, grant: AccessGrant, expiry: Timestamp? = nil, now: Timestamp? = nil,
        using generator: inout some RandomNumberGenerator
    ) throws(SessionStoreError) -> Secret {
        let now = now ?? database.clock.now
        try SessionStoreError.check(name, of: "access token")
        if case .named(let names) = grant.jars {
            for name in names { try SessionStoreError.check(name, of: "jar") }
        }
        let text = ServiceTokenText.random(using: &generator)
        guard let digest = ServiceTokenText.digest(text) else {
            throw SessionStoreError(.nameInvalid, name, "the access token could not be created")
        }
        try database.write(.accessTokens) { connection in
            let rows = ServiceTokenRows(database: connection)
            guard try !rows.hasValid(named: name) else {
                throw SessionStoreError(
                    .nameInvalid, name,
                    "an access token with this name already exists; revoke it first, or use another name")
            }
            try rows.insert(name, grant, creation: now, expiry: expiry, digest: digest)
        }
        return text
    }

    /// All tokens, including revoked ones, in the order of creation.
    package func all() throws(SessionStoreError) -> [ServiceToken] {
        try database.read { try ServiceTokenRows(database: $0).all().map(\.token) }
    }

    /// Revokes a token. It is invalid from the next request on, in every process that has the database open.
    ///
    /// - Returns: whether a token of that name existed that was not revoked yet.
    package func revoke(named name: String, now: Timestamp? = nil) throws(SessionStoreError) -> Bool {
        let now = now ?? database.clock.now
        try SessionStoreError.check(name, of: "access token")
        return try database.write(.accessTokens) { try ServiceTokenRows(database: $0).revoke(named: name, now: now) }
    }

    /// Returns the stored token for a bearer's text; `nil` if the text is not a token, or if the token has ended.
    ///
    /// Reads no row if nothing was written since the last call. A text that is nearly a token takes no longer, because
    /// its hash is looked up.
    package func token(_ text: Secret, now: Timestamp? = nil) throws(SessionStoreError) -> ServiceToken? {
        try token(text, in: nil, now: now ?? database.clock.now)
    }

    /// The same, for a caller that already knows the committed state of a server.
    ///
    /// - Parameter state: the state that was committed when the caller began; `nil` to query it.
    package func token(
        _ text: Secret, in state: CommittedState?, now: Timestamp
    ) throws(SessionStoreError) -> ServiceToken? {
        guard let digest = ServiceTokenText.digest(text) else { return nil }
        let token = try SessionStoreError.catching(database.path) {
            try database.serviceTokenCache.token(digest, in: database, state)
        }
        return token.flatMap { $0.isValid(at: now) ? $0 : nil }
    }

    /// Whether the token of that number is still valid. For connections that were authenticated with it and are still
    /// open.
    ///
    /// Reads no row if nothing was written since the last call.
    package func isValid(_ id: Int64, now: Timestamp) throws(SessionStoreError) -> Bool {
        let token = try SessionStoreError.catching(database.path) {
            try database.serviceTokenCache.token(numbered: id, in: database)
        }
        return token?.isValid(at: now) ?? false
    }

    /// Records when tokens were last used.
    package func noteUse(_ moments: [String: Timestamp]) throws(SessionStoreError) {
        guard !moments.isEmpty else { return }
        try database.write(.accessTokens) { connection in
            let rows = ServiceTokenRows(database: connection)
            for (name, moment) in moments { try rows.noteUse(named: name, at: moment) }
        }
    }
}

extension SessionDatabase {
    /// The access tokens of the service over HTTP.
    package var serviceTokens: ServiceTokenStore {
        ServiceTokenStore(database: self)
    }
}

/// The access tokens of the service in memory, so that a request reads no row.
///
/// After a write, one number shows whether these tables were changed. So a revoked token is invalid at once.
final class ServiceTokenCache: Sendable {
    private struct Contents: Sendable {
        var generation: Int64?
        /// The number of the server's last statement that reported ``generation``.
        var round = 0
        var tokens: [ServiceTokenDigest: ServiceToken] = [:]
    }

    private struct Statements {
        let generation: Statement
        let tokens: Statement

        func currentGeneration() throws -> Int64? {
            defer { generation.reset() }
            return try generation.step() ? generation.int64(0) : nil
        }
    }

    private let memory = CommittedMemory<Contents, Statements>(Contents()) { connection in
        Statements(
            generation: try connection.prepare(ServiceTokenRows.generationQuery),
            tokens: try connection.prepare(ServiceTokenRows.query))
    }

    /// Closes the connection: the last one to be closed must be able to write.
    func close() {
        memory.close()
    }

    /// The token with that digest, in its last committed state.
    func token(
        _ digest: ServiceTokenDigest, in database: SessionDatabase, _ state: CommittedState? = nil
    ) throws -> ServiceToken? {
        try answer(database, state) { $0[digest] }
    }

    /// The token of that number, in its last committed state.
    func token(numbered id: Int64, in database: SessionDatabase) throws -> ServiceToken? {
        try answer(database, nil) { tokens in tokens.values.first { $0.id == id } }
    }

    private func answer(
        _ database: SessionDatabase, _ state: CommittedState?,
        _ body: @Sendable ([ServiceTokenDigest: ServiceToken]) -> ServiceToken?
    ) throws -> ServiceToken? {
        guard database.engine.isOnDisk else {
            return body(
                ServiceTokenCache.byDigest(try database.read { try ServiceTokenRows(database: $0).all() }))
        }
        return try memory.ask(database.engine, trustsFile: true) { contents, statements, isCurrent in
            // A statement that was answered later is newer.
            if !isCurrent, state.map({ $0.round >= contents.round }) ?? true {
                let generation = try state.map(\.tokenGeneration) ?? statements.currentGeneration()
                contents.round = state?.round ?? contents.round
                if generation == nil || generation != contents.generation {
                    // Read after the generation, so that newer tokens are read again next time.
                    contents.tokens = ServiceTokenCache.byDigest(try ServiceTokenRows.tokens(by: statements.tokens))
                    contents.generation = generation
                }
            }
            return body(contents.tokens)
        }
    }

    private static func byDigest(
        _ rows: [(digest: ServiceTokenDigest, token: ServiceToken)]
    ) -> [ServiceTokenDigest: ServiceToken] {
        Dictionary(rows.map { ($0.digest, $0.token) }, uniquingKeysWith: { $1 })
    }
}
