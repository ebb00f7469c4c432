import CookieModel
import Foundation
import RequestDecoration
import ResponseStore
import SessionStore
import Synchronization
import TestSupport
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Does something when the first part of a body has been sent.
private final class ShrinkingDelegate: NSObject, URLSessionDataDelegate {
    private let shrink: @Sendable () -> Void
    private let hasShrunk = Mutex(false)

    init(_ shrink: @escaping @Sendable () -> Void) {
        self.shrink = shrink
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        hasShrunk.withLock { hasShrunk in
            if !hasShrunk { shrink() }
            hasShrunk = true
        }
    }
}

@Suite("The methods of URLSession, with a jar")
struct SessionMethodTests {
    private func session(
        _ jar: CookieJar, _ settings: DecorationSettings = DecorationSettings(),
        delegate: (any URLSessionDelegate)? = nil
    ) -> DecoratedURLSession {
        DecoratedURLSession(jar: jar, settings: settings, delegate: delegate)
    }

    private static func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    /// A file of its own for one test.
    private static func file(_ octets: [UInt8]) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appending(path: "crumb-upload-\(UUID().uuidString)")
        try Data(octets).write(to: url)
        return url
    }

    /// A method that returns a body, however it is called.
    enum Method: CaseIterable {
        case dataFrom, dataFor, downloadFrom, downloadFor, bytesFrom, bytesFor

        func body(_ session: DecoratedURLSession, _ url: URL) async throws -> (body: Data, response: URLResponse) {
            let request = URLRequest(url: url)
            switch self {
            case .dataFrom:
                let (data, response) = try await session.data(from: url)
                return (data, response)
            case .dataFor:
                let (data, response) = try await session.data(for: request)
                return (data, response)
            case .downloadFrom, .downloadFor:
                let (file, response) =
                    self == .downloadFrom
                    ? try await session.download(from: url) : try await session.download(for: request)
                defer { try? FileManager.default.removeItem(at: file) }
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
                #expect((mode as? NSNumber)?.intValue == 0o600)
                return (try Data(contentsOf: file), response)
            case .bytesFrom, .bytesFor:
                let (bytes, response) =
                    self == .bytesFrom ? try await session.bytes(from: url) : try await session.bytes(for: request)
                var data = Data()
                for try await byte in bytes { data.append(byte) }
                return (data, response)
            }
        }
    }

    @Test(
        "Every method follows a chain of redirects, with the cookies that are set in between",
        arguments: Method.allCases)
    func chain(_ method: Method) async throws {
        let octets = Self.octets(300_000)
        let server = try LoopbackServer { request in
            switch request.target {
            case "/1": return LoopbackServer.Response(302, setCookie: ["a=1"], location: "/2", body: "moved")
            case "/2": return LoopbackServer.Response(302, setCookie: ["b=2; Path=/3", "a=3"], location: "/3")
            default:
                var response = LoopbackServer.Response(setCookie: ["end=1"])
                response.body = octets
                return response
            }
        }
        let jar = try URLSessionFixture().jar
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/1"))
        let (body, response) = try await method.body(session(jar), url)
        #expect(body == Data(octets))
        #expect((response as? HTTPURLResponse)?.statusCode == 200 && response.url?.path == "/3")
        #expect(server.requests.map { $0.text("cookie") } == [[], ["a=1"], ["b=2; a=3"]])
        #expect(Set(try jar.cookies().readable.map(\.pair)) == ["a=3", "b=2", "end=1"])
    }

    @Test("A response with the status of a redirect, but no Location, is the result", arguments: Method.allCases)
    func noLocation(_ method: Method) async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(302, setCookie: ["a=1"]) }
        let jar = try URLSessionFixture().jar
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let (_, response) = try await method.body(session(jar), url)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(try jar.cookies().readable.map(\.pair) == ["a=1"])
    }

    @Test(
        "A body of 3 MB is sent at each redirect that keeps it, and Authorization only to its origin",
        arguments: [true, false])
    func upload(isFile: Bool) async throws {
        let octets = Self.octets(3_000_000)
        let other = try LoopbackServer(address: "127.0.0.2") { request in
            request.target == "/3"
                ? LoopbackServer.Response(303, location: "/4") : LoopbackServer.Response(201, body: "stored")
        }
        let place = "http://127.0.0.2:\(other.port)/3"
        let server = try LoopbackServer { request in
            request.target == "/1"
                ? LoopbackServer.Response(307, setCookie: ["a=1"], location: "/2")
                : LoopbackServer.Response(308, location: place)
        }
        var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/1")
        request.httpMethod = "PUT"
        request.setValue("Bearer own", forHTTPHeaderField: "Authorization")
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        let session = session(try URLSessionFixture().jar)
        let (data, response): (Data, URLResponse)
        if isFile {
            let file = try Self.file(octets)
            defer { try? FileManager.default.removeItem(at: file) }
            (data, response) = try await session.upload(for: request, fromFile: file)
        } else {
            (data, response) = try await session.upload(for: request, from: Data(octets))
        }
        #expect(data == Data("stored".utf8) && (response as? HTTPURLResponse)?.statusCode == 201)
        let requests = server.requests + other.requests
        #expect(requests.map { "\($0.method) \($0.target)" } == ["PUT /1", "PUT /2", "PUT /3", "GET /4"])
        #expect(requests.map { $0.body == octets } == [true, true, true, false])
        #expect(requests.map { $0.text("content-length") } == [["3000000"], ["3000000"], ["3000000"], []])
        #expect(requests.map { $0.text("authorization") } == [["Bearer own"], ["Bearer own"], [], []])
        #expect(requests.map { $0.text("cookie") } == [[], ["a=1"], [], []])
    }

    @Test("A file that shrinks while it is uploaded ends the upload")
    func shrunkFile() async throws {
        let file = try Self.file([])
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1 << 28)
        let delegate = ShrinkingDelegate { try? handle.truncate(atOffset: 1000) }
        let server = try LoopbackServer { _ in LoopbackServer.Response() }
        var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        request.httpMethod = "POST"
        request.timeoutInterval = 20
        let upload = request
        let session = session(try URLSessionFixture().jar, delegate: delegate)
        let error = await #expect(throws: URLError.self) { try await session.upload(for: upload, fromFile: file) }
        #expect(error?.code != .timedOut && server.requests.isEmpty)
    }

    @Test("Failures are those of URLSession", arguments: Method.allCases)
    func failures(_ method: Method) async throws {
        let jar = try URLSessionFixture().jar
        let port = try LoopbackServer { _ in LoopbackServer.Response() }.port
        let closed = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        await #expect(throws: URLError.self) { try await method.body(session(jar), closed) }
        let marker = "unfinished \(UUID().uuidString)"
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(setCookie: ["seen=1"], body: marker)
            response.missingByteCount = 10
            return response
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        await #expect(throws: URLError.self) { try await method.body(session(jar), url) }
        #expect(try jar.cookies().readable.map(\.pair) == ["seen=1"])
        let folder = FileManager.default.temporaryDirectory
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where name.hasPrefix("crumb-download") {
            let contents = try? Data(contentsOf: folder.appending(path: name))
            #expect(contents?.range(of: Data(marker.utf8)) == nil)
        }
    }

    @Test("A file that is missing is not uploaded")
    func missingFile() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response() }
        var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        request.httpMethod = "POST"
        let upload = request
        let session = session(try URLSessionFixture().jar)
        await #expect(throws: URLError.self) {
            try await session.upload(for: upload, fromFile: URL(filePath: "/nonexistent/\(UUID().uuidString)"))
        }
        #expect(server.requests.isEmpty)
    }

    @Test("A body from a stream is sent once")
    func stream() async throws {
        let server = try LoopbackServer { request in
            LoopbackServer.Response(request.target == "/1" ? 307 : 200, location: "/2")
        }
        let session = session(try URLSessionFixture().jar)
        for path in ["/1", "/2"] {
            var request = try URLSessionFixture.post("http://127.0.0.1:\(server.port)\(path)")
            request.httpBodyStream = InputStream(data: Data("payload".utf8))
            let streamed = request
            if path == "/1" {
                let error = await #expect(throws: RedirectError.self) { try await session.data(for: streamed) }
                #expect(error?.code == .bodyNotRepeatable)
            } else {
                _ = try await session.data(for: streamed)
            }
        }
        #expect(server.requests.map(\.target) == ["/1", "/2"])
        #expect(server.requests.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("payload") })
    }

    @Test("The bytes that came before a failure are read")
    func bytesBeforeFailure() async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(body: "beginning")
            response.missingByteCount = 10
            return response
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let (bytes, _) = try await session(try URLSessionFixture().jar).bytes(from: url)
        var text: [UInt8] = []
        await #expect(throws: URLError.self) {
            for try await byte in bytes { text.append(byte) }
        }
        #expect(text == Array("beginning".utf8))
    }

    @Test("A cancelled task cancels its request", arguments: Method.allCases)
    func cancellation(_ method: Method) async throws {
        let (arrivals, continuation) = AsyncStream<Void>.makeStream()
        let isOver = DispatchSemaphore(value: 0)
        // The first request gets a part of its response, the second one nothing.
        let server = try LoopbackServer(afterAnswer: {
            continuation.yield()
            isOver.wait()
        }) { request in
            if request.target == "/nothing" {
                continuation.yield()
                isOver.wait()
            }
            var response = LoopbackServer.Response(body: "part")
            response.missingByteCount = 10
            return response
        }
        let session = session(try URLSessionFixture().jar)
        var arrived = arrivals.makeAsyncIterator()
        for path in ["/part", "/nothing"] {
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(path)"))
            let task = Task { try await method.body(session, url).body }
            await arrived.next()
            task.cancel()
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        for _ in 0..<4 { isOver.signal() }
    }

    @Test("A cancelled task sends nothing")
    func cancelledBefore() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response() }
        let session = session(try URLSessionFixture().jar)
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.data(from: url).0
        }
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled && server.requests.isEmpty)
    }

    @Test("A body is read after the session is gone")
    func bytesWithoutSession() async throws {
        let octets = Self.octets(1_200_000)
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response()
            response.body = octets
            return response
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let jar = try URLSessionFixture().jar
        let (bytes, _) = try await session(jar).bytes(from: url)
        var read: [UInt8] = []
        for try await byte in bytes { read.append(byte) }
        #expect(read == octets)
    }

    @Test("Downloads and bytes are not those of the cache, and are not sent if only the cache may answer")
    func cache() async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response()
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            return response
        }
        let jar = try URLSessionFixture().jar
        let folder = FileManager.default.temporaryDirectory.appending(path: "crumb-cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let session = DecoratedURLSession(
            decorator: RequestDecorator(jar: jar),
            cache: PrivateCache(ResponseCache(CacheFolder(folder.path), of: jar.database), of: jar))
        var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        for _ in 0..<2 { _ = try await session.data(for: request) }
        #expect(server.requests.count == 1)
        let (file, _) = try await session.download(for: request)
        try FileManager.default.removeItem(at: file)
        #expect(server.requests.count == 2)
        request.cachePolicy = .returnCacheDataDontLoad
        let stored = request
        #expect(try await session.data(for: stored).0 == Data("body\n".utf8))
        let error = await #expect(throws: URLError.self) { try await session.bytes(for: stored) }
        #expect(error?.code == .resourceUnavailable && server.requests.count == 2)
    }
}
