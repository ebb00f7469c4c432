import CookieModel
import Foundation
import GatewayModel
import HTTPCaching
import OfflinePackages
import PackageStore
import ResponseStore
import SessionGateway
import SessionStore
import Synchronization
import Testing

/// A package file in memory.
private struct MemoryZip: ZipSource {
    let octets: [UInt8]
    var length: Int64 { Int64(octets.count) }

    func read(_ count: Int, at position: Int64) throws(PackageError) -> [UInt8] {
        Array(octets[Int(position)..<min(octets.count, Int(position) + count)])
    }
}

private func reply(_ body: String, _ fields: String...) -> [UInt8] {
    let lines = fields.map { $0 + "\r\n" }.joined()
    return Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)".utf8)
}

@Suite("Offline packages in a gateway")
struct PackageSourceTests {
    private let fixture: GatewayFixture
    private let messages = Messages()

    private final class Messages: Sendable {
        let all = Mutex<[String]>([])
    }

    init() throws {
        fixture = try GatewayFixture()
    }

    private func store() throws -> PackageStore { try #require(PackageStore(of: fixture.jar)) }

    /// Adds a version of a package that answers `/`, `/app.js` and `/long` of a server.
    private func add(_ version: String, port: Int, fields: [PackageManifest.Field] = []) throws {
        var builder = PackageBuilder()
        for (path, body) in [
            ("", "page \(version)"), ("app.js", "script \(version)"), ("app.js?v=1", "query \(version)"),
            ("long", String(repeating: "0123456789", count: 200_000)),
        ] {
            try builder.add(
                .init(
                    url: try RequestURL("http://127.0.0.1:\(port)/\(path)"),
                    fields: [.init("Content-Type", "text/plain")] + fields, body: Array(body.utf8)))
        }
        var file: [UInt8] = []
        _ = try builder.write(name: "shop", version: #require(PackageVersion(version)), signedBy: nil) { file += $0 }
        _ = try store().add(PackageArchive(MemoryZip(octets: file)), now: fixture.now)
    }

    private func setup(_ client: GatewaySettings.Client = .tool) -> GatewaySetup {
        var setup = GatewaySetup()
        setup.client = client
        let messages = messages
        setup.packages = PackageShelf(of: fixture.jar) { text in messages.all.withLock { $0.append(text) } }
        return setup
    }

    /// Sends a request on a connection of its own.
    ///
    /// - Parameter request: Method and path, and a field after these.
    private func response(
        _ request: String, port: Int, at address: GatewayAddress, host: String = "127.0.0.1"
    ) async throws -> String {
        let words = request.split(separator: " ", maxSplits: 2)
        let client = try await RawClient.connect(to: address)
        let field = words.count > 2 ? "\(words[2])\r\n" : ""
        try await client.send(
            "\(words[0]) http://\(host):\(port)\(words[1]) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(field)"
                + "Connection: close\r\n\(words[0] == "POST" ? "Content-Length: 0\r\n" : "")\r\n")
        defer { client.close() }
        return await client.response()
    }

    @Test("A package answers its URLs before the network, and the network everything else")
    func served() async throws {
        let server = try await RecordingServer.start { _ in reply("server", "Cache-Control: no-store") }
        try add("1.0.0", port: server.port)
        try await fixture.run(setup()) { address in
            for (request, body) in [
                ("GET /app.js", "script 1.0.0"), ("GET /app.js?v=1", "query 1.0.0"), ("GET /", "page 1.0.0"),
                ("GET /app.js?v=2", "server"), ("GET /app.js?", "server"), ("GET /other", "server"),
                ("POST /app.js", "server"), ("GET /./app.js", "server"), ("GET /App.js", "server"),
            ] {
                let text = try await response(request, port: server.port, at: address)
                #expect(text.hasSuffix("\r\n\r\n\(body)"), "\(request): \(text)")
                let isPackaged = body != "server"
                #expect(text.contains("Cache-Status: crumb; hit; detail=package-shop-1.0.0\r\n") == isPackaged)
                #expect(text.contains("content-type: text/plain\r\n") == isPackaged)
                #expect(text.contains("Cache-Control: no-cache\r\n") == isPackaged && !text.contains("Set-Cookie"))
            }
        }
        let asked = server.requests.withLock { $0.map { String(decoding: $0, as: UTF8.self) }.joined() }
        #expect(asked.contains("POST /app.js HTTP") && !asked.contains("GET /app.js HTTP"))
        #expect(fixture.records.withLock { $0.first?.cacheStatus } == "crumb; hit; detail=package-shop-1.0.0")
    }

    @Test("Ranges, conditions and HEAD are answered as by a server")
    func conditions() async throws {
        let server = try await RecordingServer.start { _ in reply("server") }
        try add("1.0.0", port: server.port, fields: [.init("ETag", "\"v\"")])
        try await fixture.run(setup()) { address in
            for (request, start, part, end) in [
                ("HEAD /app.js", "HTTP/1.1 200 OK", "Content-Length: 12", "\r\n\r\n"),
                ("GET /app.js Range: bytes=0-5", "HTTP/1.1 206", "Content-Range: bytes 0-5/12", "\r\n\r\nscript"),
                ("GET /app.js Range: bytes=-5", "HTTP/1.1 206", "Content-Range: bytes 7-11/12", "\r\n\r\n1.0.0"),
                ("GET /app.js Range: bytes=99-", "HTTP/1.1 416", "Content-Range: bytes */12", "\r\n\r\n"),
                ("GET /app.js If-None-Match: \"v\"", "HTTP/1.1 304", "etag: \"v\"", "\r\n\r\n"),
                ("GET /app.js If-None-Match: \"w\"", "HTTP/1.1 200", "etag: \"v\"", "\r\n\r\nscript 1.0.0"),
                ("GET /app.js Range: bytes=0-5\r\nIf-Range: \"w\"", "HTTP/1.1 200", "etag", "script 1.0.0"),
                ("GET /app.js Range: bytes=0-5\r\nIf-Range: \"v\"", "HTTP/1.1 206", "etag", "script"),
                // Longer than what is read at once.
                ("GET /long Range: bytes=999995-1100004", "HTTP/1.1 206", "Content-Length: 100010", "5678901234"),
                ("HEAD /long", "HTTP/1.1 200", "Content-Length: 2000000", "\r\n\r\n"),
            ] {
                let text = try await response(request, port: server.port, at: address)
                #expect(text.hasPrefix(start) && text.contains(part), "\(request): \(text.prefix(400))")
                #expect(text.hasSuffix(end), "\(request): \(text.suffix(100))")
            }
            let whole = try await response("GET /long", port: server.port, at: address)
            #expect(whole.hasSuffix(String(repeating: "0123456789", count: 1000)))
            #expect(whole.utf8.count > 2_000_000)
        }
        #expect(server.requests.withLock { $0.isEmpty })
    }

    @Test("A page keeps the version that it began with, through an update and a rollback, until it is loaded again")
    func pages() async throws {
        let server = try await RecordingServer.start { _ in reply("server", "Cache-Control: no-store") }
        let port = server.port
        try add("1.0.0", port: port)
        let page = "Upgrade-Insecure-Requests: 1"
        let reference = "Referer: http://127.0.0.1:\(port)/"
        try await fixture.run(setup(.browser)) { address in
            func body(_ request: String) async throws -> String {
                let text = try await response(request, port: port, at: address)
                return text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? text
            }
            #expect(try await body("GET / \(page)") == "page 1.0.0")
            #expect(try await body("GET /other \(page)") == "server")
            try add("2.0.0", port: port)
            #expect(try await body("GET /app.js \(reference)") == "script 1.0.0")
            // A page that came from the network has begun, too.
            #expect(try await body("GET /app.js \(reference)other") == "script 1.0.0")
            // What is loaded without a page, such as by a program, is the newest.
            #expect(try await body("GET /app.js") == "script 2.0.0")
            #expect(try await body("GET /later \(page)") == "server")
            #expect(try await body("GET /app.js \(reference)later") == "script 2.0.0")
            #expect(try await body("GET /app.js \(reference)") == "script 1.0.0")
            // A service worker outlives its pages, so a page of any version gets the newest one.
            #expect(try await body("GET /app.js?v=1 \(reference)\r\nService-Worker: script") == "query 2.0.0")
            #expect(try await body("GET /app.js \(reference)app.js?v=1") == "script 2.0.0")
            #expect(try await body("GET /app.js \(reference)") == "script 1.0.0")
            _ = try store().rollBack("shop", now: fixture.now)
            #expect(try await body("GET /app.js \(reference)later") == "script 2.0.0")
            #expect(try await body("GET / \(page)") == "page 1.0.0")
            _ = try store().remove("shop", now: fixture.now)
            #expect(try await body("GET /app.js \(reference)") == "script 1.0.0")
            #expect(try await body("GET / \(page)") == "server")
            #expect(try await body("GET /app.js \(reference)") == "server")
        }
    }

    @Test("A resource that was changed on the disk is loaded from the network, and this is told once")
    func damage() async throws {
        let server = try await RecordingServer.start { _ in reply("server", "Cache-Control: no-store") }
        try add("1.0.0", port: server.port)
        let root = "\(fixture.jar.database.path).packages/\(fixture.jar.id)/bundles"
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: root).first)
        var octets = try Data(contentsOf: URL(filePath: "\(root)/\(name)"))
        // The bodies are in the order of their URLs: those of "/", "/app.js", "/app.js?v=1", "/long".
        octets["page 1.0.0".utf8.count + 16] ^= 1
        octets[octets.count / 2] ^= 1
        try octets.write(to: URL(filePath: "\(root)/\(name)"))
        try await fixture.run(setup()) { address in
            for (path, body) in [
                ("/", "page 1.0.0"), ("/app.js", "server"), ("/app.js", "server"), ("/long", "server"),
            ] {
                let text = try await response("GET \(path)", port: server.port, at: address)
                #expect(text.hasSuffix("\r\n\r\n\(body)"), "\(path): \(text.prefix(400))")
            }
        }
        let told = messages.all.withLock { $0 }
        #expect(told.count == 2 && told[0].contains("/app.js") && told[0].contains("verify shop"), "\(told)")
    }

    @Test(
        "Without a network, packages answer, and anything else gets 504; with a browser's request to a program's, none do"
    )
    func offline() async throws {
        let server = try await RecordingServer.start { _ in reply("server") }
        try add("1.0.0", port: server.port)
        var setup = setup()
        try await fixture.run(setup) { address in
            let foreign = try await response("GET /app.js Sec-Fetch-Site: none", port: server.port, at: address)
            #expect(foreign.hasSuffix("\r\n\r\nserver"))
        }
        setup.isOffline = true
        try await fixture.run(setup) { address in
            let texts = [
                try await response("GET /app.js", port: server.port, at: address),
                try await response("GET /other", port: server.port, at: address),
                try await response("GET /app.js Sec-Fetch-Site: none", port: server.port, at: address),
            ]
            #expect(texts[0].hasSuffix("script 1.0.0"), "\(texts[0])")
            #expect(texts[1].hasPrefix("HTTP/1.1 504") && texts[1].contains("no package answers GET"), "\(texts[1])")
            #expect(texts[2].hasPrefix("HTTP/1.1 504") && texts[2].contains("--client browser"), "\(texts[2])")
            #expect(texts.allSatisfy { !$0.contains("recording") })
        }
    }
}
