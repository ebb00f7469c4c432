import Foundation
import Synchronization
import TestSupport
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers challenges as a test says, and remembers what it was asked and told.
private final class AppDelegate: NSObject, URLSessionDataDelegate {
    struct Events {
        var challenges: [String] = []
        var redirects = 0
        var sent: Int64 = 0
        var received = 0
    }

    let disposition: URLSession.AuthChallengeDisposition
    private let onSend: @Sendable (Int64) -> Void
    private let log = Mutex(Events())

    var events: Events { log.withLock { $0 } }

    /// - Parameter onSend: Called with the number of bytes that have been sent, each time that some are.
    init(_ disposition: URLSession.AuthChallengeDisposition, onSend: @escaping @Sendable (Int64) -> Void = { _ in }) {
        self.disposition = disposition
        self.onSend = onSend
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        log.withLock { $0.challenges.append("\(space.host) \(space.realm ?? "")") }
        completionHandler(disposition, URLCredential(user: "ada", password: "1815", persistence: .none))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        log.withLock { $0.redirects += 1 }
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        log.withLock { $0.sent += bytesSent }
        onSend(totalBytesSent)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.withLock { $0.received += data.count }
    }
}

@Suite("The delegate of an app")
struct SessionDelegateTests {
    private static let password = "Basic \(Data("ada:1815".utf8).base64EncodedString())"

    /// A site that wants a password after a redirect.
    private func site(_ challenge: String = "Basic realm=\"engine\"") throws -> LoopbackServer {
        try LoopbackServer { request in
            guard request.target == "/in" else {
                return LoopbackServer.Response(302, setCookie: ["a=1"], location: "/in")
            }
            guard request.text("authorization") != [Self.password] else {
                return LoopbackServer.Response(setCookie: ["in=1"], body: "in")
            }
            var response = LoopbackServer.Response(401, body: "out")
            response.fields.append(("WWW-Authenticate", Array(challenge.utf8)))
            return response
        }
    }

    private func url(_ server: LoopbackServer) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
    }

    @Test("It is asked for a password, and not about redirects", arguments: [false, true])
    func challenge(isStreamed: Bool) async throws {
        let server = try site()
        let delegate = AppDelegate(.useCredential)
        let jar = try URLSessionFixture().jar
        let session = DecoratedURLSession(jar: jar, delegate: delegate)
        var body = Data()
        let response: URLResponse
        if isStreamed {
            let bytes: DecoratedURLSession.AsyncBytes
            (bytes, response) = try await session.bytes(from: try url(server))
            for try await byte in bytes { body.append(byte) }
        } else {
            (body, response) = try await session.data(from: try url(server))
        }
        #expect(body == Data("in".utf8) && (response as? HTTPURLResponse)?.statusCode == 200)
        #expect(delegate.events.challenges == ["127.0.0.1 engine"] && delegate.events.redirects == 0)
        #expect(server.requests.last?.text("authorization") == [Self.password])
        #expect(server.requests.last?.text("cookie") == ["a=1"])
        #expect(Set(try jar.cookies().readable.map(\.pair)) == ["a=1", "in=1"])
    }

    @Test("A challenge is not the response of a request that fails after it")
    func cutAfterChallenge() async throws {
        let server = try LoopbackServer { request in
            // The connection is cut without a response.
            guard request.text("authorization").isEmpty else { return LoopbackServer.Response(103, body: "") }
            var response = LoopbackServer.Response(401, body: "out")
            response.fields.append(("WWW-Authenticate", Array("Basic realm=\"engine\"".utf8)))
            return response
        }
        let session = DecoratedURLSession(jar: try URLSessionFixture().jar, delegate: AppDelegate(.useCredential))
        let url = try url(server)
        await #expect(throws: URLError.self) { try await session.bytes(from: url).1 }
        #expect(server.requests.last?.text("authorization") == [Self.password])
    }

    @Test("A file may shrink after it has been sent", arguments: [false, true])
    func shrunkSentFile(hasChallenge: Bool) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "crumb-upload-\(UUID().uuidString)")
        try Data(count: 100_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let server = try LoopbackServer { request in
            if hasChallenge, request.text("authorization").isEmpty {
                var response = LoopbackServer.Response(401, body: "out")
                response.fields.append(("WWW-Authenticate", Array("Basic realm=\"engine\"".utf8)))
                return response
            }
            // The client notes a moment later that it has sent everything.
            Thread.sleep(forTimeInterval: 0.2)
            truncate(file.path, 10)
            Thread.sleep(forTimeInterval: 2)
            return LoopbackServer.Response(201, body: "stored")
        }
        var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        request.httpMethod = "PUT"
        request.timeoutInterval = 60
        let session = DecoratedURLSession(jar: try URLSessionFixture().jar, delegate: AppDelegate(.useCredential))
        let (data, _) = try await session.upload(for: request, fromFile: file)
        #expect(data == Data("stored".utf8) && server.requests.map(\.body.count).allSatisfy { $0 == 100_000 })
    }

    #if os(Linux)
        @Test("A file that shrinks while it is sent again ends the upload")
        func shrunkRepeatedFile() async throws {
            let (size, file) = (
                1 << 25, FileManager.default.temporaryDirectory.appending(path: "crumb-upload-\(UUID())")
            )
            try Data(count: size).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let server = try LoopbackServer { request in
                guard request.text("authorization").isEmpty else { return LoopbackServer.Response(201) }
                var response = LoopbackServer.Response(401, body: "out")
                response.fields.append(("WWW-Authenticate", Array("Basic realm=\"engine\"".utf8)))
                return response
            }
            var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
            request.httpMethod = "PUT"
            request.timeoutInterval = 20
            let upload = request
            let delegate = AppDelegate(.useCredential) { if $0 > size { truncate(file.path, 1000) } }
            let session = DecoratedURLSession(jar: try URLSessionFixture().jar, delegate: delegate)
            let error = await #expect(throws: URLError.self) { try await session.upload(for: upload, fromFile: file) }
            #expect(error?.code != .timedOut && server.requests.map(\.body.count) == [size])
        }

        @Test("A file is closed at the end of its upload")
        func closedFile() async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "crumb-upload-\(UUID().uuidString)")
            try Data(count: 10).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let server = try LoopbackServer { _ in LoopbackServer.Response(201) }
            var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
            request.httpMethod = "PUT"
            let session = DecoratedURLSession(jar: try URLSessionFixture().jar)
            for _ in 0..<40 { _ = try await session.upload(for: request, fromFile: file) }
            func openCount() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                    return path?.hasSuffix(file.lastPathComponent) == true
                }
            }
            // A file that is watched for longer is still open a second later.
            for _ in 0..<20 where try openCount() > 5 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try openCount() <= 5)
        }
    #endif

    @Test("Without a password, the response with the challenge is the result")
    func noPassword() async throws {
        for challenge in [
            "Basic realm=\"engine\"", "Digest realm=\"engine\", nonce=\"1\"", "Bearer, Basic realm=\"x\"",
        ] {
            let server = try site(challenge)
            let delegates = [nil, AppDelegate(.performDefaultHandling), AppDelegate(.rejectProtectionSpace)]
            for delegate in delegates {
                let session = DecoratedURLSession(jar: try URLSessionFixture().jar, delegate: delegate)
                let (data, response) = try await session.data(from: try url(server))
                #expect(data == Data("out".utf8) && (response as? HTTPURLResponse)?.statusCode == 401, "\(challenge)")
            }
        }
    }

    @Test("It can cancel a request")
    func cancel() async throws {
        let server = try site()
        let session = DecoratedURLSession(
            jar: try URLSessionFixture().jar, delegate: AppDelegate(.cancelAuthenticationChallenge))
        let error = await #expect(throws: URLError.self) { try await session.data(from: try url(server)) }
        #expect(error?.code == .cancelled)
    }

    @Test("It is informed about the progress of uploads and downloads")
    func progress() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(body: String(repeating: "x", count: 500_000)) }
        var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)/")
        request.httpMethod = "POST"
        let delegate = AppDelegate(.performDefaultHandling)
        let session = DecoratedURLSession(jar: try URLSessionFixture().jar, delegate: delegate)
        _ = try await session.upload(for: request, from: Data(count: 300_000))
        #expect(delegate.events.sent == 300_000 && delegate.events.received == 500_000)
        let (file, _) = try await session.download(from: try url(server))
        try FileManager.default.removeItem(at: file)
        #expect(delegate.events.received == 1_000_000)
    }
}
