public import HTTPCaching
import SQLiteEngine
import Synchronization
public import WebPrimitives

extension ResponseCache {
    /// Begins to store a response.
    ///
    /// - Parameters:
    ///   - response: The response from `StoringDecision`, or from `CachedResponse.Combination`.
    ///   - jar: The ID of the jar.
    ///   - audience: What else separates responses.
    ///   - site: The site of its URL, by which it can be removed.
    /// - Returns: `nil` if it is not stored, because it is too large or there is no room.
    public func begin(_ response: CachedResponse, jar: Octets, audience: Octets, site: Octets) -> ResponseWriter? {
        guard !isPaused, !response.fields.has("set-cookie"), response.extent.total ?? 0 <= limits.bodySize
        else { return nil }
        return ResponseWriter(self, response, jar: jar, audience: audience, site: site)
    }

    /// Stores the row of a response whose body is complete.
    ///
    /// - Parameter sealed: The sealed body; `nil` if it has a file.
    /// - Returns: Its ID; `nil` if it is not stored.
    func insert(_ head: StoredHead, file: Int64?, _ sealed: [UInt8]?, now: Timestamp) -> Int64? {
        guard (file == nil) != (sealed == nil), applyInvalidations(), let row = SealedHead(head, keys, limits)
        else { return nil }
        let size = Int64(row.sealed.count + ResponseCache.rowSize) + head.body.sealedLength
        let jar = row.digests.jar
        let id = write { writer in
            let id = try writer.insert(row, size: size, file: file, sealed, now: now)
            try removeReplaced(by: id, row, &writer)
            try evict(jar: jar, &writer)
            return id
        }
        if id != nil {
            keepHouse(jar: jar, now: now)
        } else if isPaused {
            // The disk is full: the next response finds room.
            makeRoom()
        }
        return id
    }

    /// What a row takes beside its head and body, with its places in the indexes. Measured with a million rows.
    private static let rowSize = 270

    /// Removes the responses that a new one replaces, and those that are too many for its URL.
    private func removeReplaced(by id: Int64, _ row: SealedHead, _ writer: inout IndexWriter) throws {
        for (digests, fullQuery) in row.rivals {
            try writer.remove(
                where: "path = ? AND query IN (?, \(RowDigests.anyQuery)) AND audience = ? AND variant = ? AND id <> ?",
                [digests.path, fullQuery, digests.audience, digests.variant, id])
        }
        let places = repeatElement("(?, ?, ?)", count: row.rivals.count).joined(separator: ", ")
        try writer.remove(
            where: """
                id IN (
                    SELECT id FROM response WHERE (path, query, audience) IN (VALUES \(places)) AND id <> ?
                    ORDER BY used DESC, id DESC LIMIT -1 OFFSET ?
                )
                """,
            row.rivals.flatMap { [$0.digests.path, $0.digests.query, $0.digests.audience] }
                + [id, Int64(limits.variants - 1)])
    }

    /// Replaces the head of a stored response by one that was validated or updated.
    ///
    /// - Parameter response: The new head, from `CachingPolicy.validated` or `freshened`.
    /// - Returns: Whether it was. It is not if the response was changed, invalidated or removed meanwhile.
    @discardableResult
    public func update(_ stored: StoredResponse, with response: CachedResponse) -> Bool {
        var head = stored.head
        head.response = response
        guard !response.fields.has("set-cookie"), let row = SealedHead(head, keys, limits) else {
            remove(id: stored.id)
            return false
        }
        return write { writer in
            let isUnchanged = try !writer.connection.rows(
                "SELECT 1 FROM response WHERE id = ? AND generation = ?", [stored.id, stored.generation]
            ) { _ in true }.isEmpty
            if isUnchanged { try writer.replace(stored.id, by: row, isInvalid: response.isInvalid) }
            return isUnchanged
        } ?? false
    }
}
