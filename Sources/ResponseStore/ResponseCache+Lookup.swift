package import HTTPCaching
import SQLiteEngine
import SessionStore
import StoreEngine
import Synchronization
package import WebPrimitives

/// A response in a cache.
///
/// Passing it on costs one reference count.
package final class StoredResponse: Sendable {
    /// Its ID in the cache, which no other response gets.
    package let id: Int64
    /// The response without its body. If it was invalidated, it says so.
    package let response: CachedResponse
    /// When it was stored.
    package let stored: Timestamp
    /// When it was last used, as far as that is written.
    package let used: Timestamp
    /// How many octets of the disk it takes.
    package let size: Int64
    let head: StoredHead
    /// How many octets the sealed head has.
    let headLength: Int
    let digests: RowDigests
    let generation: Int64
    let file: Int64?

    init(_ row: StoredRow, _ head: StoredHead, now: Timestamp) {
        id = row.id
        stored = row.stored
        used = row.used
        size = row.size
        self.head = head
        headLength = row.head.count
        digests = row.digests
        generation = row.generation
        file = row.file
        // A response from the future was stored when the clock was wrong. Its age is unknown.
        let isFromFuture = head.response.responseTime > now.advanced(bySeconds: StoredResponse.clockTolerance)
        let response = row.invalidated.map(head.response.invalidated(at:)) ?? head.response
        self.response = isFromFuture ? response.invalidated : response
    }

    /// By how many seconds the clock may be set back without consequences.
    private static let clockTolerance: Int64 = 60

    /// The jar that has stored it.
    package var jar: Octets { head.jar }
    /// The site of its URL, as it was named when the response was stored.
    var site: Octets { head.site }
    /// The audience that it is for.
    package var audience: Octets { head.audience }
    /// Whether its body has a file of its own. Otherwise it is in the index, and short.
    package var hasFile: Bool { file != nil }
}

extension ResponseCache {
    /// The stored responses that may answer a request, for `CachingPolicy.lookup`.
    ///
    /// - Parameters:
    ///   - request: The request, with all that the jar adds to it.
    ///   - jar: The ID of the jar.
    ///   - audience: What else separates responses.
    ///   - now: The current time.
    package func candidates(
        for request: CacheRequest, jar: Octets, audience: Octets, now: Timestamp
    ) -> [StoredResponse] {
        guard applyInvalidations() else { return [] }
        let (keys, limits) = (keys, limits)
        let key = RecentLookups.Key(url: request.url, jar: jar, audience: audience)
        let lookup = RowLookup(url: request.url, jar: jar, audience: audience, keys: keys, limits: limits)
        let found = read { reader in
            let version = reader.version(keys.sealer.keyID)
            let known = reader.recent.candidates(key, at: version, now: now)
            return (known, try known == nil ? lookup.numbers.flatMap(reader.rows) : [], version)
        }
        guard let (known, rows, version) = found else { return [] }
        if let known { return known }
        let stored = lookup.open(rows, now: now) { remove(id: $0) }
        _ = read(fromMemory: true) { $0.recent.keep(stored, for: key, at: version, now: now) }
        return stored
    }

    /// Whether responses to a URL are stored for another audience of the jar. Whether they can be opened is not known.
    ///
    /// - Parameter audience: The audience whose ``candidates(for:jar:audience:now:)`` were just looked up.
    func isStoredForOthers(_ url: RequestURL, jar: Octets, audience: Octets) -> Bool {
        let keys = keys
        let key = RecentLookups.Key(url: url, jar: jar, audience: audience)
        let lookup = RowLookup(url: url, jar: jar, audience: audience, keys: keys, limits: limits)
        let isStored = read { reader in
            let version = reader.version(keys.sealer.keyID)
            if let known = reader.recent.isForOthers(key, at: version) { return known }
            let isForOthers = try lookup.numbers.contains(where: reader.hasOthers)
            reader.recent.keep(isForOthers: isForOthers, for: key, at: version)
            return isForOthers
        }
        return isStored ?? false
    }

    /// The body of a stored response, or a range of it.
    ///
    /// - Parameter range: Positions in the representation, as in `StoredAnswer.body`; `nil` for all that is stored.
    /// - Returns: `nil` if the body is missing or its beginning is damaged. Then the response has been removed: send the
    ///   request to the server. Damage further on is found while reading.
    package func body(of stored: StoredResponse, range: Range<Int64>? = nil) -> StoredBody? {
        let seal = stored.head.body
        var positions = 0..<seal.length
        if let range {
            var first: Int64 = 0
            if case .part(let part, _) = stored.response.extent { first = part.lowerBound }
            let lower = min(max(0, range.lowerBound - first), seal.length)
            positions = lower..<min(max(lower, range.upperBound - first), seal.length)
        }
        let id = stored.id
        var source: StoredBody.Source?
        if let file = stored.file {
            source = files.open(file).map { .file($0) }
        } else if let known = read(fromMemory: true, { $0.recent.body(seal) }) ?? nil {
            source = .memory(known)
        } else {
            // It is not known to be missing if the index is busy.
            guard let found = read({ try $0.openedBody(of: id, seal) }) else { return nil }
            source = found.map { .memory($0) }
        }
        let reader = source.flatMap { source in
            StoredBody(source, seal, positions) { [weak self] in self?.remove(id: id) }
        }
        if reader == nil { remove(id: id) }
        return reader
    }

    /// Notes that a response was used, so that it is evicted later, and by which rule it answered.
    ///
    /// Writes nothing, so it may be called on any thread.
    ///
    /// - Parameter octets: The length of the answer's body.
    /// - Returns: Whether it is the first note since the last ones were written. Then call ``maintain(now:)`` some seconds
    ///   later, which writes all notes in one transaction.
    @discardableResult
    package func noteHit(_ stored: StoredResponse, rule: String, octets: Int64, now: Timestamp) -> Bool {
        memory.withLock { memory in
            let isFirst = memory.notes.isEmpty
            memory.notes.add(use: stored.id, at: now)
            memory.notes.add(CacheHits(count: 1, octets: octets), by: rule)
            return isFirst
        }
    }

    /// Writes what ``noteHit(_:rule:octets:now:)`` has noted.
    ///
    /// - Parameter now: The current time; `nil` for that of the last note.
    func writeNotes(now: Timestamp? = nil) {
        guard memory.withLock({ !$0.notes.isEmpty }) else { return }
        _ = writeWithNotes(now: now) { _ in }
    }

    /// Runs `body` in a transaction that first writes what was noted.
    ///
    /// - Returns: `nil` if it fails. Then the notes wait for the next one.
    func writeWithNotes<Result>(
        now: Timestamp? = nil, _ body: (inout IndexWriter) throws -> Result
    ) -> Result? {
        let notes = memory.withLock { memory in
            defer { memory.notes = CacheNotes() }
            return memory.notes
        }
        let result = write { writer in
            try notes.write(to: writer.connection, now: now)
            return try body(&writer)
        }
        if result == nil, !notes.isEmpty { memory.withLock { $0.notes.add(earlier: notes) } }
        return result
    }
}

/// When responses were used and what each rule has answered, until it is written.
struct CacheNotes {
    /// How many uses, and how many rules, are noted.
    private static let useLimit = 10_000
    private static let ruleLimit = 256

    private var uses: [Int64: Timestamp] = [:]
    private(set) var hits: [String: CacheHits] = [:]
    /// The time of the last note.
    private var last: Timestamp?

    var isEmpty: Bool { uses.isEmpty && hits.isEmpty }

    mutating func add(use id: Int64, at time: Timestamp) {
        last = time
        addUse(of: id, at: time)
    }

    private mutating func addUse(of id: Int64, at time: Timestamp) {
        if uses.count < CacheNotes.useLimit || uses[id] != nil { uses[id] = time }
    }

    mutating func add(_ hit: CacheHits, by rule: String) {
        guard hits.count < CacheNotes.ruleLimit || hits[rule] != nil else { return }
        hits[rule] = hits[rule].map { $0 + hit } ?? hit
    }

    /// Adds notes that were made before these.
    mutating func add(earlier notes: CacheNotes) {
        for (id, time) in notes.uses where uses[id] == nil { addUse(of: id, at: time) }
        last = last ?? notes.last
        for (rule, hit) in notes.hits { add(hit, by: rule) }
    }

    /// Writes the notes. Another process may have written a later use, which stays, unless its clock was ahead.
    ///
    /// - Parameter now: The current time; `nil` for that of the last note.
    func write(to connection: SQLiteConnection, now: Timestamp?) throws {
        for (id, time) in uses {
            let now = now ?? last ?? time
            try connection.run(
                "UPDATE response SET used = min(max(used, ?), ?) WHERE id = ?",
                [time.microseconds, now.microseconds, id])
        }
        for (rule, hits) in hits {
            let statement = try connection.statement(
                """
                INSERT INTO hit VALUES (?, ?, ?) ON CONFLICT (rule)
                DO UPDATE SET count = count + excluded.count, octets = octets + excluded.octets
                """)
            statement.bind(1, text: rule)
            statement.bind(2, hits.count)
            statement.bind(3, hits.octets)
            try statement.run()
        }
    }
}

/// Finds and opens the rows of the responses that may answer requests to a URL.
struct RowLookup: Sendable {
    let url: RequestURL
    let jar: Octets
    let audience: Octets
    let keys: CacheKeys
    let limits: CacheLimits

    /// The parameters of ``StoredRow/lookup``, for each key.
    var numbers: [[Int64]] {
        // As many with this query, and as many with No-Vary-Search.
        let limit = Int64(2 * limits.variants)
        return keys.digests.map { [$0.path(url, jar: jar), $0.query(url), $0.audience(audience), limit] }
    }

    /// Opens the rows that were found.
    ///
    /// - Parameter onDamage: Receives the ID of each row that does not open.
    func open(_ rows: [StoredRow], now: Timestamp, onDamage: (Int64) throws -> Void) rethrows -> [StoredResponse] {
        try rows.compactMap { row in
            guard let head = keys.open(row, isVerified: true) else {
                try onDamage(row.id)
                return nil
            }
            return head.isFor(url, jar: jar, audience: audience) ? StoredResponse(row, head, now: now) : nil
        }
    }
}
