internal import Synchronization

/// Which jars there are, in memory, for a program that asks for the same ones again and again.
///
/// As in ``SiteCache``, each question first compares the header of the write-ahead log's index: a jar that anyone
/// removed, renamed or gave other settings is read anew. Who asks but once needs no connection for it.
final class JarCache: Sendable {
    private struct Reader {
        let connection: ReadingConnection
        let jar: RowStatement
    }

    private struct State {
        var hasBeenAsked = false
        var reader: Reader?
        var header: WALIndex.Header?
        var jars: [String: (id: Int64, settings: JarSettings)] = [:]
    }

    private let state = Mutex(State())

    /// Closes the connection: the last one to be closed must be one that can write.
    func close() {
        state.withLock { $0 = State() }
    }

    /// The id and settings of the jar of that name, as the last commit left them; `nil` where there is none.
    func jar(named name: String, in database: SessionDatabase) throws -> (id: Int64, settings: JarSettings)? {
        let isFirst = state.withLock { state in
            defer { state.hasBeenAsked = true }
            return !state.hasBeenAsked
        }
        guard database.isOnDisk, !isFirst else {
            return try database.read { try JarRows(database: $0).jar(named: name) }
        }
        return try state.withLock { state in
            let reader = try state.reader ?? JarCache.open(database)
            state.reader = reader
            try database.file.checkBeforeRead(reader.connection.pointer)
            // Before anything is read: what is committed in between is looked at twice rather than never.
            let header = reader.connection.walIndex?.header
            if header == nil || header != state.header {
                state.jars.removeAll(keepingCapacity: true)
                state.header = header
            }
            if let known = state.jars[name] { return known }
            defer { reader.jar.reset() }
            reader.jar.bind(1, text: name)
            guard try reader.jar.step() else { return nil }
            let found = JarRows.row(reader.jar)
            state.jars[name] = found
            return found
        }
    }

    private static func open(_ database: SessionDatabase) throws -> Reader {
        let connection = try ReadingConnection(database.file, busyTimeout: database.busyTimeout)
        return Reader(connection: connection, jar: try connection.prepare(JarRows.query))
    }
}
