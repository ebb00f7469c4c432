/// The access tokens of the service in memory, so that a request needs no row.
///
/// Where somebody wrote, one number tells whether it was to these tables; a token that was revoked opens nothing from
/// then on.
final class ServiceTokenCache: Sendable {
    private struct Contents: Sendable {
        var generation: Int64?
        var tokens: [ServiceTokenDigest: ServiceToken] = [:]
    }

    private struct Statements {
        let generation: RowStatement
        let tokens: RowStatement
    }

    private let memory = CommittedMemory<Contents, Statements>(Contents()) { connection in
        Statements(
            generation: try connection.prepare(ServiceTokenRows.generationQuery),
            tokens: try connection.prepare(ServiceTokenRows.query))
    }

    /// Closes the connection: the last one to be closed must be one that can write.
    func close() {
        memory.close()
    }

    /// The token with that digest, as the last commit left it.
    func token(_ digest: ServiceTokenDigest, in database: SessionDatabase) throws -> ServiceToken? {
        try answer(database) { $0[digest] }
    }

    /// The token of that number, as the last commit left it.
    func token(numbered id: Int64, in database: SessionDatabase) throws -> ServiceToken? {
        try answer(database) { tokens in tokens.values.first { $0.id == id } }
    }

    private func answer(
        _ database: SessionDatabase, _ body: @Sendable ([ServiceTokenDigest: ServiceToken]) -> ServiceToken?
    ) throws -> ServiceToken? {
        guard database.isOnDisk else {
            return body(
                ServiceTokenCache.byDigest(try database.read { try ServiceTokenRows(database: $0).all() }))
        }
        return try memory.ask(database, trustsFile: true) { contents, statements, isCurrent in
            if !isCurrent {
                defer { statements.generation.reset() }
                let generation = try statements.generation.step() ? statements.generation.int64(0) : nil
                if generation == nil || generation != contents.generation {
                    // Read after its number: what is newer than that is read again next time.
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
