package import HTTPCaching
package import StoreEngine
import Synchronization
package import WebPrimitives

extension ResponseCache {
    /// Marks or removes what a response invalidates, for all audiences of the jar.
    ///
    /// A response that is marked needs a validation that is requested later. So does the response that replaces it, if it
    /// was requested before.
    ///
    /// If the index cannot be written, the invalidation is remembered, and until it is written, this process finds nothing.
    ///
    /// - Parameters:
    ///   - url: The target URI of the request.
    ///   - jar: The ID of the jar.
    package func apply(_ invalidation: Invalidation, of url: RequestURL, jar: Octets) {
        guard !invalidation.isEmpty else { return }
        if invalidation.clearsOrigin {
            for maker in keys.digests { _ = removeInBatches(where: "origin = ?", [maker.origin(url, jar: jar)]) }
        }
        invalidate { writer, keys in
            if invalidation.clearsOrigin {
                for maker in keys.digests { try writer.remove(where: "origin = ?", [maker.origin(url, jar: jar)]) }
            }
            // A response that is marked shares its mark with its groups, once.
            var groups = Set(invalidation.groups)
            for maker in keys.digests {
                for target in invalidation.urls {
                    let place = [maker.path(target, jar: jar), maker.query(target)]
                    let rows = try writer.connection.rows(
                        "SELECT \(StoredRow.columns) FROM response WHERE \(ResponseCache.isOfURL)", place,
                        StoredRow.init)
                    for row in rows { groups.formUnion(keys.open(row)?.response.groups ?? []) }
                    try writer.invalidate(at: invalidation.time, where: ResponseCache.isOfURL, place)
                }
            }
            for maker in keys.digests {
                for group in groups {
                    try writer.invalidate(
                        at: invalidation.time, where: "id IN (SELECT response FROM response_group WHERE name = ?)",
                        [maker.group(group, of: url, jar: jar)])
                }
            }
        }
    }

    /// The condition that holds for the responses to a URL, and for those with No-Vary-Search to its path.
    static let isOfURL = "path = ? AND query IN (?, \(RowDigests.anyQuery))"

    /// Marks responses that another one shows to be out of date: they need a validation. Any will do, since what was
    /// requested is newer.
    package func invalidate(_ stored: [StoredResponse]) {
        guard !stored.isEmpty else { return }
        let limits = limits
        invalidate { writer, keys in
            for stored in stored {
                var head = stored.head
                head.response = stored.response.invalidated
                if let row = SealedHead(head, keys, limits) {
                    _ = try ResponseCache.replace(stored, by: row, &writer)
                } else {
                    try writer.remove(where: "id = ?", [stored.id])
                }
            }
        }
    }

    /// Removes one response.
    package func remove(id: Int64) {
        _ = write { try $0.remove(where: "id = ?", [id]) }
    }

    /// Removes responses that must not answer again, such as those that `ValidationOutcome` names.
    ///
    /// A ``StoredBody`` that was opened before can still be read.
    package func remove(_ stored: [StoredResponse]) {
        guard !stored.isEmpty else { return }
        let ids = stored.map(\.id)
        invalidate { writer, _ in
            for id in ids { try writer.remove(where: "id = ?", [id]) }
        }
    }

    /// Removes the responses to a URL, for all audiences of a jar.
    ///
    /// - Parameter time: Removes only what was stored since then.
    /// - Returns: What was removed.
    @discardableResult
    package func remove(_ url: RequestURL, jar: Octets, since time: Timestamp = .distantPast) -> CacheUsage {
        remove(where: "\(ResponseCache.isOfURL) AND stored >= ?") { maker in
            [maker.path(url, jar: jar), maker.query(url), time.microseconds]
        }
    }

    /// Removes the responses of a jar, or of one of its sites.
    ///
    /// - Parameters:
    ///   - site: The site, as it was named when the responses were stored; `nil` for all.
    ///   - time: Removes only what was stored since then.
    /// - Returns: What was removed.
    @discardableResult
    package func removeResponses(
        ofJar jar: Octets, site: Octets? = nil, since time: Timestamp = .distantPast
    ) -> CacheUsage {
        remove(where: "jar = ? AND stored >= ?" + (site == nil ? "" : " AND site = ?")) { maker in
            [maker.jar(jar), time.microseconds] + (site.map { [maker.site($0, jar: jar)] } ?? [])
        }
    }

    /// Removes rows under all keys.
    private func remove(
        where condition: String, _ numbers: @escaping @Sendable (DigestMaker) -> [Int64]
    ) -> CacheUsage {
        let removed = keys.digests.map { removeInBatches(where: condition, numbers($0)) }.reduce(.nothing, +)
        forgetBodies()
        invalidate { writer, keys in
            for maker in keys.digests { try writer.remove(where: condition, numbers(maker)) }
        }
        return removed
    }

    /// Removes most of many rows in short transactions, so that no other process waits long.
    private func removeInBatches(where condition: String, _ numbers: [Int64]) -> CacheUsage {
        let batch = "id IN (SELECT id FROM response WHERE \(condition) LIMIT \(ResponseCache.batchSize))"
        var (removed, failures) = (CacheUsage.nothing, 0)
        while failures < ResponseCache.invalidationAttempts {
            guard let done = write({ try $0.remove(where: batch, numbers) }) else {
                failures += 1
                continue
            }
            removed = removed + done
            if done.entries < ResponseCache.batchSize { break }
        }
        return removed
    }

    /// Removes everything, and gives the room back.
    ///
    /// - Returns: What was removed.
    @discardableResult
    public func removeAll() -> CacheUsage {
        let removed = usage()
        invalidate { writer, _ in try ResponseIndex.removeAll(writer.connection) }
        forgetBodies()
        // The files are those of a newer version of the program.
        guard lastFailure?.code != .databaseNewer else { return removed }
        for shard in 0..<BodyFiles.shardCount { files.numbers(inShard: shard).forEach(files.remove) }
        compact()
        return removed
    }

    private func forgetBodies() {
        _ = read(fromMemory: true) { $0.recent.forgetBodies() }
    }

    // MARK: - Invalidations that are not written yet

    /// Runs a change that must not be lost.
    private func invalidate(_ change: @escaping CacheMemory.Change) {
        memory.withLock { memory in
            // So many can only come together if the disk is full. Then everything is removed as soon as possible.
            if memory.invalidations.count >= CacheMemory.invalidationLimit {
                memory.invalidations = []
                memory.add { writer, _ in try ResponseIndex.removeAll(writer.connection) }
            }
            memory.add(change)
        }
        for _ in 0..<ResponseCache.invalidationAttempts where applyInvalidations() { return }
    }

    /// Waits until every removal is written, for a process that ends: one that is not written would be lost.
    ///
    /// - Throws: The failure, if other processes write for too long or the index cannot be written.
    package func finishRemovals() throws(SessionStoreError) {
        for _ in 0..<ResponseCache.finalAttempts where applyInvalidations() { return }
        throw lastFailure ?? SessionStoreError(.databaseBusy, folder.path, "another process is writing; try again")
    }

    /// How often a removal is tried before a process ends: for some seconds if another one is writing.
    static let finalAttempts = 100
    /// How often an invalidation is tried at once. Each attempt waits for another process for a moment.
    private static let invalidationAttempts = 4

    /// Writes the invalidations that are not written yet.
    ///
    /// - Returns: Whether there are none left.
    func applyInvalidations() -> Bool {
        let changes = memory.withLock { $0.invalidations }
        guard let last = changes.last else { return true }
        let keys = keys
        let isWritten: Void? = write { writer in
            for change in changes { try change.run(&writer, keys) }
        }
        guard isWritten != nil else { return false }
        return memory.withLock { memory in
            // Other threads may have added some, and may have written the same ones.
            memory.invalidations.removeAll { $0.number <= last.number }
            return memory.invalidations.isEmpty
        }
    }
}

extension CacheMemory {
    /// How many invalidations are remembered.
    fileprivate static let invalidationLimit = 256

    fileprivate mutating func add(_ change: @escaping Change) {
        invalidationCount += 1
        invalidations.append((invalidationCount, change))
    }
}
