import HTTPCaching
import Platform
import ResponseStore
import SessionStore
import TestSupport
import WebPrimitives

/// The cache of the jar `bench` of a database, with any number of responses, for benchmarks.
///
/// `crumb gateway run --client tool --jar bench --cache SIZE` answers from it. As in `crumb`, `CRUMB_KEY_FILE` names the key
/// file of the database, and `XDG_CACHE_HOME` the folder for caches. The database is created if it does not exist.
struct FilledCache {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let body = Array(String(repeating: "{\"number\":1}\n", count: 20).utf8)
    /// How many lookups are timed together. The clock takes no noticeable part of them.
    private static let batchSize = 1000

    private let cache: ResponseCache
    private let jar: Octets
    private let audience = CacheAudience(nil).octets

    init(database path: String) throws {
        let environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
        guard let keyFile = environment("CRUMB_KEY_FILE") else {
            throw Failure(description: "CRUMB_KEY_FILE is not set")
        }
        let database = try SessionDatabase(path: path, keys: .file(keyFile))
        jar = try database.jar(named: "bench").cacheName
        var limits = CacheLimits()
        (limits.size, limits.jarSize) = (.max, .max)
        guard let cache = ResponseCache(of: database, limits: limits, environment: environment) else {
            throw Failure(description: "XDG_CACHE_HOME is not set to an absolute path")
        }
        self.cache = cache
    }

    /// The URL of a response. All of them together have a thousand sites.
    private static func url(_ number: Int) -> String {
        "http://www.site-\(number % 1000).example/api/articles/\(number)?fields=title,author,summary"
    }

    // MARK: - Filling

    /// Stores responses as a gateway does, each in a transaction of its own.
    ///
    /// - Returns: A JSON object: how many responses there are, how many octets of the disk they take, how long it took, and
    ///   the URL of the last one.
    func fill(_ count: Int) throws -> String {
        let time = try ContinuousClock().measure {
            for number in 0..<count { try store(number) }
        }
        // The index of an empty cache is not created.
        let octets = count > 0 ? cache.usage(ofJar: jar).size : 0
        return """
            {"entries": \(count), "octets": \(octets), "seconds": \(time / .seconds(1)), \
            "url": "\(FilledCache.url(max(0, count - 1)))"}
            """
    }

    private func store(_ number: Int) throws {
        let request = CacheRequest(url: try RequestURL(FilledCache.url(number)))
        let now = Timestamp.now
        let fields: MessageFields = [
            "Date": Octets(now.httpDate), "Server": "nginx/1.22.1", "Content-Type": "application/json; charset=utf-8",
            "Content-Length": Octets("\(FilledCache.body.count)"), "Cache-Control": "max-age=31536000",
            "ETag": Octets("\"article-\(number)\""), "Vary": "Accept-Encoding",
            "Strict-Transport-Security": "max-age=31536000; includeSubDomains", "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "strict-origin-when-cross-origin",
        ]
        let response = OriginResponse(status: 200, fields: fields, requestTime: now, responseTime: now)
        let policy = CachingPolicy()
        guard let storable = policy.storing(response, for: request).response,
            let writer = cache.begin(
                storable, to: request, policy: policy, jar: jar, audience: audience,
                site: Octets("site-\(number % 1000).example")),
            writer.append(FilledCache.body), writer.finish(isComplete: true, now: now) != nil
        else {
            throw Failure(description: "response \(number) was not stored: \(cache.lastFailure?.description ?? "")")
        }
    }

    // MARK: - Lookups

    /// Looks up random ones of the first `count` responses, again and again for some seconds.
    ///
    /// A gateway that is asked for few URLs remembers the answers, and the index is not read. So the clock goes back by a
    /// microsecond with each lookup here: an answer that is remembered is not used at an earlier time. Each lookup reads the
    /// index then, however many responses it has, and remembers its answer as ever.
    ///
    /// - Returns: A JSON object: how many lookups there were, and the median time of one in nanoseconds.
    func measureLookups(among count: Int, seconds: Int64) throws -> String {
        guard count > 0 else { throw Failure(description: "there is nothing to look up") }
        var generator = SeededGenerator(seed: UInt64(count))
        var time = Timestamp.now.advanced(bySeconds: 3600)
        func nextRequests() throws -> [CacheRequest] {
            try (0..<FilledCache.batchSize).map { _ in
                CacheRequest(url: try RequestURL(FilledCache.url(generator.below(count))))
            }
        }
        func lookUp(_ request: CacheRequest) throws -> StoredResponse {
            time = time.advanced(by: .microseconds(-1))
            let found = cache.candidates(for: request, jar: jar, audience: audience, now: time)
            guard found.count == 1 else {
                throw Failure(description: "\(found.count) responses are stored for \(request.url)")
            }
            return found[0]
        }
        // The first lookups open the index, and fill SQLite's own cache of pages.
        for request in try nextRequests() {
            guard try lookUp(request) !== lookUp(request) else {
                throw Failure(description: "an answer was remembered, so the index is not measured")
            }
        }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var times: [Duration] = []
        repeat {
            let requests = try nextRequests()
            times.append(try clock.measure { for request in requests { _ = try lookUp(request) } })
        } while clock.now < end
        let median = times.sorted()[times.count / 2] / FilledCache.batchSize
        return """
            {"lookups": \(times.count * FilledCache.batchSize), "nanoseconds": \(median / .nanoseconds(1))}
            """
    }
}
