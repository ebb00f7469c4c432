import AsyncHTTPClient
import AsyncHTTPClientDecoration
import DecorationTestSupport
import HTTPCaching
import NIOCore
import NIOHTTP1
import RequestDecoration
import TestSupport
import Testing

@Suite("AsyncHTTPClient with a jar's cache")
struct CachedExchangeTests {
    /// Runs `body` with a client and a jar with a cache.
    private func withCache(_ body: (HTTPClient, CachedJar) async throws -> Void) async throws {
        let jar = try CachedJar()
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await body(client, jar)
            try await client.shutdown()
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private func get(
        _ url: String, _ client: HTTPClient, _ jar: CachedJar, policy: RequestCachePolicy = .useProtocolCachePolicy
    ) async throws -> HTTPClientResponse {
        try await client.exchange(
            HTTPClientRequest(url: url), by: RequestDecorator(jar: jar.jar), timeout: .seconds(3600), cache: jar.cache,
            cachePolicy: policy
        ) { jar.now }.payload
    }

    private func text(_ response: HTTPClientResponse) async throws -> String {
        String(buffer: try await response.body.collect(upTo: 1 << 22))
    }

    /// A server with one resource and its tag.
    private func server(_ cacheControl: String, _ body: String = "body") throws -> LoopbackServer {
        try .tagged(cacheControl, setCookie: ["a=1"]) { ("\"1\"", body) }
    }

    @Test("A body is stored while it is read, and answers later, however long it is", arguments: [4, 3_000_000])
    func hit(length: Int) async throws {
        let server = try server("max-age=60", String(repeating: "x", count: length))
        try await withCache { client, jar in
            let url = "http://127.0.0.1:\(server.port)/data"
            let first = try await get(url, client, jar)
            #expect(first.headers["Cache-Status"].first?.contains("stored") == true)
            #expect(try await text(first).utf8.count == length)
            let second = try await get(url, client, jar)
            #expect(second.headers["Cache-Status"].first?.hasPrefix("crumb; hit") == true)
            #expect(second.headers["Set-Cookie"].isEmpty)
            #expect(try await text(second).utf8.count == length)
        }
        #expect(server.requests.count == 1)
    }

    @Test("A part is completed, and the whole response is stored")
    func completed() async throws {
        let server = try LoopbackServer.inParts()
        try await withCache { client, jar in
            var part = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/data")
            part.headers.add(name: "Range", value: "bytes=0-3")
            let answer = try await client.exchange(
                part, by: RequestDecorator(jar: jar.jar), timeout: .seconds(3600), cache: jar.cache
            ) { jar.now }
            #expect(try await text(answer.payload) == "0123")
            for _ in 0..<2 {
                let whole = try await get(part.url, client, jar)
                #expect(whole.status == .ok)
                #expect(try await text(whole) == "01234567")
            }
        }
        #expect(server.requests.map { $0.text("range") } == [["bytes=0-3"], ["bytes=4-"]])
    }

    @Test("A body is stored once its last octet is read, also if the reader does not ask for the end")
    func stop() async throws {
        let server = try server("max-age=60", String(repeating: "x", count: 300_000))
        try await withCache { client, jar in
            let url = "http://127.0.0.1:\(server.port)/data"
            let first = try await get(url, client, jar)
            var count = 0
            for try await piece in first.body {
                count += piece.readableBytes
                if count == 300_000 { break }
            }
            #expect(try await text(try await get(url, client, jar)).utf8.count == 300_000)
        }
        #expect(server.requests.count == 1)
    }

    @Test("A body that nobody reads is not stored")
    func unread() async throws {
        let server = try server("max-age=60", String(repeating: "x", count: 1_000_000))
        try await withCache { client, jar in
            let url = "http://127.0.0.1:\(server.port)/data"
            _ = try await get(url, client, jar)
            _ = try await text(try await get(url, client, jar))
        }
        #expect(server.requests.count == 2)
    }

    @Test("A stale response is confirmed, and answers if the server is gone")
    func stale() async throws {
        try await withCache { client, jar in
            var url = ""
            do {
                let server = try server("max-age=1")
                url = "http://127.0.0.1:\(server.port)/data"
                _ = try await text(try await get(url, client, jar))
                jar.advance(bySeconds: 10)
                let confirmed = try await get(url, client, jar)
                #expect(confirmed.status == .ok)
                #expect(try await text(confirmed) == "body")
                #expect(server.requests.map { $0.text("if-none-match") } == [[], ["\"1\""]])
            }
            jar.advance(bySeconds: 990)
            let offline = try await get(url, client, jar)
            #expect(try await text(offline) == "body")
        }
    }

    @Test("A policy that forbids to send the request ends with an error if nothing is stored")
    func policy() async throws {
        let server = try server("max-age=60")
        try await withCache { client, jar in
            let url = "http://127.0.0.1:\(server.port)/data"
            await #expect(throws: NotStoredError.self) {
                try await get(url, client, jar, policy: .returnCacheDataDontLoad)
            }
            _ = try await text(try await get(url, client, jar))
            _ = try await text(try await get(url, client, jar, policy: .returnCacheDataDontLoad))
        }
        #expect(server.requests.count == 1)
    }
}
