internal import CookieModel
internal import GRDB
import Synchronization

/// The keys of one open database, as they are now: another process may rotate them at any time.
///
/// Every read and every write asks whether the newest key is still the one at hand (``renew(_:)``), and takes the keys
/// from their source again where it is not.
final class KeyRing: Sendable {
    let source: KeySource
    private let path: String
    private let state: Mutex<Sealer>

    /// The sealer with the keys that were last loaded.
    var sealer: Sealer { state.withLock { $0 } }

    /// Loads the keys and proves that they are the ones; makes a key on the first use of a database.
    init(_ queue: DatabaseQueue, source: KeySource, path: String, now: Timestamp) throws {
        self.source = source
        self.path = path
        var rows = try queue.inDatabase { try SealingKeyRows(database: $0).all() }
        if rows.isEmpty {
            let keys = try source.load(mayCreate: true)
            rows = try KeyRing.firstRows(queue, key: try KeyRing.newest(keys, of: source), now: now)
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
            // Between the look at the rows and the one at the keys, another process may have ended a rotation.
            let rowsNow = try queue.inDatabase { try SealingKeyRows(database: $0).all() }
            guard rowsNow != rows else {
                throw SessionStoreError(
                    .keyWrong, path, "the database was sealed with another key than the one from \(source.name)")
            }
            rows = rowsNow
        }
    }

    /// Takes the keys from their source again where the database has a newer one than those at hand.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func renew(_ database: Database) throws -> Bool {
        let rows = SealingKeyRows(database: database)
        guard let newest = try rows.newestID(), newest != sealer.keyID else { return false }
        guard let renewed = KeyRing.sealer(try rows.all(), keys: try source.load(mayCreate: false)) else {
            throw SessionStoreError(
                .keyChanged, path,
                "the key was rotated while the database was open, and \(source.name) does not have the new one; "
                    + "open it again with the new key")
        }
        state.withLock { $0 = renewed }
        return true
    }

    /// The newest of the source's keys.
    static func newest(_ keys: [SealingKey], of source: KeySource) throws(SessionStoreError) -> SealingKey {
        guard let key = keys.last else { throw SessionStoreError(.keyMissing, source.name, "there is no key") }
        return key
    }

    /// The rows of a database, after `key` was entered where there were none: another process may have been first.
    private static func firstRows(
        _ queue: DatabaseQueue, key: SealingKey, now: Timestamp
    ) throws -> [SealingKeyRows.Row] {
        try queue.writeWithoutTransaction { database in
            var found: [SealingKeyRows.Row] = []
            try database.inTransaction(.immediate) {
                let rows = SealingKeyRows(database: database)
                if try rows.newestID() == nil { try rows.append(key, now: now) }
                found = try rows.all()
                return .commit
            }
            return found
        }
    }

    /// A sealer with every key that has a row; `nil` where the newest row's is not among them.
    private static func sealer(_ rows: [SealingKeyRows.Row], keys: [SealingKey]) -> Sealer? {
        var found: [UInt32: SealingKey] = [:]
        for row in rows { found[row.id] = keys.last { row.isSealed(under: $0) } }
        guard let newest = rows.last, let key = found.removeValue(forKey: newest.id) else { return nil }
        return Sealer(key, id: newest.id, olderKeys: found)
    }
}
