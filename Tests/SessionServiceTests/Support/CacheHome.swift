import CookieModel
import HTTPCaching
import ResponseStore
import SessionStore
import Testing

@testable import SessionService

/// A database with a folder for its cache.
struct CacheHome: Sendable {
    let folder = TemporaryFolder()
    let database: SessionDatabase
    let environment: @Sendable (String) -> String?

    init() throws {
        let key = try #require(SealingKey(bytes: Array(1...32)))
        database = try SessionDatabase(path: folder.file("crumb.sqlite"), keys: .key(key), now: ServiceFixture.now)
        try ServiceFixture.fill(database)
        let caches = folder.file("caches")
        environment = { $0 == "XDG_CACHE_HOME" ? caches : nil }
    }

    /// The cache.
    func cache() throws -> ResponseCache { try #require(ResponseCache(of: database, environment: environment)) }

    /// Stores a response as a gateway does.
    func store(
        _ url: String, jar name: String = "default", audience: Octets = "a",
        _ fields: MessageFields = ["Cache-Control": "max-age=600"], requestFields: MessageFields = [:], age: Int64 = 0
    ) throws {
        let now = ServiceFixture.now.advanced(bySeconds: -age)
        let request = CacheRequest(url: try RequestURL(url), fields: requestFields)
        let policy = CachingPolicy(rules: .standard)
        let response = OriginResponse(status: 200, fields: fields, requestTime: now, responseTime: now)
        let stored = try #require(policy.storing(response, for: request).response)
        let jar = try #require(try database.existingJar(named: name, policy: CookiePolicy()))
        let cache = try cache()
        let writer = try #require(
            cache.begin(
                stored, to: request, policy: policy, jar: jar.cacheName, audience: audience,
                site: request.url.host.registrableDomain(jar.policy.publicSuffixes)))
        _ = writer.append(Array("body-secret".utf8))
        #expect(writer.finish(isComplete: true, now: now) != nil)
    }
}
