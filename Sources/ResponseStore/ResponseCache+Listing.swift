import SQLiteEngine
import StoreEngine
import Synchronization
public import WebPrimitives

/// How much a cache holds.
public struct CacheUsage: Sendable, Hashable {
    /// How many responses.
    public let entries: Int64
    /// How many octets of the disk they take.
    public let size: Int64
}

extension ResponseCache {
    /// How much the cache holds for a jar, or for all jars.
    public func usage(ofJar jar: Octets? = nil) -> CacheUsage {
        let numbers = jar.map { jar in keys.digests.map { $0.jar(jar) } } ?? [0]
        let rows = readAll { connection in
            try numbers.flatMap { number in
                try connection.rows("SELECT entries, size FROM usage WHERE jar = ?", [number]) {
                    ($0.int64(0), $0.int64(1))
                }
            }
        }
        return (rows ?? []).reduce(CacheUsage(entries: 0, size: 0)) {
            CacheUsage(entries: $0.entries + $1.0, size: $0.size + $1.1)
        }
    }

    /// How many requests each rule has answered from the cache.
    public func hits() -> [String: Int64] {
        let rows = readAll { try $0.rows("SELECT rule, count FROM hit") { ($0.text(0), $0.int64(1)) } }
        return memory.withLock { $0.hits }.merging(rows ?? [], uniquingKeysWith: +)
    }

    /// A page of the stored responses, in the order in which they were stored.
    ///
    /// - Parameters:
    ///   - id: The last ID of the page before; 0 for the first page.
    ///   - count: How many rows to read. Those that cannot be opened are left out.
    ///   - now: The current time.
    /// - Returns: The responses, and the last ID that was read; `nil` at the end.
    public func page(after id: Int64 = 0, count: Int = 256, now: Timestamp) -> (
        responses: [StoredResponse], last: Int64?
    ) {
        let keys = keys
        let rows =
            readAll {
                try $0.rows(
                    "SELECT \(StoredRow.columns) FROM response WHERE id > ? ORDER BY id LIMIT ?", [id, Int64(count)],
                    StoredRow.init)
            } ?? []
        let responses = rows.compactMap { row in keys.open(row).map { StoredResponse(row, $0, now: now) } }
        return (responses, rows.last?.id)
    }
}
