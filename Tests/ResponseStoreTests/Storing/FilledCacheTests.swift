import Foundation
import HTTPCaching
import SessionStore
import TestSupport
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Caches that are filled for benchmarks")
struct FilledCacheTests {
    private let home = CacheHome()
    private var database: String { "\(home.path)/filled.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    }

    private func run(_ arguments: String...) throws -> RunResult {
        let environment = ProcessInfo.processInfo.environment.merging(
            ["CRUMB_KEY_FILE": "\(home.path)/key", "XDG_CACHE_HOME": home.path], uniquingKeysWith: { $1 })
        return try RunningProcess(
            RunningProcess.built("cache-worker"), arguments, environment: environment, scratch: home.path
        ).wait()
    }

    @Test("The responses are in the cache of the database, for programs behind a gateway")
    func fill() throws {
        let result = try run("fill", database, "30")
        #expect(result.status == 0, "\(result.messages)")
        let report = try #require(result.objects().first)
        #expect(report["entries"] as? Int == 30)
        let url = try RequestURL(#require(report["url"] as? String))

        let opened = try SessionDatabase(path: database, keys: .file("\(home.path)/key"))
        let jar = try #require(try opened.existingJar(named: "bench")).cacheName
        let cache = try #require(ResponseCache(of: opened) { $0 == "XDG_CACHE_HOME" ? home.path : nil })
        #expect(cache.usage(ofJar: jar).entries == 30)
        let found = cache.candidates(
            for: CacheRequest(url: url), jar: jar, audience: CacheAudience(nil).octets, now: .now)
        #expect(found.map(\.response.url) == [url])
        #expect(try found.first.flatMap { cache.body(of: $0) }?.readAll().isEmpty == false)
    }

    @Test("Lookups find each response, and fail if one is missing")
    func lookups() throws {
        #expect(try run("fill", database, "30").status == 0)
        let result = try run("lookups", database, "30", "0")
        #expect(result.status == 0, "\(result.messages)")
        let report = try #require(result.objects().first)
        #expect(report["lookups"] as? Int == 1000)
        #expect(try #require(report["nanoseconds"] as? Double) > 0)

        let failed = try run("lookups", database, "31", "0")
        #expect(failed.status == 1)
        #expect(failed.messages.contains("0 responses are stored for http://www.site-30.example/"))
    }
}
