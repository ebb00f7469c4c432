import HTTPCaching
import SQLiteEngine
import SessionStore
import StoreEngine
import WebPrimitives

/// The connection within a transaction that changes the index.
struct IndexWriter {
    let connection: SQLiteConnection
    /// The files of the rows that the transaction has removed.
    private(set) var removedFiles: [Int64] = []

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    /// Removes the rows that a condition holds for.
    ///
    /// - Returns: What they held.
    @discardableResult
    mutating func remove(where condition: String, _ numbers: [Int64]) throws -> CacheUsage {
        let rows = try connection.rows("DELETE FROM response WHERE \(condition) RETURNING file, size", numbers) {
            (file: $0.optionalInt64(0), size: $0.int64(1))
        }
        removedFiles += rows.compactMap(\.file)
        return CacheUsage(entries: Int64(rows.count), size: rows.map(\.size).reduce(0, +))
    }

    /// Notes that the responses of the rows that a condition holds for were invalidated at a time.
    func invalidate(at time: Timestamp, where condition: String, _ numbers: [Int64]) throws {
        try connection.run(
            """
            UPDATE response SET invalidated = max(ifnull(invalidated, ?), ?), generation = generation + 1
            WHERE \(condition)
            """, [time.microseconds, time.microseconds] + numbers)
    }

    /// Adds the row of a response, and its body if it has no file.
    ///
    /// - Returns: Its ID.
    func insert(_ row: SealedHead, size: Int64, file: Int64?, _ body: [UInt8]?, now: Timestamp) throws -> Int64 {
        // A random start: also after an ID is used again, because all was removed, no update finds another response.
        let generation = Int64.random(in: 0 ... .max / 2)
        let numbers = row.numbers + [generation, size, now.microseconds, now.microseconds]
        let statement = try connection.statement(
            """
            INSERT INTO response (
                key_id, jar, origin, site, path, query, audience, generation, size, stored, used, file, head
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
            """)
        statement.bind(all: numbers)
        statement.bind(Int32(numbers.count + 1), file)
        statement.bind(Int32(numbers.count + 2), row.sealed)
        guard let id = try statement.all({ $0.int64(0) }).first else { throw StoreFailure.unexpectedResult }
        if let body {
            let statement = try connection.statement("INSERT INTO body VALUES (?, ?)")
            statement.bind(1, id)
            statement.bind(2, body)
            try statement.run()
        }
        try insertGroups(row, of: id)
        return id
    }

    /// Replaces the head of a row.
    ///
    /// - Parameter invalidated: The time of an invalidation that the head does not contain.
    func replace(_ id: Int64, by row: SealedHead, invalidated: Timestamp?) throws {
        let statement = try connection.statement(
            """
            UPDATE response SET key_id = ?, jar = ?, origin = ?, site = ?, path = ?, query = ?, audience = ?,
                size = size - length(head) + ?, invalidated = ?, generation = generation + 1, head = ?
            WHERE id = ?
            """)
        let numbers = row.numbers + [Int64(row.sealed.count)]
        statement.bind(all: numbers)
        statement.bind(Int32(numbers.count + 1), invalidated?.microseconds)
        statement.bind(Int32(numbers.count + 2), row.sealed)
        statement.bind(Int32(numbers.count + 3), id)
        try statement.run()
        try connection.run("DELETE FROM response_group WHERE response = ?", [id])
        try insertGroups(row, of: id)
    }

    private func insertGroups(_ row: SealedHead, of id: Int64) throws {
        for group in row.groups { try connection.run("INSERT INTO response_group VALUES (?, ?)", [group, id]) }
    }
}

/// A head as it is stored: sealed under the newest key, with the digests that find it.
struct SealedHead {
    let digests: RowDigests
    /// The digests under each key.
    let allDigests: [RowDigests]
    let groups: Set<Int64>
    let sealed: [UInt8]
    private let keyID: UInt32

    /// - Returns: `nil` if the head is too large, or has too many groups.
    init?(_ head: StoredHead, _ keys: CacheKeys, _ limits: CacheLimits) {
        let octets = head.octets
        let groupNames = head.response.groups
        allDigests = keys.digests.map { $0.row(head) }
        guard head.fits(limits), let maker = keys.digests.first,
            let newest = allDigests.first
        else { return nil }
        digests = newest
        groups = Set(groupNames.map { maker.group($0, of: head.response.url, jar: head.jar) })
        keyID = keys.sealer.keyID
        guard let sealed = try? keys.sealer.seal(octets, at: digests.place) else { return nil }
        self.sealed = sealed
    }

    /// The ID of the key and the digests, in the order of the columns.
    fileprivate var numbers: [Int64] { [Int64(keyID)] + digests.numbers }
}
