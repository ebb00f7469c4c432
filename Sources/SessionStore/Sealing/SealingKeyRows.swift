internal import CookieModel
internal import GRDB

/// The `sealing_key` table: which keys values are sealed under, each with a known text to recognise it by.
///
/// A key's id belongs to one database: a key file that serves several holds no ids, and each database finds out by
/// ``Row/isSealed(under:)`` which of the keys is which.
struct SealingKeyRows {
    /// One key's row.
    struct Row: Hashable {
        let id: UInt32
        fileprivate let checkValue: Octets

        /// Whether `key` is the key of this row.
        func isSealed(under key: SealingKey) -> Bool {
            Sealer(key, id: id).open(checkValue, at: SealingKeyRows.checkPlace(id)) == Octets(SealingKeyRows.checkText)
        }
    }

    fileprivate static let checkText = Array("crumb".utf8)

    let database: Database

    /// The id of the newest key; `nil` where there is none.
    func newestID() throws -> UInt32? {
        let statement = try RowStatement(database, "SELECT max(id) FROM sealing_key")
        defer { statement.reset() }
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return UInt32(truncatingIfNeeded: statement.int64(0))
    }

    /// All keys, the newest last.
    func all() throws -> [Row] {
        let statement = try RowStatement(database, "SELECT id, check_value FROM sealing_key ORDER BY id")
        defer { statement.reset() }
        var rows: [Row] = []
        while try statement.step() {
            let id = UInt32(truncatingIfNeeded: statement.int64(0))
            rows.append(Row(id: id, checkValue: Octets(statement.bytes(1))))
        }
        return rows
    }

    /// Makes `key` the newest one, under the next id.
    func append(_ key: SealingKey, now: Timestamp) throws {
        let id = (try newestID() ?? 0) + 1
        let statement = try RowStatement(
            database, "INSERT INTO sealing_key (id, check_value, created_at) VALUES (?, ?, ?)")
        statement.bind(1, Int64(id))
        statement.bind(2, try Sealer(key, id: id).seal(SealingKeyRows.checkText, at: SealingKeyRows.checkPlace(id)))
        statement.bind(3, now.microseconds)
        try statement.run()
    }

    /// Forgets all keys but the newest.
    func deleteOlder(than id: UInt32) throws {
        let statement = try RowStatement(database, "DELETE FROM sealing_key WHERE id < ?")
        statement.bind(1, Int64(id))
        try statement.run()
    }

    fileprivate static func checkPlace(_ id: UInt32) -> [UInt8] {
        var place = SealedPlace("sealing key")
        place.append(Int64(id))
        return place.bytes
    }
}
