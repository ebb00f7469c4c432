package import HTTPCaching
import SQLiteEngine
import Synchronization
package import WebPrimitives

extension ResponseCache {
    /// Begins to store a response.
    ///
    /// Apply what the response invalidates before, and remove what its `ValidationOutcome` names afterwards: the new
    /// response keeps the time of an invalidation that came while it was on its way.
    ///
    /// - Parameters:
    ///   - response: The response from `StoringDecision`, or from `CachedResponse.Combination`.
    ///   - request: The request that it answers.
    ///   - policy: Says which stored responses it supersedes.
    ///   - jar: The ID of the jar.
    ///   - audience: What else separates responses.
    ///   - site: The site of its URL, by which it can be removed.
    /// - Returns: `nil` if it is not stored, because it is too large or there is no room.
    package func begin(
        _ response: CachedResponse, to request: CacheRequest, policy: CachingPolicy, jar: Octets, audience: Octets,
        site: Octets
    ) -> ResponseWriter? {
        let length = response.fields.values("content-length").first.flatMap {
            Int64(String(decoding: $0, as: UTF8.self))
        }
        guard !isPaused, !response.fields.has("set-cookie"),
            max(response.extent.total ?? 0, length ?? 0) <= limits.bodySize
        else { return nil }
        let stored = candidates(for: request, jar: jar, audience: audience, now: response.responseTime)
        let replacement = policy.replacement(by: response, to: request, among: stored.map(\.response))
        let head = StoredHead(
            jar: jar, audience: audience, site: site, response: replacement.response, body: BodySeal())
        guard head.fits(limits) else { return nil }
        return ResponseWriter(
            self, replacement.response, to: request, policy, jar: jar, audience: audience, site: site,
            isExpected: expectsToStore(length ?? 0))
    }

    /// Stores the row of a response whose body is complete, and removes the responses that it supersedes.
    ///
    /// - Parameter sealed: The sealed body; `nil` if it has a file.
    /// - Returns: Its ID; `nil` if it is not stored.
    func insert(
        _ head: StoredHead, to request: CacheRequest, _ policy: CachingPolicy, file: Int64?, _ sealed: [UInt8]?,
        now: Timestamp
    ) -> Int64? {
        let keys = keys
        guard (file == nil) != (sealed == nil), applyInvalidations(), let jar = keys.digests.first?.jar(head.jar)
        else { return nil }
        let lookup = RowLookup(
            url: head.response.url, jar: head.jar, audience: head.audience, keys: keys, limits: limits)
        // What was noted decides what has to go.
        let done: (id: Int64, isWithinLimits: Bool)?? = writeWithNotes(now: now) { writer in
            let rows = try lookup.numbers.flatMap {
                try writer.connection.rows(StoredRow.lookup, $0, StoredRow.init)
            }
            let stored = try lookup.open(rows, now: now) { try writer.remove(where: "id = ?", [$0]) }
            let replacement = policy.replacement(by: head.response, to: request, among: stored.map(\.response))
            var head = head
            head.response = replacement.response
            guard let row = SealedHead(head, keys, limits) else { return nil }
            for index in replacement.superseded { try writer.remove(where: "id = ?", [stored[index].id]) }
            let size = Int64(row.sealed.count + ResponseCache.rowSize) + head.body.sealedLength
            let id = try writer.insert(row, size: size, file: file, sealed, now: now)
            try removeExcess(beside: id, row, &writer)
            return (id, try evict(jar: jar, &writer))
        }
        if let done = done ?? nil {
            keepHouse(jar: jar, isWithinLimits: done.isWithinLimits, now: now)
            return done.id
        }
        // The disk is full: the next response finds room.
        if isPaused { makeRoom() }
        return nil
    }

    /// What a row takes beside its head and body, with its places in the indexes. Measured with a million rows.
    private static let rowSize = 261

    /// Removes the least recently used responses that are too many for the URL of a new one.
    private func removeExcess(beside id: Int64, _ row: SealedHead, _ writer: inout IndexWriter) throws {
        let places = repeatElement("(?, ?, ?)", count: row.allDigests.count).joined(separator: ", ")
        try writer.remove(
            where: """
                id IN (
                    SELECT id FROM response WHERE (path, query, audience) IN (VALUES \(places)) AND id <> ?
                    ORDER BY used DESC, id DESC LIMIT -1 OFFSET ?
                )
                """,
            row.allDigests.flatMap { [$0.path, $0.query, $0.audience] } + [id, Int64(limits.variants - 1)])
    }

    /// Replaces the head of a stored response by one that was validated or updated.
    ///
    /// - Parameter response: The new head, from `CachingPolicy.validated` or `freshened`.
    /// - Returns: Whether it was. It is not if the response was changed, invalidated or removed meanwhile.
    @discardableResult
    package func update(_ stored: StoredResponse, with response: CachedResponse) -> Bool {
        var head = stored.head
        head.response = response
        guard !response.fields.has("set-cookie"), let row = SealedHead(head, keys, limits) else {
            remove(id: stored.id)
            return false
        }
        return write { try ResponseCache.replace(stored, by: row, &$0) } ?? false
    }

    /// Replaces the row of a response, unless it was changed, invalidated or removed meanwhile.
    ///
    /// - Returns: Whether it was replaced.
    static func replace(_ stored: StoredResponse, by row: SealedHead, _ writer: inout IndexWriter) throws -> Bool {
        let isUnchanged = try !writer.connection.rows(
            "SELECT 1 FROM response WHERE id = ? AND generation = ?", [stored.id, stored.generation]
        ) { _ in true }.isEmpty
        if isUnchanged { try writer.replace(stored.id, by: row, invalidated: nil) }
        return isUnchanged
    }
}
