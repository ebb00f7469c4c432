import CookieModel
import DecorationTestSupport
import Foundation
import RequestDecoration
import SessionStore
import TestSupport
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Bodies of responses that break off, or are of no use")
struct BrokenBodyTests {
    @Test(
        "The cookies of a response whose body does not begin are stored", arguments: SessionMethodTests.Method.allCases)
    func missingBody(_ method: SessionMethodTests.Method) async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(setCookie: ["seen=1"], body: "")
            response.missingByteCount = 10
            return response
        }
        let jar = try URLSessionFixture().jar
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        await #expect(throws: URLError.self) { try await method.body(DecoratedURLSession(jar: jar), url) }
        #expect(try jar.cookies().readable.map(\.pair) == ["seen=1"])
    }

    @Test("With a cache, the cookies of a response whose body breaks off are stored", arguments: ["", "beginning"])
    func brokenBody(beginning: String) async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(setCookie: ["seen=1"], body: beginning)
            response.missingByteCount = 10
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            return response
        }
        let jar = try CachedJar()
        for _ in 0..<2 {
            await #expect(throws: URLError.self) {
                try await jar.session().exchange(for: try URLSessionFixture.request("http://127.0.0.1:\(server.port)/"))
            }
        }
        #expect(try jar.jar.cookies().readable.map(\.pair) == ["seen=1"])
        #expect(server.requests.map { $0.text("cookie") } == [[], ["seen=1"]])
    }

    @Test("So are those of a response that is of no use, if the request that follows fails")
    func brokenRepetition() async throws {
        let server = try LoopbackServer { request in
            var response =
                switch request.text("range") {
                case ["bytes=0-3"]: LoopbackServer.Response(206, body: "0123")
                case ["bytes=4-"]: LoopbackServer.Response(206, setCookie: ["useless=1"], body: "4567")
                default: LoopbackServer.Response(setCookie: ["broken=1"], body: "01")
                }
            let isPart = response.status == 206
            if isPart {
                let positions = request.text("range") == ["bytes=0-3"] ? "0-3" : "4-7"
                response.fields.append(("Content-Range", Array("bytes \(positions)/8".utf8)))
            } else {
                response.missingByteCount = 6
            }
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            // The second part is one of another version.
            response.fields.append(("ETag", Array((response.body.first == 0x30 ? "\"1\"" : "\"2\"").utf8)))
            return response
        }
        let jar = try CachedJar()
        let session = jar.session()
        var part = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        part.setValue("bytes=0-3", forHTTPHeaderField: "Range")
        _ = try await session.exchange(for: part)
        await #expect(throws: URLError.self) {
            try await session.exchange(for: try URLSessionFixture.request("http://127.0.0.1:\(server.port)/"))
        }
        #expect(server.requests.map { $0.text("range") } == [["bytes=0-3"], ["bytes=4-"], []])
        #expect(Set(try jar.jar.cookies().readable.map(\.pair)) == ["useless=1", "broken=1"])
    }

    @Test(
        "A request that changes something has the stored response validated, even if its response breaks off",
        arguments: ["/data", "/other"])
    func invalidation(path: String) async throws {
        let server = try LoopbackServer { request in
            var response = LoopbackServer.Response()
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            if request.method == "POST" {
                response.fields.append(("Content-Location", Array("/data".utf8)))
                response.missingByteCount = 10
            }
            return response
        }
        let jar = try CachedJar()
        let session = jar.session()
        let origin = "http://127.0.0.1:\(server.port)"
        _ = try await session.exchange(for: try URLSessionFixture.request("\(origin)/data"))
        await #expect(throws: URLError.self) {
            try await session.exchange(for: try URLSessionFixture.post("\(origin)\(path)"))
        }
        _ = try await session.exchange(for: try URLSessionFixture.request("\(origin)/data"))
        #expect(server.requests.map(\.method) == ["GET", "POST", "GET"])
    }

    @Test("The cookies of a confirmation are stored, even if the stored body is damaged")
    func damagedBody() async throws {
        let body = String(repeating: "x", count: 3_000_000)
        let server = try LoopbackServer { request in
            let isConfirmed = request.text("if-none-match") == ["\"1\""]
            var response =
                isConfirmed
                ? LoopbackServer.Response(304, setCookie: ["seen=1"], body: "") : LoopbackServer.Response(body: body)
            response.fields.append(("Cache-Control", Array("max-age=0".utf8)))
            response.fields.append(("ETag", Array("\"1\"".utf8)))
            return response
        }
        let jar = try CachedJar()
        let session = jar.session()
        let request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        _ = try await session.exchange(for: request)
        // The body is by far the largest file.
        let paths = try FileManager.default.subpathsOfDirectory(atPath: jar.folder).map { "\(jar.folder)/\($0)" }
        let sizes = try paths.map { path in
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return attributes[.type] as? FileAttributeType == .typeRegular
                ? (attributes[.size] as? NSNumber)?.intValue ?? 0 : 0
        }
        let (path, size) = try #require(zip(paths, sizes).max { $0.1 < $1.1 })
        try #require(size >= 3_000_000)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: UInt64(size - 1000))
        try file.write(contentsOf: Data(count: 100))
        try file.close()
        await #expect(throws: (any Error).self) { try await session.exchange(for: request) }
        #expect(try jar.jar.cookies().readable.map(\.pair) == ["seen=1"])
        #expect(server.requests.map { $0.text("if-none-match").count } == [0, 1])
    }

    @Test("The cookies of a response that no one waits for are stored, even if its body breaks off")
    func brokenValidation() async throws {
        let server = try LoopbackServer { request in
            var response = LoopbackServer.Response()
            response.fields.append(("Cache-Control", Array("max-age=1, stale-while-revalidate=600".utf8)))
            response.fields.append(("ETag", Array("\"1\"".utf8)))
            if !request.text("if-none-match").isEmpty {
                response.fields.append(("Set-Cookie", Array("seen=1".utf8)))
                response.missingByteCount = 10
            }
            return response
        }
        let jar = try CachedJar()
        let session = jar.session()
        let request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        _ = try await session.exchange(for: request)
        jar.advance(bySeconds: 10)
        #expect(try await session.exchange(for: request).payload.data == Data("body\n".utf8))
        for _ in 0..<500 where try jar.jar.cookies().readable.isEmpty {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try jar.jar.cookies().readable.map(\.pair) == ["seen=1"])
    }

    @Test(
        "An interim response is not the response of a request that fails", arguments: SessionMethodTests.Method.allCases
    )
    func interim(_ method: SessionMethodTests.Method) async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(103, setCookie: ["early=1"], body: "") }
        let jar = try URLSessionFixture().jar
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        await #expect(throws: URLError.self) { try await method.body(DecoratedURLSession(jar: jar), url) }
        #expect(try jar.cookies().readable.isEmpty)
    }

    @Test("A redirect with a long body is followed, and not stored", arguments: [1 << 16, 300_000])
    func longRedirect(byteCount: Int) async throws {
        let server = try LoopbackServer { request in
            var response =
                request.target == "/old"
                ? LoopbackServer.Response(301, location: "/new", body: String(repeating: "x", count: byteCount))
                : LoopbackServer.Response(body: "new")
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            return response
        }
        let jar = try CachedJar()
        for _ in 0..<2 {
            let exchange = try await jar.session().exchange(
                for: try URLSessionFixture.request("http://127.0.0.1:\(server.port)/old"))
            #expect(exchange.payload.data == Data("new".utf8) && exchange.hops.map(\.status) == [301, 200])
        }
        #expect(server.requests.map(\.target) == (byteCount > 1 << 16 ? ["/old", "/new", "/old"] : ["/old", "/new"]))
    }

    /// Foundation on Linux passes a redirect on after its body.
    private static let cutsRedirects: Bool = {
        #if canImport(FoundationNetworking)
            false
        #else
            true
        #endif
    }()

    @Test(
        "A redirect is followed before its body ends", .enabled(if: cutsRedirects, "Foundation waits for the body"),
        arguments: SessionMethodTests.Method.allCases)
    func endlessRedirect(_ method: SessionMethodTests.Method) async throws {
        let isOver = DispatchSemaphore(value: 0)
        defer { for _ in 0..<4 { isOver.signal() } }
        let server = try LoopbackServer(afterAnswer: { isOver.wait() }) { request in
            guard request.target == "/1" else { return LoopbackServer.Response(body: "arrived") }
            var response = LoopbackServer.Response(
                302, setCookie: ["a=1"], location: "/2", body: String(repeating: "x", count: 200_000))
            response.missingByteCount = 10
            return response
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/1"))
        let (body, _) = try await method.body(DecoratedURLSession(jar: try URLSessionFixture().jar), url)
        #expect(body == Data("arrived".utf8))
        #expect(server.requests.map { $0.text("cookie") } == [[], ["a=1"]])
    }
}
