internal import Synchronization

/// A cache for rows of the database that a program reads again and again.
///
/// As in ``SiteCache``, each question first compares the version of the committed data. So the next question sees
/// everything that was committed since.
final class CommittedMemory<Contents: Sendable, Statements>: Sendable {
    private struct State {
        var reader: (connection: Reader, statements: Statements)?
        var version: Reader.Version?
        var contents: Contents
    }

    private let empty: Contents
    private let prepare: @Sendable (Reader) throws -> Statements
    private let state: Mutex<State>

    /// An empty cache.
    ///
    /// - Parameter prepare: prepares the statements that read the contents.
    init(_ empty: Contents, _ prepare: @escaping @Sendable (Reader) throws -> Statements) {
        self.empty = empty
        self.prepare = prepare
        state = Mutex(State(contents: empty))
    }

    /// Closes the connection: the last one to be closed must be able to write.
    func close() {
        state.withLock { $0 = State(contents: empty) }
    }

    /// Answers a question about a database on disk.
    ///
    /// - Parameters:
    ///   - trustsFile: whether to skip the check that the file is still at its path. For callers that use the answer to
    ///     read or write in the database, which checks it.
    ///   - body: receives the contents, the statements for reading missing ones, and whether nothing was committed
    ///     since the last question. If something was, `body` has to update the contents.
    func ask<Answer: Sendable>(
        _ engine: Engine, trustsFile: Bool = false,
        _ body: @Sendable (_ contents: inout Contents, _ statements: Statements, _ isCurrent: Bool) throws -> Answer
    ) throws -> Answer {
        try state.withLock { state in
            let reader = try state.reader ?? open(engine)
            state.reader = reader
            // Read first, so that a commit in between is read twice rather than never.
            let version = reader.connection.version
            let isCurrent = version != nil && version == state.version
            if !(trustsFile && isCurrent) { try engine.checkFile() }
            let answer = try body(&state.contents, reader.statements, isCurrent)
            state.version = version
            return answer
        }
    }

    /// Answers a question from memory.
    ///
    /// - Parameter body: receives the contents; returns `nil` if they lack the answer.
    /// - Returns: `nil` if the database has to be read, or if another thread uses this memory.
    func askAtOnce<Answer: Sendable>(
        _ engine: Engine, _ body: @Sendable (_ contents: Contents) -> Answer?
    ) throws -> Answer? {
        try state.withLockIfAvailable { state -> Answer? in
            guard let version = state.reader?.connection.version, version == state.version,
                let answer = body(state.contents)
            else { return nil }
            try engine.checkFile()
            return answer
        } ?? nil
    }

    private func open(_ engine: Engine) throws -> (connection: Reader, statements: Statements) {
        let connection = try engine.makeReader()
        return (connection, try prepare(connection))
    }
}
