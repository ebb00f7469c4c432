import HTTPCaching
import WebPrimitives

/// The simplest cache that does the same: an array, without limits but that of variants.
struct CacheTwin {
    struct Entry {
        let jar: Octets
        let audience: Octets
        let site: Octets
        var response: CachedResponse
        let body: [UInt8]
        let stored: Timestamp
        var used: Timestamp

        /// The query that a request must have; `nil` for any.
        var query: Octets? { response.fields.has("no-vary-search") ? nil : response.url.query }

        func isOf(_ origin: RequestURL, _ jar: Octets) -> Bool {
            self.jar == jar && response.url.isSameOrigin(as: origin)
        }
    }

    static let variantLimit = 4
    /// In the order in which they were stored.
    private(set) var entries: [Entry] = []

    mutating func store(_ new: Entry, to request: CacheRequest) {
        let stored = candidates(for: request.url, jar: new.jar, audience: new.audience)
        let replacement = CachingPolicy().replacement(
            by: new.response, to: request, among: stored.map { entries[$0].response })
        var entry = new
        entry.response = replacement.response
        for index in replacement.superseded.reversed() { entries.remove(at: stored[index]) }
        func isNear(_ other: Entry) -> Bool {
            other.jar == entry.jar && other.audience == entry.audience
                && other.response.url.withoutQuery == entry.response.url.withoutQuery
        }
        // The most recently used ones, and of those the newest, stay.
        let rivals = entries.indices.filter { isNear(entries[$0]) && entries[$0].query == entry.query }
            .sorted { (entries[$0].used, $0) > (entries[$1].used, $1) }
        for index in rivals.dropFirst(CacheTwin.variantLimit - 1).sorted(by: >) { entries.remove(at: index) }
        entries.append(entry)
    }

    /// The indices of the entries that may answer a request.
    func candidates(for url: RequestURL, jar: Octets, audience: Octets) -> [Int] {
        entries.indices.filter {
            let entry = entries[$0]
            return entry.jar == jar && entry.audience == audience && entry.response.url.withoutQuery == url.withoutQuery
                && (entry.query == nil || entry.query == url.query)
        }
    }

    mutating func use(_ index: Int, now: Timestamp) {
        entries[index].used = now
    }

    mutating func update(_ index: Int, with response: CachedResponse) {
        entries[index].response = response
    }

    /// What may be marked although it need not be: all queries of a URL if one of its responses has No-Vary-Search.
    mutating func invalidate(_ urls: [RequestURL], groups: [Octets], of origin: RequestURL, jar: Octets, now: Timestamp)
    {
        let isTarget = entries.map { entry in
            entry.jar == jar
                && urls.contains {
                    $0.withoutQuery == entry.response.url.withoutQuery
                        && (entry.query == nil || entry.query == $0.query)
                }
        }
        var names = Set(groups)
        for (entry, isTarget) in zip(entries, isTarget) where isTarget { names.formUnion(entry.response.groups) }
        for index in entries.indices {
            let entry = entries[index]
            if isTarget[index] || entry.isOf(origin, jar) && !names.isDisjoint(with: entry.response.groups) {
                entries[index].response = entry.response.invalidated(at: now)
            }
        }
    }

    mutating func remove(where isRemoved: (Entry) -> Bool) {
        entries.removeAll(where: isRemoved)
    }
}
