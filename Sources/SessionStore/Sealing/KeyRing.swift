internal import CookieModel
import Synchronization

/// The keys of one open database. Another process may rotate them at any time.
///
/// Every read and every write checks whether the newest key is loaded (``renew(_:)``), and reloads the keys from their
/// source if it is not.
final class KeyRing: Sendable {
    let source: KeySource
    private let path: String
    private let state: Mutex<Sealer>

    /// The sealer with the keys that were last loaded.
    var sealer: Sealer { state.withLock { $0 } }

    /// Loads the keys and verifies that they belong to the database. Creates a key on the first use of a database.
    init(_ engine: Engine, source: KeySource, path: String, now: Timestamp) throws {
        self.source = source
        self.path = path
        var rows = try engine.read { try SealingKeyRows(database: $0).all() }
        if rows.isEmpty {
            // On a server, a key of one machine would lock the others out.
            let keys = try source.load(mayCreate: !engine.traits.isShared)
            rows = try KeyRing.firstRows(engine, key: try KeyRing.newest(keys, of: source), now: now)
            if let sealer = KeyRing.sealer(rows, keys: keys) {
                state = Mutex(sealer)
                return
            }
        }
        while true {
            if let sealer = KeyRing.sealer(rows, keys: try source.load(mayCreate: false)) {
                state = Mutex(sealer)
                return
            }
            // Between reading the rows and reading the keys, another process may have ended a rotation.
            let rowsNow = try engine.read { try SealingKeyRows(database: $0).all() }
            guard rowsNow != rows else {
                throw SessionStoreError(
                    .keyWrong, path,
                    advice: "the database is sealed with another key; the one from \(source.name) does not open it; "
                        + "put the right key back\(command: ", or name its file in CRUMB_KEY_FILE")")
            }
            rows = rowsNow
        }
    }

    /// Loads the keys from their source again if the database has a newer key than the loaded ones.
    ///
    /// - Returns: whether the keys were loaded again.
    @discardableResult
    func renew(_ database: Connection) throws -> Bool {
        let rows = SealingKeyRows(database: database)
        guard let newest = try rows.newestID(), newest != sealer.keyID else { return false }
        guard let renewed = KeyRing.sealer(try rows.all(), keys: try source.load(mayCreate: false)) else {
            throw SessionStoreError(
                .keyChanged, path,
                "the key was rotated while the database was open, and \(source.name) does not have the new key; "
                    + (source.file == nil ? "open the database again with it" : "put it there"))
        }
        state.withLock { $0 = renewed }
        return true
    }

    /// The newest of the source's keys.
    static func newest(_ keys: [SealingKey], of source: KeySource) throws(SessionStoreError) -> SealingKey {
        guard let key = keys.last else { throw SessionStoreError(.keyMissing, source.name, "there is no key") }
        return key
    }

    /// The rows of a database. Adds `key` if it has none; another process may be first.
    private static func firstRows(
        _ engine: Engine, key: SealingKey, now: Timestamp
    ) throws -> [SealingKeyRows.Row] {
        try engine.writeAlone { connection in
            let rows = SealingKeyRows(database: connection)
            if try rows.newestID() == nil { try rows.append(key, now: now) }
            return try rows.all()
        }
    }

    /// A sealer with every key that has a row; `nil` if the key of the newest row is missing.
    private static func sealer(_ rows: [SealingKeyRows.Row], keys: [SealingKey]) -> Sealer? {
        var found: [UInt32: SealingKey] = [:]
        for row in rows { found[row.id] = keys.last { row.isSealed(under: $0) } }
        guard let newest = rows.last, let key = found.removeValue(forKey: newest.id) else { return nil }
        let marks = rows.filter { $0.id == newest.id || found[$0.id] != nil }.map { ($0.id, $0.checkValue) }
        return Sealer(key, id: newest.id, olderKeys: found, marks: Dictionary(uniqueKeysWithValues: marks))
    }
}

/// Rows of the `sealing_key` table: the keys that values are sealed under, each with a known text by which it is
/// recognized.
///
/// A key's ID belongs to one database. A key file, which can serve several databases, contains no IDs. Each database
/// uses ``Row/isSealed(under:)`` to match keys and rows.
struct SealingKeyRows {
    /// One key's row.
    struct Row: Hashable {
        let id: UInt32
        fileprivate let checkValue: Octets
        fileprivate let createdAt: Int64

        /// Whether `key` is the key of this row.
        func isSealed(under key: SealingKey) -> Bool {
            Sealer(key, id: id).open(checkValue, at: SealingKeyRows.checkPlace(id)) == Octets(SealingKeyRows.checkText)
        }
    }

    fileprivate static let checkText = Array("crumb".utf8)

    static let newestQuery = "SELECT max(id) FROM sealing_key"

    let database: Connection

    /// The ID of the newest key; `nil` without keys.
    func newestID() throws -> UInt32? {
        let statement = try database.statement(SealingKeyRows.newestQuery)
        defer { statement.reset() }
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return UInt32(truncatingIfNeeded: statement.int64(0))
    }

    /// All keys, the newest last.
    func all() throws -> [Row] {
        try database.statement("SELECT id, check_value, created_at FROM sealing_key ORDER BY id").rows { row in
            let id = UInt32(truncatingIfNeeded: row.int64(0))
            return Row(id: id, checkValue: Octets(row.bytes(1)), createdAt: row.int64(2))
        }
    }

    /// Adds `key` as the newest one, with the next ID.
    func append(_ key: SealingKey, now: Timestamp) throws {
        let id = (try newestID() ?? 0) + 1
        let checkValue = try Sealer(key, id: id).seal(SealingKeyRows.checkText, at: SealingKeyRows.checkPlace(id))
        try insert(Row(id: id, checkValue: Octets(checkValue), createdAt: now.microseconds))
    }

    /// Adds a key's row as it is in another database.
    func insert(_ row: Row) throws {
        try database.statement(
            "INSERT INTO sealing_key (id, check_value, created_at) VALUES (?, ?, ?)"
        ).run(Int64(row.id), row.checkValue, row.createdAt)
    }

    /// Removes all keys except the newest.
    func deleteOlder(than id: UInt32) throws {
        try database.statement("DELETE FROM sealing_key WHERE id < ?").run(Int64(id))
    }

    fileprivate static func checkPlace(_ id: UInt32) -> [UInt8] {
        var place = SealedPlace("sealing key")
        place.append(Int64(id))
        return place.bytes
    }
}
