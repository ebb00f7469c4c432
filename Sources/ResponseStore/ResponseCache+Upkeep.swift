import SQLiteEngine
import SessionStore
import StoreEngine
import Synchronization
public import WebPrimitives

extension ResponseCache {
    /// How many rows one transaction removes or reseals, so that no other process waits long.
    static let batchSize = 256

    // MARK: - Limits

    /// Removes the least recently used responses of a jar, and of all, until they are within the limits; at most a batch.
    ///
    /// - Returns: Whether they are within the limits.
    func evict(jar: Int64, _ writer: inout IndexWriter) throws -> Bool {
        let isJarDone = try evict(usage: jar, limit: limits.jarSize, condition: "jar = ?", [jar], &writer)
        let isAllDone = try evict(usage: 0, limit: limits.size, condition: "?", [1], &writer)
        return isJarDone && isAllDone
    }

    private func evict(
        usage: Int64, limit: Int64, condition: String, _ numbers: [Int64], _ writer: inout IndexWriter
    ) throws -> Bool {
        let size =
            try writer.connection.rows("SELECT size FROM usage WHERE jar = ?", [usage]) { $0.int64(0) }.first ?? 0
        var excess = size - limit
        guard excess > 0 || size < 0 else { return true }
        let oldest = try writer.connection.rows(
            "SELECT id, size FROM response WHERE \(condition) ORDER BY used LIMIT ?",
            numbers + [Int64(ResponseCache.batchSize)]
        ) { ($0.int64(0), $0.int64(1)) }
        guard size > 0, !oldest.isEmpty else {
            // The sums are damaged.
            try ResponseIndex.addUp(writer.connection)
            return true
        }
        for (id, size) in oldest where excess > 0 {
            try writer.remove(where: "id = ?", [id])
            excess -= size
        }
        return excess <= 0
    }

    /// Makes room on a full disk: removes a batch of the least recently used responses.
    ///
    /// - Returns: Whether it has removed any.
    @discardableResult
    func makeRoom() -> Bool {
        writeNotes()
        let removed = write { writer in
            try writer.remove(
                where: "id IN (SELECT id FROM response ORDER BY used LIMIT ?)", [Int64(ResponseCache.batchSize)])
        }
        return removed?.entries ?? 0 > 0
    }

    // MARK: - Housekeeping

    /// Goes on with what is done now and then: after each response, and by ``maintain(now:)``.
    ///
    /// - Parameter isWithinLimits: Whether the response, once it was stored, left nothing to evict.
    func keepHouse(jar: Int64, isWithinLimits: Bool, now: Timestamp) {
        var isDone = isWithinLimits
        while !isDone { isDone = write { try evict(jar: jar, &$0) } ?? true }
        let isDue = memory.withLock { memory in
            memory.storedCount += 1
            return memory.storedCount % 64 == 0
        }
        if isDue { maintain(now: now) }
    }

    /// Does one step of the work that no request waits for. Call it now and then.
    ///
    /// It writes down which responses were used, removes files that a killed process has left, and seals rows under the
    /// newest key. A row whose key is gone is removed. The work of one step has an upper bound.
    public func maintain(now: Timestamp) {
        _ = applyInvalidations()
        writeNotes(now: now)
        sweep(now: now)
        reseal()
    }

    /// Removes files without a row, in one of the folders.
    private func sweep(now: Timestamp) {
        let shard = memory.withLock { memory in
            memory.shard = (memory.shard + 1) % BodyFiles.shardCount
            return memory.shard
        }
        let files = files.abandonable(inShard: shard, limit: ResponseCache.batchSize, now: now)
        guard !files.isEmpty else { return }
        let orphans = readAll { connection in
            try files.filter {
                try connection.rows("SELECT 1 FROM response WHERE file = ?", [$0]) { _ in true }.isEmpty
            }
        }
        orphans?.forEach(self.files.remove)
    }

    /// Seals all rows under the newest key, before a rotation forgets the older ones. Bodies stay as they are.
    ///
    /// Rows that cannot be written, because other processes write for too long, stay as they are, and are lost.
    package func resealAll() {
        var failures = 0
        while failures < ResponseCache.finalAttempts {
            let position = memory.withLock { $0.resealedID }
            if reseal() { return }
            if memory.withLock({ $0.resealedID }) == position { failures += 1 }
        }
    }

    /// Seals the rows under older keys under the newest one, a batch at a time. Bodies stay as they are.
    ///
    /// - Returns: Whether all rows are sealed under it.
    @discardableResult
    package func reseal() -> Bool {
        let keys = keys
        let start = memory.withLock { memory in
            if memory.resealedKeyID != keys.sealer.keyID {
                (memory.resealedKeyID, memory.resealedID) = (keys.sealer.keyID, 0)
            }
            return memory.resealedID
        }
        // Rows are sealed under the newest key when they are added, so one round through the table is enough.
        guard start != .max else { return true }
        let last: Int64?? = write { writer in
            let rows = try writer.connection.rows(
                "SELECT \(StoredRow.columns) FROM response WHERE id > ? ORDER BY id LIMIT ?",
                [start, Int64(ResponseCache.batchSize)], StoredRow.init)
            // Another process may already have a newer key.
            for row in rows where row.keyID < keys.sealer.keyID {
                if let sealed = keys.open(row).flatMap({ SealedHead($0, keys, limits) }) {
                    try writer.replace(row.id, by: sealed, invalidated: row.invalidated)
                } else {
                    try writer.remove(where: "id = ?", [row.id])
                }
            }
            return rows.last?.id
        }
        // Nothing was written: the next step tries again.
        guard let last else { return false }
        memory.withLock { memory in
            if memory.resealedKeyID == keys.sealer.keyID, memory.resealedID == start {
                memory.resealedID = last ?? .max
            }
        }
        return last == nil
    }
}
