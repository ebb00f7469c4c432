package import CookieModel
import HTTPCaching
import HTTPMessages
import ResponseStore
package import SessionStore
import SessionWire

extension OperationContext {
    /// The stored responses of the database; `nil` if nothing was ever stored. Does not create the folder.
    var cache: ResponseCache? {
        ResponseCache(of: database, environment: environment).flatMap { $0.folder.hasCache ? $0 : nil }
    }
}

extension OperationContext {
    /// Removes the stored responses of a jar.
    ///
    /// - Throws: The failure, if they are still there.
    func removeResponses(of jar: CookieJar) throws(SessionStoreError) {
        guard let cache else { return }
        cache.removeResponses(ofJar: jar.cacheName)
        try cache.finishRemovals()
    }
}

/// The stored responses of all jars of a database, for commands that change the database as a whole.
package enum StoredResponses {
    /// Seals them under the newest key, while the database still knows the former ones.
    package static func reseal(_ database: SessionDatabase, environment: (String) -> String?) {
        guard let cache = ResponseCache(of: database, environment: environment), cache.folder.hasCache else { return }
        cache.resealAll()
    }

    /// Removes those of a database file that was replaced by a backup: its jars had other sessions when they were stored,
    /// and an ID may be used again.
    ///
    /// - Throws: The failure, if they are still there.
    package static func remove(
        besideDatabase path: String, environment: (String) -> String?
    ) throws(SessionStoreError) {
        guard let folder = CacheFolder(database: path, environment: environment), folder.hasCache else { return }
        // Whatever key they are sealed under: nothing is opened.
        let sealer = Sealer(SealingKey(), id: 0)
        let cache = ResponseCache(folder, limits: CacheLimits()) { sealer }
        cache.removeAll()
        try cache.finishRemovals()
    }
}

/// What a command that fills the cache of a jar finds there afterwards: a response that was announced as stored may not
/// have reached the disk.
package struct CacheStoring: Sendable {
    private let jar: Octets
    private let size: Int64
    private let start: Timestamp
    private let cache: ResponseCache?

    /// - Parameters:
    ///   - size: How many octets of responses the jar may have.
    ///   - start: When the command began to store.
    ///   - environment: The value of a variable of the environment.
    package init(of jar: CookieJar, size: Int64, since start: Timestamp, environment: (String) -> String?) {
        (self.jar, self.size, self.start) = (jar.cacheName, size, start)
        cache = ResponseCache(of: jar.database, environment: environment)
    }

    /// How many octets a response may have in a cache of a size.
    package static func bodyLimit(_ size: Int64) -> Int { Int(min(size, CacheLimits().bodySize)) }

    /// Why no response to a URL was stored since the start; `nil` if one was.
    ///
    /// - Parameter octets: How many octets its content has; `nil` if that is not known.
    package func obstacle(of url: RequestURL, octets: Int?, now: Timestamp) -> String? {
        guard let cache else { return "the folder for caches is not known; set XDG_CACHE_HOME to its path" }
        let found = cache.folder.hasCache ? cache.responses(to: url, jar: jar, now: now) : []
        if found.contains(where: { $0.stored >= start }) { return nil }
        if let obstacle = cache.folder.obstacle { return obstacle.commandDescription }
        let isFull = cache.folder.hasCache && cache.usage(ofJar: jar).size > size / 10 * 9
        if isFull { return "the cache is full: give a larger size with --cache" }
        // The fields and what the index takes count, too.
        guard size - Int64(CacheLimits().headSize) >= Int64(octets ?? 0) else {
            return "it may not fit in the cache of \(size) octets: give a larger size with --cache"
        }
        return "the cache could not store it"
    }
}

extension OperationInput {
    /// The site of the host in the query, as the gateway names it.
    func site(_ jar: CookieJar) throws -> Octets? {
        try query.host("site")?.registrableDomain(jar.policy.publicSuffixes)
    }
}

extension ResponseCache {
    /// Reads from the cache.
    ///
    /// - Throws: The failure that the cache has met, which a gateway would treat as a miss.
    func reading<Result>(_ body: (ResponseCache) -> Result) throws(SessionStoreError) -> Result {
        let result = body(self)
        guard let lastFailure else { return result }
        guard lastFailure.code == .databaseForeign || lastFailure.code == .databaseDamaged else { throw lastFailure }
        throw SessionStoreError(
            lastFailure.code, lastFailure.subject,
            "this index of the cache was damaged, or of an older version, and was removed; the next response that a "
                + "gateway or 'crumb cache warm' stores begins a new one")
    }
}

extension DatabaseOperation where Document == NoDocument, Output == CachedResponseList {
    /// A page of the stored responses of a jar, in the order in which they were stored.
    package static var listCachedResponses: Self {
        Self(.listCachedResponses) { input, context in
            let limit = try context.limit(input.query)
            let showsQueries = try input.query.flag("queries") ?? false
            let start = try input.query.number("cursor", 0 ... .max) ?? 0
            let jar = try context.jar(named: input.jar)
            let site = try input.site(jar)
            guard let cache = context.cache else { return CachedResponseList(responses: []) }
            let now = context.now
            let page = try cache.reading {
                $0.page(ofJar: jar.cacheName, site: site, after: start, count: limit, now: now)
            }
            return CachedResponseList(
                responses: page.responses.map { CachedResponseReport($0, showingQuery: showsQueries, now: now) },
                next: page.last.map { String($0) })
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == CachedResponseDetailsList {
    /// The stored responses to one URL, for all audiences, and what would happen with the next request.
    package static var showCachedResponses: Self {
        Self(.showCachedResponses) { input, context in
            let showsQueries = try input.query.flag("queries") ?? false
            guard let url = try input.query.url("url") else {
                throw OperationError(.parameterMissing, "url: name the URL whose responses to show")
            }
            let jar = try context.jar(named: input.jar)
            let now = context.now
            let found = try context.cache?.reading { $0.responses(to: url, jar: jar.cacheName, now: now) } ?? []
            guard !found.isEmpty else {
                throw OperationError(
                    .responseNotStored,
                    "\(SecretRedaction.url(url.withoutQuery.description)): no response to this URL is stored for jar "
                        + "'\(jar.name)'")
            }
            return CachedResponseDetailsList(found, showingQuery: showsQueries, now: now)
        }
    }
}

extension DatabaseOperation where Document == ExplainCacheDocument, Output == CacheExplanationReport {
    /// How the cache would answer a request, and by which rule.
    package static var explainCache: Self {
        Self(.explainCache) { input, context in
            var question = try CacheQuestion(input.document, now: context.now)
            let jar = try context.jar(named: input.jar)
            try question.add(jar, for: input.document)
            let (url, now) = (question.url, context.now)
            let found = try context.cache?.reading { $0.responses(to: url, jar: jar.cacheName, now: now) }
            return CacheExplanationReport(question, found ?? [])
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == CacheStatisticsReport {
    /// How much the cache holds of a jar; for callers who may see all jars, also how much it holds of all.
    package static var cacheStatistics: Self {
        Self(.cacheStatistics) { input, context in
            let jar = try context.jar(named: input.jar)
            let cache = context.cache
            let usage = try cache?.reading { $0.usage(ofJar: jar.cacheName) }
            var whole: CacheStatisticsReport.Whole?
            if context.grant.coversAll {
                let all = try cache?.reading { (usage: $0.usage(), hits: $0.hits()) }
                let folder = CacheFolder(database: context.database.path, environment: context.environment)
                whole = CacheStatisticsReport.Whole(
                    responses: all?.usage.entries ?? 0, octets: all?.usage.size ?? 0,
                    hits: all?.hits.mapValues(\.count) ?? [:], octetsSaved: all?.hits.mapValues(\.octets) ?? [:],
                    folder: folder?.path, problem: folder?.obstacle?.commandDescription)
            }
            return CacheStatisticsReport(
                jar: jar.name, responses: usage?.entries ?? 0, octets: usage?.size ?? 0, whole: whole)
        }
    }
}

extension DatabaseOperation where Document == NoDocument, Output == CacheRemovalReport {
    /// Removes the stored responses of a jar that meet every condition.
    package static var purgeCache: Self {
        Self(.purgeCache) { input, context in
            let since = try input.query.time("since", now: context.now) ?? .distantPast
            let urls = try input.query.all("url").map { try RequestURL($0, member: "url") }
            let jar = try context.jar(named: input.jar)
            let site = try input.site(jar)
            guard site == nil || urls.isEmpty else {
                throw OperationError.parameterInvalid("site", "remove it: the URLs name their sites")
            }
            guard let cache = context.cache else { return CacheRemovalReport(removed: 0, octets: 0) }
            let removed =
                urls.isEmpty
                ? [cache.removeResponses(ofJar: jar.cacheName, site: site, since: since)]
                : urls.map { cache.remove($0, jar: jar.cacheName, since: since) }
            try cache.finishRemovals()
            return CacheRemovalReport(removed)
        }
    }

    /// Removes the stored responses of all jars.
    package static var purgeAllCaches: Self {
        Self(.purgeAllCaches) { _, context in
            guard let cache = context.cache else { return CacheRemovalReport(removed: 0, octets: 0) }
            let removed = cache.removeAll()
            try cache.finishRemovals()
            return CacheRemovalReport([removed])
        }
    }
}
