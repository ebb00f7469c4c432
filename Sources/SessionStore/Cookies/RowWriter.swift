internal import CookieModel

/// Writes the rows that a batch decides on, in the order in which it does; where they are many, on another thread
/// meanwhile (``RowPipeline``).
struct RowWriter {
    /// How many rows are written one by one before another thread is worth it.
    private static let directLimit = 64

    private let rows: CookieRows
    private let sealer: Sealer
    private let memory: WriterMemory
    /// What is not written yet.
    private var changes = CookieRowChanges(capacity: 1024)
    private var directCount = 0
    private var pipeline: RowPipeline?
    /// Why a row could not be written: then the batch fails, whatever its owner makes of the error.
    private var failure: (any Error)?

    init(_ rows: CookieRows, _ sealer: Sealer, _ memory: WriterMemory) {
        self.rows = rows
        self.memory = memory
        self.sealer = sealer
    }

    /// Gives a row its cookie, the value sealed.
    mutating func write(
        _ kind: CookieRowChanges.Kind, _ cookie: borrowing Cookie, site: Octets, source: borrowing StoredCookie.Source
    ) throws {
        changes.append(kind, cookie, value: cookie.value, site: site, source: source, jarID: rows.jarID)
        try writeOn()
    }

    /// Removes the row of a cookie.
    mutating func delete(_ id: Cookie.ID, site: Octets) throws {
        changes.appendDeletion(id, site: site, jarID: rows.jarID)
        try writeOn()
    }

    /// Reads what no row is among that is still to be written.
    func besides<Result: Sendable>(_ body: (CookieRows) throws -> Result) throws -> Result {
        guard let pipeline else { return try body(rows) }
        return try pipeline.withConnection { try body(rows) }
    }

    /// Sees to it that everything is written, and gives the rows.
    mutating func writtenRows() throws -> CookieRows {
        if let pipeline {
            if changes.byteCount > 0 { try handOver(to: pipeline) }
            try pipeline.finish()
        }
        if let failure { throw failure }
        return rows
    }

    /// Ends the writing, of a batch that failed or of one that is written: nothing uses the connection afterwards.
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
