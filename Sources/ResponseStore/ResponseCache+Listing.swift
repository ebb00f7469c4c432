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

    static let nothing = CacheUsage(entries: 0, size: 0)

    static func + (left: CacheUsage, right: CacheUsage) -> CacheUsage {
        CacheUsage(entries: left.entries + right.entries, size: left.size + right.size)
    }
}

/// What a cache has answered.
package struct CacheHits: Sendable, Hashable {
    /// How many requests.
    package let count: Int64
    /// How many octets their bodies had, which no server had to send.
    package let octets: Int64

    static func + (left: CacheHits, right: CacheHits) -> CacheHits {
        CacheHits(count: left.count + right.count, octets: left.octets + right.octets)
    }
}

extension ResponseCache {
    /// How much the cache holds for a jar, or for all jars.
    public func usage(ofJar jar: Octets? = nil) -> CacheUsage {
        let numbers = jar.map { jar in keys.digests.map { $0.jar(jar) } } ?? [0]
        let rows = readAll { connection in
            try numbers.flatMap { number in
                try connection.rows("SELECT entries, size FROM usage WHERE jar = ?", [number]) {
                    CacheUsage(entries: $0.int64(0), size: $0.int64(1))
                }
            }
        }
        return (rows ?? []).reduce(.nothing, +)
    }

    /// What each rule has answered from the cache.
    package func hits() -> [String: CacheHits] {
        let rows = readAll { connection in
            try connection.rows("SELECT rule, count, octets FROM hit") {
                ($0.text(0), CacheHits(count: $0.int64(1), octets: $0.int64(2)))
            }
        }
        return memory.withLock { $0.notes.hits }.merging(rows ?? [], uniquingKeysWith: +)
    }

    /// A page of the stored responses, in the order in which they were stored.
    ///
    /// - Parameters:
    ///   - jar: The jar; `nil` for all jars.
    ///   - site: A site of the jar, as it was named when the responses were stored; `nil` for all.
    ///   - id: The last ID of the page before; 0 for the first page.
    ///   - count: How many rows to read. Those that cannot be opened are left out.
    ///   - now: The current time.
    /// - Returns: The responses, and the last ID that was read; `nil` at the end.
    package func page(
        ofJar jar: Octets? = nil, site: Octets? = nil, after id: Int64 = 0, count: Int = 256, now: Timestamp
    ) -> (responses: [StoredResponse], last: Int64?) {
        let keys = keys
        var (condition, numbers) = ("id > ?", [id])
        if let jar {
            let digests = keys.digests.map { $0.jar(jar) }
            condition += " AND jar IN (\(digests.map { _ in "?" }.joined(separator: ", ")))"
            numbers += digests
            if let site {
                condition += " AND site IN (\(digests.map { _ in "?" }.joined(separator: ", ")))"
                numbers += keys.digests.map { $0.site(site, jar: jar) }
            }
        }
        let rows =
            readAll {
                try $0.rows(
                    "SELECT \(StoredRow.columns) FROM response WHERE \(condition) ORDER BY id LIMIT ?",
                    numbers + [Int64(count)], StoredRow.init)
            } ?? []
        let responses = rows.compactMap { row in keys.open(row).map { StoredResponse(row, $0, now: now) } }
            .filter { found in (jar ?? found.jar) == found.jar && (site ?? found.site) == found.site }
        return (responses, rows.count < count ? nil : rows.last?.id)
    }

    /// The stored responses to a URL, for all audiences of a jar, in the order in which they were stored.
    package func responses(to url: RequestURL, jar: Octets, now: Timestamp) -> [StoredResponse] {
        let keys = keys
        let rows = readAll { connection in
            try keys.digests.flatMap { maker in
                try connection.rows(
                    "SELECT \(StoredRow.columns) FROM response WHERE \(ResponseCache.isOfURL)",
                    [maker.path(url, jar: jar), maker.query(url)], StoredRow.init)
            }
        }
        let responses = (rows ?? []).compactMap { row in
            keys.open(row).flatMap { head in
                head.isFor(url, jar: jar, audience: head.audience) ? StoredResponse(row, head, now: now) : nil
            }
        }
        return responses.sorted { $0.id < $1.id }
    }
}
