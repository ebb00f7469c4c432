internal import Synchronization

/// The access tokens of the service in memory, so that a request needs no row.
///
/// As in ``SiteCache``, each question first compares the header of the write-ahead log's index. Where somebody wrote,
/// one number tells whether it was to these tables; a token that was revoked opens nothing from then on.
final class ServiceTokenCache: Sendable {
    private struct Reader {
        let connection: ReadingConnection
        let generation: RowStatement
        let tokens: RowStatement
    }

    private struct State {
        var reader: Reader?
        var header: WALIndex.Header?
        var generation: Int64?
        var tokens: [ServiceTokenDigest: ServiceToken] = [:]
    }

    private let state = Mutex(State())

    /// Closes the connection: the last one to be closed must be one that can write.
    func close() {
        state.withLock { $0 = State() }
    }

    /// The token with that digest, as the last commit left it.
    func token(_ digest: ServiceTokenDigest, in database: SessionDatabase) throws -> ServiceToken? {
        guard database.isOnDisk else {
            return try database.read { connection in
                try ServiceTokenRows(database: connection).all().first { $0.digest == digest }?.token
            }
        }
        return try state.withLock { state in
            let reader = try state.reader ?? ServiceTokenCache.open(database)
            state.reader = reader
            try database.file.checkBeforeRead(reader.connection.pointer)
            // Before anything is read: what is committed in between is looked at twice rather than never.
            let header = reader.connection.walIndex?.header
            if header == nil || header != state.header {
                defer { reader.generation.reset() }
                let generation = try reader.generation.step() ? reader.generation.int64(0) : nil
                if generation == nil || generation != state.generation {
                    // Read after its number: what is newer than that is read again next time.
                    state.tokens = Dictionary(
                        try ServiceTokenRows.tokens(by: reader.tokens).map { ($0.digest, $0.token) },
                        uniquingKeysWith: { $1 })
                    state.generation = generation
                }
                state.header = header
            }
            return state.tokens[digest]
        }
    }

    private static func open(_ database: SessionDatabase) throws -> Reader {
        let connection = try ReadingConnection(database.file, busyTimeout: database.busyTimeout)
        return Reader(
            connection: connection, generation: try connection.prepare(ServiceTokenRows.generationQuery),
            tokens: try connection.prepare(ServiceTokenRows.query))
    }
}
