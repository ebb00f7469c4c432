internal import CookieModel
internal import Dispatch
internal import Synchronization

/// Writes rows on another thread, in chunks and in order, while their transaction continues to make decisions.
///
/// No thread waits for one that has not begun: a thread that needs a chunk to be written writes it itself if no other
/// thread does. So the pipeline works with one core, and with a pool that has no free thread.
///
/// `@unchecked` because the compiler cannot see that the mutex `connection` guards the statements and the connection
/// behind them. The mutex `state` guards the rest.
final class RowPipeline: @unchecked Sendable {
    /// How many octets of changes make a chunk.
    static let chunkSize = 65_536
    /// How many chunks may wait. This bounds memory if deciding is faster than writing.
    private static let waitingLimit = 6
    /// The number of waiting chunks from which the deciding thread seals values, too.
    private static let sealingLimit = 2

    private struct State {
        var waiting: [SealableRows] = []
        var isWriting = false
        /// Whether the deciding thread waits for the chunk that is being written.
        var isAwaited = false
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    private let chunkWritten = DispatchSemaphore(value: 0)
    /// Locked while a thread uses the connection.
    private let connection = Mutex<Void>(())
    private let sealer: Sealer
    private let insertion, update, deletion: Statement
    private let queue = DispatchQueue(label: "crumb.rows")

    /// A pipeline for the transaction of `rows`.
    init(_ rows: CookieRows, _ sealer: Sealer) throws {
        self.sealer = sealer
        insertion = try rows.statement(.insertion)
        update = try rows.statement(.update)
        deletion = try rows.statement(.deletion)
    }

    /// Adds changes, which are written after those that were added before.
    ///
    /// - Throws: an error if earlier changes could not be written.
    func add(_ changes: CookieRowChanges) throws {
        var chunk = SealableRows(changes)
        // If writing is too slow, the values are sealed here.
        if state.withLock({ $0.waiting.count >= RowPipeline.sealingLimit }) { try chunk.seal(by: sealer) }
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.waiting.append(chunk)
        }
        queue.async { while self.writeNext() {} }
        waitForChunks(downTo: RowPipeline.waitingLimit)
    }

    /// Waits until everything is written.
    ///
    /// - Throws: an error if something could not be written.
    func finish() throws {
        waitForChunks(downTo: 0)
        try state.withLock { state in
            if let failure = state.failure { throw failure }
        }
    }

    /// Discards the changes that are not written yet. The connection is not used afterwards.
    func cancel() {
        state.withLock { $0.waiting = [] }
        waitForChunks(downTo: 0)
    }

    /// Calls `body` while no other thread uses the connection. Added changes may not be written yet.
    func withConnection<Result: Sendable>(_ body: () throws -> Result) throws -> Result {
        try connection.withLock { _ in try body() }
    }

    /// Waits until at most `count` chunks are still to be written; for 0, also until none is being written.
    private func waitForChunks(downTo count: Int) {
        while true {
            let (isDone, isWriting) = state.withLock { state in
                let isDone = state.waiting.count <= count && (count > 0 || !state.isWriting)
                state.isAwaited = !isDone && state.isWriting
                return (isDone, state.isWriting)
            }
            if isDone { return }
            if isWriting { chunkWritten.wait() } else { writeNext() }
        }
    }

    /// Writes the oldest chunk.
    ///
    /// - Returns: Whether a chunk was written. None is if the list is empty, or if another thread is writing one.
    @discardableResult
    private func writeNext() -> Bool {
        let oldest = state.withLock { state -> SealableRows? in
            guard !state.isWriting, !state.waiting.isEmpty else { return nil }
            state.isWriting = true
            return state.waiting.removeFirst()
        }
        guard let oldest else { return false }
        let result = Result { try write(oldest) }
        let isAwaited = state.withLock { state in
            if case .failure(let error) = result {
                state.failure = state.failure ?? error
                state.waiting = []
            }
            state.isWriting = false
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { chunkWritten.signal() }
        return true
    }

    private func write(_ chunk: SealableRows) throws {
        try chunk.forEach(sealer) { change, sealedValue in
            try connection.withLock { _ in try change.run(statement(change.kind), sealedValue: sealedValue) }
        }
    }

    private func statement(_ kind: CookieRowChanges.Kind) -> Statement {
        switch kind {
        case .insertion: insertion
        case .update: update
        case .deletion: deletion
        }
    }
}

/// Changes whose values are sealed now or when they are written.
private struct SealableRows: Sendable {
    private let changes: CookieRowChanges
    /// One for each change; `nil` if they are not sealed yet.
    private var sealedValues: [[UInt8]?]?

    init(_ changes: CookieRowChanges) {
        self.changes = changes
    }

    mutating func seal(by sealer: Sealer) throws {
        var nonces = NonceSequence()
        var values: [[UInt8]?] = []
        try changes.forEach { values.append(try $0.sealedValue(sealer, &nonces)) }
        sealedValues = values
    }

    /// Calls `body` with every change and its sealed value, in order.
    func forEach(
        _ sealer: Sealer, _ body: (borrowing CookieRowChanges.Change, [UInt8]?) throws -> Void
    ) throws {
        var index = 0
        var nonces = NonceSequence()
        try changes.forEach { change in
            try body(change, try sealedValues.map { $0[index] } ?? change.sealedValue(sealer, &nonces))
            index += 1
        }
    }
}

/// Writes the rows that a batch decides on, in that order. Many rows are written on another thread at the same time
/// (``RowPipeline``).
struct RowWriter {
    /// How many rows are written one by one before another thread is used.
    private static let directLimit = 64

    private let rows: CookieRows
    private let sealer: Sealer
    private let memory: WriterMemory
    /// The changes that are not written yet.
    private var changes = CookieRowChanges(capacity: 1024)
    private var directCount = 0
    private var pipeline: RowPipeline?
    /// The reason why a row could not be written. The batch then fails, even if its owner ignores the error.
    private var failure: (any Error)?

    init(_ rows: CookieRows, _ sealer: Sealer, _ memory: WriterMemory) {
        self.rows = rows
        self.memory = memory
        self.sealer = sealer
    }

    /// Stores a cookie in a row, with its value sealed.
    mutating func write(
        _ kind: CookieRowChanges.Kind, _ cookie: borrowing Cookie, site: Octets, source: borrowing StoredCookie.Source
    ) throws {
        changes.append(kind, cookie, site: site, source: source, jarID: rows.jarID)
        try writeOn()
    }

    /// Removes the row of a cookie.
    mutating func delete(_ id: Cookie.ID, site: Octets) throws {
        changes.appendDeletion(id, site: site, jarID: rows.jarID)
        try writeOn()
    }

    /// Runs a read that none of the pending rows can affect.
    func besides<Result: Sendable>(_ body: (CookieRows) throws -> Result) throws -> Result {
        guard let pipeline else { return try body(rows) }
        return try pipeline.withConnection { try body(rows) }
    }

    /// Waits until everything is written, and returns the rows.
    mutating func writtenRows() throws -> CookieRows {
        if let pipeline {
            if changes.byteCount > 0 { try handOver(to: pipeline) }
            try pipeline.finish()
        }
        if let failure { throw failure }
        return rows
    }

    /// Ends the writing, whether the batch failed or is written. Afterwards, nothing uses the connection.
    mutating func end() {
        pipeline?.cancel()
        pipeline = nil
    }

    private mutating func writeOn() throws {
        guard let pipeline else { return try writeDirectly() }
        if changes.byteCount >= RowPipeline.chunkSize { try handOver(to: pipeline) }
    }

    private mutating func writeDirectly() throws {
        defer { changes.removeAll() }
        do {
            try changes.forEach { change in
                let sealedValue = try change.sealedValue(sealer, &memory.nonces)
                try change.run(try rows.statement(change.kind), sealedValue: sealedValue)
            }
        } catch {
            failure = failure ?? error
            throw error
        }
        directCount += 1
        if directCount == RowWriter.directLimit { pipeline = try RowPipeline(rows, sealer) }
    }

    private mutating func handOver(to pipeline: RowPipeline) throws {
        let full = changes
        changes = CookieRowChanges(capacity: RowPipeline.chunkSize + 2048)
        try pipeline.add(full)
    }
}
