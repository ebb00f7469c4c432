internal import CookieModel

/// Writes the rows that a batch decides on, in that order.
struct RowWriter {
    let rows: CookieRows
    private let sealer: Sealer
    private let memory: WriterMemory
    /// The change that is being written. Its memory is used again for the next one.
    private var change = CookieRowChanges(capacity: 1024)
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
        change.append(kind, cookie, site: site, source: source, jarID: rows.jarID)
        try writeChange()
    }

    /// Removes the row of a cookie.
    mutating func delete(_ id: Cookie.ID, site: Octets) throws {
        change.appendDeletion(id, site: site, jarID: rows.jarID)
        try writeChange()
    }

    /// Returns the rows, with everything that was written.
    ///
    /// - Throws: The error of a row that could not be written.
    func writtenRows() throws -> CookieRows {
        if let failure { throw failure }
        return rows
    }

    private mutating func writeChange() throws {
        defer { change.removeAll() }
        do {
            try change.forEach { change in
                let sealedValue = try change.sealedValue(sealer, &memory.nonces)
                try change.run(try rows.statement(change.kind), sealedValue: sealedValue)
            }
        } catch {
            failure = failure ?? error
            throw error
        }
    }
}
