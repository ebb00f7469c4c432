internal import CookieModel
internal import Dispatch
internal import Synchronization

/// The state that a server had committed when a request arrived, for the request's first reads: its jar, the end of the
/// jar's journal, and the numbers that show whether access tokens or keys have changed.
///
/// It answers reads that begin before the request writes anything. Requests that wait at the same time share it.
package final class CommittedState: Sendable {
    /// The jar with the name.
    struct Jar: Sendable {
        let row: JarRows.Row
        let hasLoginRules: Bool
        /// The position of the journal's next entry.
        let nextChange: Int64
    }

    /// The number of its statement, in the order in which the statements of this process saw the database.
    let round: Int
    let tokenGeneration: Int64?
    /// The ID of the newest key, which seals values.
    let newestKey: UInt32?
    /// The name of the requested jar; empty for none.
    private let jarName: Octets
    /// `nil` if there is no jar of that name.
    let jar: Jar?

    init(round: Int, tokenGeneration: Int64?, newestKey: UInt32?, jarName: Octets, jar: Jar?) {
        self.round = round
        self.tokenGeneration = tokenGeneration
        self.newestKey = newestKey
        self.jarName = jarName
        self.jar = jar
    }

    /// Whether the state is about that name.
    func isOfJar(named name: String) -> Bool {
        jarName.elementsEqual(name.utf8)
    }
}

extension SessionDatabase {
    /// Asks a server for the committed state, together with all callers that ask at the same time.
    ///
    /// - Parameter name: the jar of the request, which may not exist; `nil` for none.
    /// - Returns: the state that was committed at some time after the call; `nil` for a file, which needs no round
    ///   trip.
    package func committedState(ofJar name: String?) async throws(SessionStoreError) -> CommittedState? {
        guard let committedStates else { return nil }
        let name = name ?? ""
        // No jar has an invalid name, and such a name may contain the separator of names in the statement.
        let isValid = (try? SessionStoreError.check(name, of: "jar")) != nil
        return try await committedStates.state(ofJar: Octets(Array((isValid ? name : "").utf8)))
    }
}

/// Asks a server for the committed state, with one statement for all waiting callers.
///
/// While a statement runs, further questions wait for the next one, so an answer is never older than its question. One
/// connection suffices, and the more questions there are, the more of them share a statement.
final class CommittedStateQueue: Sendable {
    /// Returns the states of jars by name, all at one time after the call.
    typealias Ask = @Sendable (_ names: Set<Octets>, _ round: Int) throws(SessionStoreError) -> [Octets: CommittedState]

    private struct Question: Sendable {
        let name: Octets
        let asker: CheckedContinuation<Result<CommittedState, SessionStoreError>, Never>
    }

    private struct State {
        var waiting: [Question] = []
        /// Whether the thread is running. It checks for further questions before it stops.
        var isAsking = false
        var requestCount = 0
        var statementCount = 0
    }

    private let ask: Ask
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "crumb.committed-state")

    init(_ ask: @escaping Ask) {
        self.ask = ask
    }

    /// How many questions wait for the next statement.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// How many questions were asked.
    var requestCount: Int { state.withLock { $0.requestCount } }

    /// How many statements were run.
    var statementCount: Int { state.withLock { $0.statementCount } }

    /// Returns the state that is committed at some time after the call.
    ///
    /// - Parameter name: a jar's name; empty for none.
    func state(ofJar name: Octets) async throws(SessionStoreError) -> CommittedState {
        let answer = await withCheckedContinuation { asker in
            let isFirst = state.withLock { state in
                state.waiting.append(Question(name: name, asker: asker))
                state.requestCount += 1
                defer { state.isAsking = true }
                return !state.isAsking
            }
            if isFirst { thread.async { [self] in while askOnce() {} } }
        }
        return try answer.get()
    }

    private func takeWaiting() -> [Question] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Answers all callers that wait now.
    ///
    /// - Returns: whether a caller was waiting.
    private func askOnce() -> Bool {
        let (questions, round) = state.withLock { state in
            let questions = state.waiting
            state.waiting = []
            if questions.isEmpty { state.isAsking = false } else { state.statementCount += 1 }
            return (questions, state.statementCount)
        }
        guard !questions.isEmpty else { return false }
        do throws(SessionStoreError) {
            let states = try ask(Set(questions.lazy.map(\.name)), round)
            for question in questions {
                question.asker.resume(returning: states[question.name].map(Result.success) ?? .failure(.unanswered))
            }
        } catch {
            // Callers that came meanwhile would wait as long again for a server that does not answer.
            let further = error.code == .databaseUnreachable ? takeWaiting() : []
            for question in questions + further { question.asker.resume(returning: .failure(error)) }
        }
        return true
    }
}

extension SessionStoreError {
    fileprivate static let unanswered = SessionStoreError(
        .databaseFailed, "the database", "the server did not return what was asked for")
}

extension CommittedStateQueue {
    /// Separates the names in the parameter of ``query``. No name contains it.
    private static let separator: UInt8 = 1

    /// A row for each name in the parameter.
    private static let query = """
        SELECT asked.name, (\(ServiceTokenRows.generationQuery)), (\(SealingKeyRows.newestQuery)),
            EXISTS (SELECT 1 FROM login_rule WHERE jar_id = jar.id), \(ChangeRows.nextPosition), jar.id,
            \(JarRows.columns)
        FROM unnest(string_to_array(?, chr(1))) AS asked (name) LEFT JOIN jar ON jar.name = asked.name
        """

    /// Creates a queue with a connection of its own to a server.
    ///
    /// - Parameter path: the name of the database in errors.
    convenience init(_ engine: Engine, path: String) {
        let memory = CommittedMemory<Void, Statement>(()) { try $0.prepare(CommittedStateQueue.query) }
        self.init { names, round throws(SessionStoreError) in
            try SessionStoreError.catching(path) {
                try memory.ask(engine) { _, statement, _ in
                    defer { statement.reset() }
                    // The text begins with an empty name, because an empty text would contain no name at all.
                    statement.bind(1, text: Octets(names.flatMap { [Self.separator] + $0 }))
                    var states: [Octets: CommittedState] = [:]
                    while try statement.step() {
                        let name = Octets(statement.bytes(0))
                        states[name] = CommittedState(statement, ofJar: name, round: round)
                    }
                    return states
                }
            }
        }
    }
}

extension CommittedState {
    /// The current row of ``CommittedStateQueue/query``.
    fileprivate convenience init(_ statement: Statement, ofJar name: Octets, round: Int) {
        let row = statement.isNull(5) ? nil : JarRows.row(statement, from: 6)
        self.init(
            round: round, tokenGeneration: statement.optionalInt64(1),
            newestKey: statement.optionalInt64(2).map { UInt32(truncatingIfNeeded: $0) }, jarName: name,
            jar: row.map { Jar(row: $0, hasLoginRules: statement.int64(3) != 0, nextChange: statement.int64(4)) })
    }
}
