import Platform
internal import StoreEngine

/// One connection to a server, in pipeline mode: statements are queued, and one round trip runs all of them.
///
/// The next use outside a transaction replaces a lost connection. Every wait has a deadline, because a frozen server
/// keeps its connections open.
///
/// `@unchecked` because the compiler cannot see that one thread at a time uses it: ``PostgreSQLDatabase`` lends it to
/// one transaction, a mutex guards that of the heartbeat, and a cache guards its own reader.
final class PostgreSQLSession: @unchecked Sendable {
    /// How many statements are queued at most before they are sent.
    private static let queueLimit = 512

    let target: PostgreSQLTarget
    private let library: LibPQ
    private let notices: ServerNotices
    private var pointer: LibPQ.Session = nil
    /// The number of the connection. Statements that were prepared on an earlier connection are gone.
    private(set) var generation = 0
    /// The epoch in which the connection was made (``ServerMemory/epoch``).
    private var epoch = 0
    private var statements: [String: PostgreSQLStatement] = [:]
    private var preparedCount = 0
    /// The statements that were sent and are not answered yet; `nil` for one whose result is not read.
    private var queue: [PostgreSQLStatement?] = []
    /// The statements that were run before a caller needs them (``ForeseenQuery``).
    private var foreseen: [PostgreSQLStatement] = []
    /// Whether the connection was idle: if it is lost now, it was lost while idle.
    private var wasIdle = false
    /// Whether the server did not run the last statement because an earlier one had failed.
    private(set) var hasSkippedLast = false
    /// Whether a transaction runs. It ends with its connection.
    var isInTransaction = false
    /// The reason why the transaction cannot be committed.
    private(set) var failure: StoreFailure?

    init(_ target: PostgreSQLTarget) throws(StoreFailure) {
        self.target = target
        library = try LibPQ.load()
        notices = ServerNotices(library, warn: target.warn)
    }

    deinit { library.finish(pointer) }

    /// Whether there is a connection that is not known to be lost.
    var isConnected: Bool { pointer != nil && library.status(pointer) == LibPQ.statusOK }

    /// Whether there is a connection, and the server has sent nothing since its last use. A server that ends a
    /// connection sends a message.
    var isUsable: Bool {
        guard isConnected, !isOfFormerEpoch else { return false }
        var place = pollfd(fd: library.socket(pointer), events: Int16(POLLIN), revents: 0)
        return poll(&place, 1, 0) == 0
    }

    /// Whether the connection may lead to a former primary.
    private var isOfFormerEpoch: Bool { epoch != target.servers.epoch }

    /// Makes every other connection reconnect before its next use. Call it after reconnecting to a new primary.
    func beginEpoch() {
        target.servers.beginEpoch()
        epoch = target.servers.epoch
    }

    /// The server's version, such as `150018`.
    var serverVersion: Int32 { pointer == nil ? 0 : library.serverVersion(pointer) }

    /// Ends the connection. A waiting commit is not cancelled: the server completes it or not.
    func close() {
        library.finish(pointer)
        pointer = nil
        queue = []
    }

    /// The statement for `sql`, prepared once.
    func known(_ sql: String) -> PostgreSQLStatement {
        if let known = statements[sql] {
            known.reset()
            return known
        }
        let made = PostgreSQLStatement(sql, on: self, library)
        statements[sql] = made
        return made
    }
}

extension PostgreSQLSession {
    /// Checks whether the server may answer. Queued with other statements, it needs no round trip of its own.
    var fence: PostgreSQLStatement { known("SELECT fence()") }
}

// MARK: - Running

extension PostgreSQLSession {
    /// Calls `body`. Outside a transaction, calls it once more if the connection was lost while it was idle.
    ///
    /// In that case, the server has answered nothing. A server that does not answer in time gets no second attempt.
    ///
    /// - Parameter body: statements that may run twice: they read, begin a transaction, or replace what they wrote.
    func repeatingIfLostIdle<Result>(_ body: () throws -> Result) throws -> Result {
        guard isConnected, !isInTransaction else { return try body() }
        wasIdle = true
        do {
            return try body()
        } catch let failure as StoreFailure where failure.kind == .unavailable && wasIdle {
            close()
            return try body()
        }
    }

    /// Queues a statement without parameters and without a result, such as `BEGIN`.
    func enqueue(_ sql: String) throws {
        try connect()
        let isSent = sql.withCString { library.sendQueryParameters(pointer, $0, 0, nil, nil, nil, nil, 1) }
        try noteSent(isSent, nil)
    }

    /// Queues a prepared statement with its parameters.
    func enqueue(_ statement: PostgreSQLStatement) throws {
        try connect()
        try statement.prepare()
        try noteSent(statement.send(on: pointer), statement)
    }

    /// Queues queries that are needed soon. Call it after the statements that they depend on, and before any that
    /// change their rows.
    func foresee(_ queries: [ForeseenQuery]) throws {
        let statements = queries.map { query in
            let statement = known(query.statement)
            query.bind(statement)
            return statement
        }
        // Preparing a statement takes a round trip, which would discard the queries that were run early.
        for statement in statements { try statement.prepare() }
        defer { foreseen = statements }
        for statement in statements { try statement.foresee() }
    }

    private func noteSent(_ isSent: Int32, _ statement: PostgreSQLStatement?) throws {
        for statement in foreseen { statement.forgetForeseen() }
        foreseen = []
        guard isSent == 1 else { throw lost() }
        queue.append(statement)
        if queue.count >= Self.queueLimit { try synchronize() }
    }

    /// Prepares a statement, in a round trip of its own.
    ///
    /// - Returns: its name on this connection, and the types of its parameters.
    func prepare(_ sql: String) throws -> (name: String, types: [UInt32]) {
        try connect()
        try synchronize()
        preparedCount += 1
        let name = "s\(preparedCount)"
        let isSent = name.withCString { name in
            sql.withCString { library.sendPrepare(pointer, name, $0, 0, nil) } == 1
                && library.sendDescribePrepared(pointer, name) == 1
        }
        guard isSent else { throw lost() }
        queue = [nil, nil]
        var types: [UInt32] = []
        try synchronize { result in
            types = (0..<library.parameterCount(result)).map { library.parameterType(result, $0) }
        }
        return (name, types)
    }

    /// Sends the queued statements, and waits until all of them are answered.
    ///
    /// - Parameter body: receives each result that no statement waits for.
    /// - Throws: the first failure.
    func synchronize(_ body: (LibPQ.Result) -> Void = { _ in }) throws {
        guard !queue.isEmpty else { return try check() }
        guard library.pipelineSync(pointer) == 1 else { throw lost() }
        target.roundTrips.add()
        let end = Deadline(seconds: target.statementTimeout)
        for statement in queue {
            while let result = try nextResult(end) {
                note(result)
                hasSkippedLast = library.resultStatus(result) == LibPQ.resultPipelineAborted
                if let statement { statement.take(result) } else { body(result); library.clear(result) }
            }
        }
        queue = []
        // The answer to the synchronization itself.
        while let result = try nextResult(end) {
            let isEnd = library.resultStatus(result) == LibPQ.resultPipelineSync
            library.clear(result)
            if isEnd { break }
        }
        try check()
    }

    /// Throws the first failure since the transaction began. Outside of one, a failure does not affect what follows.
    private func check() throws {
        guard let failure else { return }
        if !isInTransaction { self.failure = nil }
        throw failure
    }

    /// Ends a transaction that failed. If that is not possible, also ends the connection.
    func rollBack() {
        isInTransaction = false
        do {
            // Queued statements may not have been sent yet. They are sent first, and may fail.
            if isConnected { try? synchronize() }
            guard isConnected else { throw StoreFailure.unreachable("connection lost") }
            failure = nil
            try enqueue("ROLLBACK")
            try synchronize()
        } catch {
            close()
        }
        failure = nil
    }

    private func note(_ result: LibPQ.Result) {
        switch library.resultStatus(result) {
        case LibPQ.resultCommand, LibPQ.resultRows, LibPQ.resultPipelineSync:
            wasIdle = false
            return
        default: break
        }
        guard failure == nil, let state = library.errorField(result, LibPQ.fieldState) else { return }
        let message = library.errorField(result, LibPQ.fieldMessage)
        failure = StoreFailure(state: String(cString: state), message: message.map { String(cString: $0) })
    }

    private func nextResult(_ end: Deadline) throws -> LibPQ.Result {
        while true {
            let unsent = library.flush(pointer)
            guard unsent >= 0 else { throw lost() }
            if library.isBusy(pointer) == 0 { return library.getResult(pointer) }
            try wait(forWriting: unsent == 1, end)
            guard library.consumeInput(pointer) == 1 else { throw lost() }
        }
    }

    /// Waits until the server has sent something, or accepts more.
    private func wait(forWriting: Bool, forReading: Bool = true, _ end: Deadline) throws {
        let events = (forReading ? POLLIN : 0) | (forWriting ? POLLOUT : 0)
        var place = pollfd(fd: library.socket(pointer), events: Int16(events), revents: 0)
        while true {
            let left = end.millisecondsLeft
            guard left > 0, place.fd >= 0 else {
                wasIdle = false
                throw lost("no answer within \(end.seconds) seconds")
            }
            let count = poll(&place, 1, left)
            if count > 0 { return }
            guard count == 0 || errno == EINTR else { throw lost() }
        }
    }

    private func lost(_ reason: String = "connection lost") -> StoreFailure {
        close()
        let failure = failure.flatMap { $0.kind == .unavailable ? $0 : nil } ?? .unreachable(reason)
        self.failure = isInTransaction ? failure : nil
        return failure
    }
}

// MARK: - Connecting

extension PostgreSQLSession {
    /// Connects if there is no connection.
    func connect() throws {
        if isInTransaction, !isConnected { throw failure ?? .unreachable("connection lost") }
        if isConnected {
            guard isOfFormerEpoch, !isInTransaction, queue.isEmpty else { return }
        }
        close()
        failure = nil
        wasIdle = false
        generation += 1
        preparedCount = 0
        epoch = target.servers.epoch
        try connectToPrimary()
        guard library.setNonblocking(pointer, 1) == 0, library.enterPipelineMode(pointer) == 1 else { throw lost() }
        do {
            try applySettings()
        } catch {
            // Without its settings the connection must not be used.
            close()
            throw error
        }
    }

    /// Tries the servers one after the other, until one is the primary. Each gets its share of the time, so a silent
    /// server does not prevent an attempt at the next.
    private func connectToPrimary() throws {
        let end = Deadline(seconds: target.timeout)
        let order = target.order
        var failures: [StoreFailure] = []
        for (index, server) in order.enumerated() {
            let isLast = index == order.count - 1
            do {
                try connect(toServer: server, isLast ? end : Deadline(seconds: target.timeout / Double(order.count)))
                target.servers.primary = server
                return
            } catch let failure as StoreFailure {
                failures.append(failure)
            }
        }
        // A server that cannot be reached may be the primary, whatever the others answer.
        guard let last = failures.last else { throw lost() }
        throw failures.first { $0.kind == .unavailable } ?? last
    }

    private func connect(toServer server: Int, _ end: Deadline) throws {
        target.withParameters(ofServer: server) { pointer = library.connectStart($0, $1, 0) }
        guard pointer != nil else { throw StoreFailure.unreachable("out of memory") }
        notices.receive(from: pointer)
        // Then errors contain their SQLSTATE. Before there is a connection, libpq reports it in no other way.
        _ = library.setErrorVerbosity(pointer, LibPQ.verbose)
        var state = LibPQ.pollWriting
        while state != LibPQ.pollOK {
            guard state == LibPQ.pollReading || state == LibPQ.pollWriting else { throw notConnected() }
            try wait(forWriting: state == LibPQ.pollWriting, forReading: state == LibPQ.pollReading, end)
            state = library.connectPoll(pointer)
        }
    }

    /// Sends the settings of the connection, and checks in the same round trip that it leads to the server itself.
    ///
    /// A server names its own process when a connection is made. A pooler names an invented number, because its clients
    /// take turns on the processes of the server.
    private func applySettings() throws {
        for setting in target.sessionSettings { try enqueue(setting) }
        try enqueue("SELECT pg_backend_pid()")
        var process: Int32?
        try synchronize { process = number(in: $0) }
        guard process == library.backendPID(pointer) else { throw StoreFailure(.pooled, code: "pooled connection") }
    }

    /// The number in a result of one row; `nil` for another result.
    private func number(in result: LibPQ.Result) -> Int32? {
        guard library.rowCount(result) == 1, library.length(result, 0, 0) == MemoryLayout<Int32>.size,
            let octets = library.value(result, 0, 0)
        else { return nil }
        return Int32(bigEndian: UnsafeRawPointer(octets).loadUnaligned(as: Int32.self))
    }

    private func notConnected() -> StoreFailure {
        let message = library.errorMessage(pointer).map { String(cString: $0) } ?? ""
        close()
        return StoreFailure(connecting: message)
    }
}

/// A moment on a monotonic clock.
struct Deadline {
    /// The time until then when the deadline was set.
    let seconds: Double
    private let end: ContinuousClock.Instant

    init(seconds: Double) {
        self.seconds = seconds
        end = .now + .seconds(seconds)
    }

    /// The time left until then, for `poll`.
    var millisecondsLeft: Int32 {
        let (seconds, attoseconds) = (end - .now).components
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
