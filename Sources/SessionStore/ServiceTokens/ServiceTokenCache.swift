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
        guard database.isOnDisk else {
            return try database.read { connection in
                try ServiceTokenRows(database: connection).all().first { $0.digest == digest }?.token
            }
        }
        return try memory.ask(database, trustsFile: true) { contents, statements, isCurrent in
            if !isCurrent {
                defer { statements.generation.reset() }
                let generation = try statements.generation.step() ? statements.generation.int64(0) : nil
                if generation == nil || generation != contents.generation {
                    // Read after its number: what is newer than that is read again next time.
                    contents.tokens = Dictionary(
                        try ServiceTokenRows.tokens(by: statements.tokens).map { ($0.digest, $0.token) },
                        uniquingKeysWith: { $1 })
                    contents.generation = generation
                }
            }
            return contents.tokens[digest]
        }
    }
}
