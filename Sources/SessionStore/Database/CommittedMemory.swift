internal import Synchronization

/// Rows of the database in memory, for a program that reads the same ones again and again.
///
/// As in ``SiteCache``, each question first compares the version of what is committed: what anyone has committed since is
/// seen by the next question.
final class CommittedMemory<Contents: Sendable, Statements>: Sendable {
    private struct State {
        var reader: (connection: Reader, statements: Statements)?
        var version: Reader.Version?
        var contents: Contents
    }

    private let empty: Contents
    private let prepare: @Sendable (Reader) throws -> Statements
    private let state: Mutex<State>

    /// A memory that has nothing in it.
    ///
    /// - Parameter prepare: prepares what reads the contents.
    init(_ empty: Contents, _ prepare: @escaping @Sendable (Reader) throws -> Statements) {
        self.empty = empty
        self.prepare = prepare
        state = Mutex(State(contents: empty))
    }

    /// Closes the connection: the last one to be closed must be one that can write.
    func close() {
        state.withLock { $0 = State(contents: empty) }
    }

    /// Answers a question out of a database on disk.
    ///
    /// - Parameters:
    ///   - trustsFile: whether what is known is given without a look at whether the file is still in its place: for
    ///     answers with which somebody reads or writes in the database, and looks then.
    ///   - body: is given the contents, the statements to read what is missing with, and whether nothing was
    ///     committed since the last question; where something was, it has to see to the contents itself.
    func ask<Answer: Sendable>(
        _ engine: Engine, trustsFile: Bool = false,
        _ body: @Sendable (_ contents: inout Contents, _ statements: Statements, _ isCurrent: Bool) throws -> Answer
    ) throws -> Answer {
        try state.withLock { state in
            let reader = try state.reader ?? open(engine)
            state.reader = reader
            // Before anything is read: what is committed in between is looked at twice rather than never.
            let version = reader.connection.version
            let isCurrent = version != nil && version == state.version
            if !(trustsFile && isCurrent) { try engine.checkFile() }
            let answer = try body(&state.contents, reader.statements, isCurrent)
            state.version = version
            return answer
        }
    }

    private func open(_ engine: Engine) throws -> (connection: Reader, statements: Statements) {
        let connection = try engine.makeReader()
        return (connection, try prepare(connection))
    }
}
