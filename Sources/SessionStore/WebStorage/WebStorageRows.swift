internal import CookieModel

/// Rows of the `web_storage` table: the items of one jar, with values sealed to jar, origin and key.
struct WebStorageRows {
    /// A row with its stored value.
    struct Row {
        let origin: String
        let key: Octets
        let sealed: Octets
    }

    /// The numbers that count against an origin's limits.
    struct Usage {
        var items = 0
        var octets = 0
    }

    let database: Connection
    let jarID: Int64

    /// The items of an origin, or of all origins one after the other, in the order in which they were added.
    func rows(ofOrigin origin: String? = nil) throws -> [Row] {
        try database.statement(
            """
            SELECT origin, key, value FROM web_storage
            WHERE jar_id = ?1 AND snapshot_id = 0 \(origin == nil ? "" : "AND origin = ?2")
            ORDER BY origin, sequence
            """
        ).rows(jarID, origin) { row in
            Row(origin: row.text(0), key: Octets(row.bytes(1)), sealed: Octets(row.bytes(2)))
        }
    }

    /// The origins that have items, and their usage.
    func origins() throws -> [(origin: String, usage: Usage)] {
        try database.statement(
            """
            SELECT origin, count(*), sum(length(key) + length(value) - \(Sealer.overhead)) FROM web_storage
            WHERE jar_id = ? AND snapshot_id = 0 GROUP BY origin ORDER BY origin
            """
        ).rows(jarID) { row in
            let usage = Usage(items: Int(row.int64(1)), octets: Int(row.int64(2)))
            return (row.text(0), usage)
        }
    }

    /// The usage of all items of the jar. Reads no value.
    func usage() throws -> Usage {
        try database.statement(
            """
            SELECT count(*), sum(length(key) + length(value) - \(Sealer.overhead)) FROM web_storage
            WHERE jar_id = ? AND snapshot_id = 0
            """
        ).first(jarID) { Usage(items: Int($0.int64(0)), octets: Int($0.optionalInt64(1) ?? 0)) } ?? Usage()
    }

    /// How many octets each item of an origin takes, by key. Reads no value.
    func octetCounts(ofOrigin origin: String) throws -> [Octets: Int] {
        var counts: [Octets: Int] = [:]
        try database.statement(
            """
            SELECT key, length(key) + length(value) - \(Sealer.overhead) FROM web_storage
            WHERE jar_id = ?1 AND snapshot_id = 0 AND origin = ?2
            """
        ).forEach(jarID, origin) { counts[Octets($0.bytes(0))] = Int($0.int64(1)) }
        return counts
    }

    /// The sequence number of the next item.
    func nextSequence() throws -> Int64 {
        try database.statement(
            "SELECT 1 + coalesce(max(sequence), 0) FROM web_storage WHERE jar_id = ?"
        ).first(jarID) { $0.int64(0) } ?? 1
    }

    /// Stores an item, replacing the one with that key, or after all others.
    func put(_ sealed: [UInt8], origin: String, key: Octets, sequence: Int64) throws {
        try database.statement(
            """
            INSERT INTO web_storage (jar_id, origin, key, value, sequence) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (jar_id, snapshot_id, origin, key) DO UPDATE SET value = excluded.value
            """
        ).run(jarID, origin, key, sealed, sequence)
    }

    /// Removes items: all, those of an origin, or one.
    ///
    /// - Returns: how many were removed.
    func delete(origin: String? = nil, key: Octets? = nil) throws -> Int {
        try database.statement(
            """
            DELETE FROM web_storage WHERE jar_id = ?1 AND snapshot_id = 0 \(origin == nil ? "" : "AND origin = ?2")
                \(key == nil ? "" : "AND key = ?3")
            """
        ).runCounting(jarID, origin, key)
    }

    // MARK: - With the whole jar

    /// Copies the items of another jar whose keys this jar does not use, within the limits.
    ///
    /// A value that cannot be opened is copied unchanged, and is reported as damaged here, too.
    ///
    /// - Returns: how many were added.
    @discardableResult
    func take(from otherID: Int64, _ sealer: Sealer) throws -> Int {
        let first = try nextSequence()
        var sequence = first
        var room = WebStorageRoom()
        for row in try WebStorageRows(database: database, jarID: otherID).rows() {
            guard try !room.holds(row.key, ofOrigin: row.origin, in: self) else { continue }
            let octetCount = row.key.count + Sealer.openedCount(row.sealed.count)
            guard try room.takes(octetCount, row.key, ofOrigin: row.origin, in: self) else { continue }
            let value = sealer.open(row.sealed, at: WebStorageRows.place(otherID, row.origin, row.key))
            let sealed = try value.map { try sealer.seal($0, at: WebStorageRows.place(jarID, row.origin, row.key)) }
            try put(sealed ?? row.sealed.bytes, origin: row.origin, key: row.key, sequence: sequence)
            sequence += 1
        }
        return Int(sequence - first)
    }

    /// Copies the items into a saved session of the jar.
    func save(inSnapshot id: Int64) throws {
        try copy(from: 0, to: id)
    }

    /// Restores the items of a saved session.
    func restore(fromSnapshot id: Int64) throws {
        try deleteAll(ofSnapshot: 0)
        try copy(from: id, to: 0)
    }

    /// Removes the items of a saved session.
    func deleteAll(ofSnapshot id: Int64) throws {
        try database.statement("DELETE FROM web_storage WHERE jar_id = ? AND snapshot_id = ?").run(jarID, id)
    }

    private func copy(from id: Int64, to newID: Int64) throws {
        try database.statement(
            """
            INSERT INTO web_storage (jar_id, snapshot_id, origin, key, value, sequence)
            SELECT jar_id, ?3, origin, key, value, sequence FROM web_storage WHERE jar_id = ?1 AND snapshot_id = ?2
            """
        ).run(jarID, id, newID)
    }

    /// The context that a value is sealed to: its jar, origin and key.
    static func place(_ jarID: Int64, _ origin: String, _ key: Octets) -> [UInt8] {
        var place = SealedPlace("web storage")
        place.append(jarID)
        place.append(origin.utf8)
        place.append(key.bytes)
        return place.bytes
    }
}

/// The sizes of the items in a jar's web storage, by origin, for checking its limits. Each origin is read once, so the
/// cost of an item does not depend on their number.
struct WebStorageRoom {
    /// How many rows of items were read.
    private(set) var readCount = 0
    private var total: WebStorageRows.Usage?
    private var origins: [String: (octets: Int, items: [Octets: Int])] = [:]

    /// Whether an origin has an item with a key.
    mutating func holds(_ key: Octets, ofOrigin origin: String, in rows: WebStorageRows?) throws -> Bool {
        try load(origin, rows)
        return origins[origin]?.items[key] != nil
    }

    /// Reserves room for an item, replacing the one with its key.
    ///
    /// - Parameter rows: the rows of the jar; `nil` for a jar that does not exist.
    /// - Returns: whether the limits permit it.
    mutating func takes(
        _ octetCount: Int, _ key: Octets, ofOrigin origin: String, in rows: WebStorageRows?
    ) throws -> Bool {
        try load(origin, rows)
        var total = try total ?? rows?.usage() ?? WebStorageRows.Usage()
        let old = origins[origin]?.items[key]
        let (octets, items) = (octetCount - (old ?? 0), old == nil ? 1 : 0)
        total.octets += octets
        total.items += items
        guard (origins[origin]?.octets ?? 0) + octets <= WebStorageItem.originOctetLimit,
            (origins[origin]?.items.count ?? 0) + items <= WebStorageItem.originItemLimit,
            total.octets <= WebStorageItem.jarOctetLimit, total.items <= WebStorageItem.jarItemLimit
        else { return false }
        origins[origin]?.octets += octets
        origins[origin]?.items[key] = octetCount
        self.total = total
        return true
    }

    private mutating func load(_ origin: String, _ rows: WebStorageRows?) throws {
        guard origins[origin] == nil else { return }
        let items = try rows?.octetCounts(ofOrigin: origin) ?? [:]
        readCount += items.count
        origins[origin] = (items.values.reduce(0, +), items)
    }
}
