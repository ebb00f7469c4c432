internal import CookieModel

/// Runs the batches of jars in transactions, and remembers each jar from one batch to the next.
///
/// A file has a ``FileWriter``, whose transaction finds out whether what is remembered still holds. A server has a
/// ``ServedWriter``, which assumes it, since each question costs a round trip.
protocol JarWriter: Sendable {
    /// Runs `body` on a batch in a transaction of its own.
    func write(
        _ order: BatchOrder, _ body: (inout CookieBatch) throws(SessionStoreError) -> Void
    ) throws(SessionStoreError) -> FinishedBatch

    /// Whether enough is known of a jar for a response to take part in ``writeTogether(_:in:)``.
    func canShare(_ response: ReceivedResponse, of jar: CookieJar) -> Bool

    /// Runs the batches of several jars in one transaction.
    ///
    /// - Returns: whether it was committed. Otherwise nothing is stored, and each part may be tried in a transaction of
    ///   its own.
    func writeTogether(_ parts: [SharedBatch], in database: SessionDatabase) throws(SessionStoreError) -> Bool
}

/// A batch that a ``JarWriter`` is to run.
struct BatchOrder {
    let jar: CookieJar
    /// The capture that the batch comes from.
    let capture: CaptureID?
    /// The response that the batch is likely to receive first.
    let expected: ReceivedResponse?
    /// Whether the batch may run again: after a deadlock.
    let isRepeatable: Bool
    let now: Timestamp
}

/// The outcome of a batch.
struct FinishedBatch {
    /// The cookies over the jar's total limit, which its end has removed.
    let evicted: [Eviction]
    /// The cookies that the rules have rejected.
    let rejections: RejectionList
    /// The state of the jar that the next batch may begin with; `nil` if it is not known.
    let remembered: RememberedJar?
}

/// Writes to the jars of a file.
struct FileWriter: JarWriter {
    let memory: WriterMemory

    func write(
        _ order: BatchOrder, _ body: (inout CookieBatch) throws(SessionStoreError) -> Void
    ) throws(SessionStoreError) -> FinishedBatch {
        try order.jar.database.write(.jar(order.jar.id), isRepeatable: order.isRepeatable) {
            try run(order, on: $0, body)
        }
    }

    /// Runs `body` on a batch in a transaction that has begun.
    func run(
        _ order: BatchOrder, on connection: Connection,
        _ body: (inout CookieBatch) throws(SessionStoreError) -> Void
    ) throws -> FinishedBatch {
        let remembered = memory.take(order.jar.id, connection)
        var batch = CookieBatch(order, on: connection, beginningWith: remembered, memory)
        try body(&batch)
        let finished = try batch.finish()
        memory.keep(finished.remembered, ofJar: order.jar.id, connection)
        return finished
    }

    func canShare(_ response: ReceivedResponse, of jar: CookieJar) -> Bool { false }

    func writeTogether(_ parts: [SharedBatch], in database: SessionDatabase) -> Bool { false }
}
