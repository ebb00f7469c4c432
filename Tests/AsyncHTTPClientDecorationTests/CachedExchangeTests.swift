import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import Foundation
import HTTPCaching
import NIOCore
import NIOHTTP1
import RequestDecoration
import ResponseStore
import SessionStore
import Synchronization
import TestSupport
import Testing

@Suite("AsyncHTTPClient with a jar's cache")
struct CachedExchangeTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    /// A jar with a cache, whose folder is removed at the end.
    private func withCache(
        _ body: (HTTPClient, CookieJar, PrivateCache) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/crumb-cache-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try SessionDatabase(
            path: "", keys: .key(SealingKey()), durability: .memory, now: CachedExchangeTests.now)
        let jar = try database.jar(now: CachedExchangeTests.now)
        let cache = PrivateCache(ResponseCache(CacheFolder(folder), of: database), of: jar)
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await body(client, jar, cache)
            try await client.shutdown()
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private func get(
        _ url: String, _ client: HTTPClient, _ jar: CookieJar, _ cache: PrivateCache,
        policy: RequestCachePolicy = .useProtocolCachePolicy, at time: Timestamp = CachedExchangeTests.now
    ) async throws -> HTTPClientResponse {
        try await client.exchange(
            HTTPClientRequest(url: url), by: RequestDecorator(jar: jar), timeout: .seconds(600), cache: cache,
            cachePolicy: policy
        ) { time }.payload
    }

    private func text(_ response: HTTPClientResponse) async throws -> String {
        String(buffer: try await response.body.collect(upTo: 1 << 22))
    }

    /// A server with one resource and its tag.
    private func server(_ cacheControl: String, _ body: String = "body") throws -> LoopbackServer {
        try LoopbackServer { request in
            let isKnown = request.text("if-none-match") == ["\"1\""]
            var response = LoopbackServer.Response(isKnown ? 304 : 200, setCookie: ["a=1"], body: isKnown ? "" : body)
            response.fields.append(("Cache-Control", Array(cacheControl.utf8)))
            response.fields.append(("ETag", Array("\"1\"".utf8)))
            return response
        }
    }

    @Test("A body is stored while it is read, and answers later, however long it is", arguments: [4, 3_000_000])
    func hit(length: Int) async throws {
        let server = try server("max-age=60", String(repeating: "x", count: length))
        try await withCache { client, jar, cache in
            let url = "http://127.0.0.1:\(server.port)/data"
            let first = try await get(url, client, jar, cache)
            #expect(first.headers["Cache-Status"].first?.contains("stored") == true)
            #expect(try await text(first).utf8.count == length)
            let second = try await get(url, client, jar, cache)
            #expect(second.headers["Cache-Status"].first?.hasPrefix("crumb; hit") == true)
            #expect(second.headers["Set-Cookie"].isEmpty)
            #expect(try await text(second).utf8.count == length)
        }
        #expect(server.requests.count == 1)
    }

    /// A server of "01234567", which has a stored part of it completed.
    private func rangeServer() throws -> LoopbackServer {
        try LoopbackServer { request in
            var response =
                switch request.text("range") {
                case ["bytes=0-3"]: LoopbackServer.Response(206, body: "0123")
                case ["bytes=4-"]: LoopbackServer.Response(206, body: "4567")
                default: LoopbackServer.Response(body: "01234567")
                }
            if response.body.count == 4 {
                let positions = response.body.first == 0x30 ? "0-3" : "4-7"
                response.fields.append(("Content-Range", Array("bytes \(positions)/8".utf8)))
            }
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            response.fields.append(("ETag", Array("\"1\"".utf8)))
            return response
        }
    }

    @Test("A part is completed, and the whole response is stored")
    func completed() async throws {
        let server = try rangeServer()
        try await withCache { client, jar, cache in
            var part = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/data")
            part.headers.add(name: "Range", value: "bytes=0-3")
            let answer = try await client.exchange(
                part, by: RequestDecorator(jar: jar), timeout: .seconds(600), cache: cache
            ) { CachedExchangeTests.now }
            #expect(try await text(answer.payload) == "0123")
            for _ in 0..<2 {
                let whole = try await get(part.url, client, jar, cache)
                #expect(whole.status == .ok)
                #expect(try await text(whole) == "01234567")
            }
        }
        #expect(server.requests.map { $0.text("range") } == [["bytes=0-3"], ["bytes=4-"]])
    }

    @Test("A body is stored once its last octet is read, also if the reader does not ask for the end")
    func stop() async throws {
        let server = try server("max-age=60", String(repeating: "x", count: 300_000))
        try await withCache { client, jar, cache in
            let url = "http://127.0.0.1:\(server.port)/data"
            let first = try await get(url, client, jar, cache)
            var count = 0
            for try await piece in first.body {
                count += piece.readableBytes
                if count == 300_000 { break }
            }
            #expect(try await text(try await get(url, client, jar, cache)).utf8.count == 300_000)
        }
        #expect(server.requests.count == 1)
    }

    @Test("A body that nobody reads is not stored")
    func unread() async throws {
        let server = try server("max-age=60", String(repeating: "x", count: 1_000_000))
        try await withCache { client, jar, cache in
            let url = "http://127.0.0.1:\(server.port)/data"
            _ = try await get(url, client, jar, cache)
            _ = try await text(try await get(url, client, jar, cache))
        }
        #expect(server.requests.count == 2)
    }

    @Test("A stale response is confirmed, and answers if the server is gone")
    func stale() async throws {
        try await withCache { client, jar, cache in
            var url = ""
            do {
                let server = try server("max-age=1")
                url = "http://127.0.0.1:\(server.port)/data"
                _ = try await text(try await get(url, client, jar, cache))
                let later = CachedExchangeTests.now.advanced(bySeconds: 10)
                let confirmed = try await get(url, client, jar, cache, at: later)
                #expect(confirmed.status == .ok)
                #expect(try await text(confirmed) == "body")
                #expect(server.requests.map { $0.text("if-none-match") } == [[], ["\"1\""]])
            }
            let offline = try await get(
                url, client, jar, cache, at: CachedExchangeTests.now.advanced(bySeconds: 1000))
            #expect(try await text(offline) == "body")
        }
    }

    @Test("A policy that forbids to send the request ends with an error if nothing is stored")
    func policy() async throws {
        let server = try server("max-age=60")
        try await withCache { client, jar, cache in
            let url = "http://127.0.0.1:\(server.port)/data"
            await #expect(throws: NotStoredError.self) {
                try await get(url, client, jar, cache, policy: .returnCacheDataDontLoad)
            }
            _ = try await text(try await get(url, client, jar, cache))
            _ = try await text(try await get(url, client, jar, cache, policy: .returnCacheDataDontLoad))
        }
        #expect(server.requests.count == 1)
    }
}
