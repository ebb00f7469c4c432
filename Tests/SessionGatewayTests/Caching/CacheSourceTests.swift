import CookieModel
import Foundation
import GatewayModel
import HTTPCaching
import ResponseStore
import SessionGateway
import SessionStore
import Synchronization
import Testing

@Suite("The cache of a gateway", .timeLimit(.minutes(10)))
struct CacheSourceTests {
    private let home: CachingGateway

    init() throws {
        home = try CachingGateway()
    }

    @Test("A fresh response answers the next request without the server; its cookies are set once")
    func fresh() async throws {
        let server = try await RecordingServer.start { _ in
            response("hello", "Cache-Control: max-age=60", "Set-Cookie: a=1")
        }
        let texts = try await home.responses(to: ["GET /", "GET /"], from: server)
        #expect(texts[0].hasSuffix("\r\n\r\nhello") && texts[0].contains("Set-Cookie: a=1"))
        #expect(texts[0].contains("Cache-Status: crumb; fwd=uri-miss; fwd-status=200; stored; detail=protocol"))
        #expect(texts[1].hasSuffix("\r\n\r\nhello") && !texts[1].contains("Set-Cookie"), "\(texts[1])")
        #expect(texts[1].contains("Cache-Status: crumb; hit; ttl=") && texts[1].contains("\r\nAge: "), "\(texts[1])")
        #expect(server.requests.withLock { $0.count } == 1)
        #expect(home.fixture.records.withLock { $0.map(\.cacheStatus?.isEmpty) } == [false, false])
    }

    @Test("A stale response is validated, and the cookies of the validation reach jar and client")
    func validated() async throws {
        let server = try await RecordingServer.start { octets in
            String(decoding: octets, as: UTF8.self).contains("If-None-Match: \"v\"")
                ? Array("HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\nSet-Cookie: b=2\r\n\r\n".utf8)
                : response("hello", "Cache-Control: max-age=60", "ETag: \"v\"")
        }
        _ = try await home.responses(to: ["GET /"], from: server)
        let text = try await home.responses(to: ["GET /"], from: server, later: 61)[0]
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\nhello"), "\(text)")
        #expect(text.contains("Set-Cookie: b=2") && text.contains("fwd=stale; fwd-status=304"), "\(text)")
        #expect(try home.fixture.jar.cookies().readable.map(\.name.description) == ["b"])
        // The validation has made it fresh again.
        let again = try await home.responses(to: ["GET /"], from: server)[0]
        #expect(again.contains("; hit;"), "\(again)")
        #expect(server.requests.withLock { $0.count } == 2)
    }

    @Test(
        "A response answers only requests that the server would have answered in the same way",
        arguments: [
            ("GET / Authorization: Bearer x", false), ("GET /?q=1", false), ("GET /other", false),
            ("GET / Accept-Language: de", false), ("GET / Cookie: sid=2", false), ("GET / X-Other: 1", true),
            ("HEAD /", true), ("GET / Range: bytes=1-2", true), ("GET / Cache-Control: no-cache", false),
            ("POST /", false), ("GET /./", false),
        ])
    func selection(second: String, isHit: Bool) async throws {
        let server = try await RecordingServer.start { _ in
            response("hello", "Cache-Control: max-age=60", "Vary: Accept-Language, Cookie")
        }
        let texts = try await home.responses(to: ["GET /", second], from: server)
        #expect(texts[1].contains("; hit;") == isHit, "\(texts[1])")
        #expect(server.requests.withLock { $0.count } == (isHit ? 1 : 2))
        if second.contains("Range") { #expect(texts[1].contains("206") && texts[1].hasSuffix("\r\n\r\nel")) }
        if second.hasPrefix("HEAD") {
            #expect(texts[1].hasSuffix("\r\n\r\n") && texts[1].contains("Content-Length: 5"))
        }
    }

    @Test("A client that has the response gets 304")
    func condition() async throws {
        let server = try await RecordingServer.start { _ in
            response("hello", "Cache-Control: max-age=60", "ETag: \"v\"")
        }
        let texts = try await home.responses(to: ["GET /", "GET / If-None-Match: \"v\""], from: server)
        #expect(texts[1].hasPrefix("HTTP/1.1 304") && texts[1].contains("; hit;"), "\(texts[1])")
        #expect(server.requests.withLock { $0.count } == 1)
    }

    @Test("A successful unsafe request has the stored response validated", arguments: [200, 500])
    func invalidation(status: Int) async throws {
        let server = try await RecordingServer.start { octets in
            octets.starts(with: "POST".utf8)
                ? Array("HTTP/1.1 \(status) Status\r\nContent-Length: 0\r\n\r\n".utf8)
                : response("hello", "Cache-Control: max-age=60")
        }
        let texts = try await home.responses(to: ["GET /", "POST /", "GET /"], from: server)
        #expect(texts[2].contains("; hit;") == (status == 500), "\(texts[2])")
    }

    @Test("Without a server, a stored response answers whatever its age, and anything else gets 504")
    func offline() async throws {
        let server = try await RecordingServer.start { _ in response("hello", "Cache-Control: max-age=1, no-cache") }
        _ = try await home.responses(to: ["GET /"], from: server)
        home.isOffline = true
        let texts = try await home.responses(to: ["GET /", "GET /other"], from: server, later: 1000)
        #expect(texts[0].hasSuffix("\r\n\r\nhello") && texts[0].contains("detail=offline"), "\(texts[0])")
        #expect(texts[1].hasPrefix("HTTP/1.1 504") && texts[1].contains("nothing in the cache"), "\(texts[1])")
        #expect(texts[1].contains("\r\nCache-Status: crumb; detail=offline\r\n"), "\(texts[1])")
        #expect(server.requests.withLock { $0.count } == 1)
    }

    @Test(
        "If the server is gone, a stale response answers, unless it must be validated",
        arguments: [
            ("", true), (", must-revalidate", false), (", proxy-revalidate", false), (", s-maxage=1", false),
            (", s-maxage=1, stale-if-error=2000", true),
        ])
    func disconnected(directives: String, mayBeStale: Bool) async throws {
        let server = try await RecordingServer.start(closing: true) { _ in
            response("hello", "Cache-Control: max-age=1" + directives)
        }
        _ = try await home.responses(to: ["GET /"], from: server)
        try await server.stop()
        let text = try await home.responses(to: ["GET /"], from: server, later: 1000)[0]
        #expect(text.hasSuffix("\r\n\r\nhello") == mayBeStale && text.contains("502") != mayBeStale, "\(text)")
        #expect(
            text.contains("crumb; fwd=stale; detail=\"protocol, stored response after a failure\"\r\n") == mayBeStale,
            "\(text)")
    }

    @Test(
        "A name that cannot be resolved, or a way that does not exist, is a missing network: all that is stored answers"
    )
    func lost() async throws {
        let server = try await RecordingServer.start { _ in response("hello", "Cache-Control: max-age=1, no-cache") }
        _ = try await home.responses(to: ["GET /"], from: server, host: "localhost")
        home.isUnresolvable = true
        let texts = try await home.responses(to: ["GET /", "GET /other"], from: server, host: "localhost", later: 1000)
        #expect(texts[0].hasSuffix("\r\n\r\nhello") && texts[0].contains("detail=offline"), "\(texts[0])")
        #expect(texts[1].hasPrefix("HTTP/1.1 502") && texts[1].contains("error=dns_error"), "\(texts[1])")
        home.isUnresolvable = false
        let back = try await home.responses(to: ["GET /"], from: server, host: "localhost", later: 1000)
        #expect(back[0].contains("fwd="), "\(back[0])")
    }

    @Test("A portal's page in place of a script is not stored, and the stored script answers")
    func portal() async throws {
        let isPortal = Mutex(false)
        let server = try await RecordingServer.start { _ in
            isPortal.withLock { $0 }
                ? response("<p>Sign in", "Content-Type: text/html")
                : response("hello", "Content-Type: text/javascript", "Cache-Control: max-age=1, no-cache")
        }
        _ = try await home.responses(to: ["GET /a.js"], from: server)
        isPortal.withLock { $0 = true }
        let text = try await home.responses(to: ["GET /a.js"], from: server, later: 1000)[0]
        #expect(text.hasSuffix("\r\n\r\nhello"), "\(text)")
    }

    @Test("If servers of two sites lead to the same host, their stored pages answer, and stay stored")
    func portalOfPages() async throws {
        let isPortal = Mutex(false)
        let server = try await RecordingServer.start { _ in
            isPortal.withLock { $0 }
                ? Array("HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\nContent-Length: 0\r\n\r\n".utf8)
                : response("hello", "Content-Type: text/html", "Cache-Control: max-age=60")
        }
        let hosts = ["localhost", "127.0.0.1"]
        for host in hosts { _ = try await home.responses(to: ["GET /"], from: server, host: host) }
        isPortal.withLock { $0 = true }
        let place = server.port
        try await home.run { address in
            var texts: [String] = []
            for host in hosts + hosts {
                texts.append(
                    try await CachingGateway.response(to: "GET /", of: "\(host):\(place)", through: address))
            }
            #expect(texts[0].hasPrefix("HTTP/1.1 302"), "\(texts[0])")
            #expect(texts[1...].allSatisfy { $0.hasSuffix("\r\n\r\nhello") }, "\(texts)")
        }
    }

    @Test("A stale response that may be used answers at once, and is validated afterwards")
    func background() async throws {
        let count = Mutex(0)
        let server = try await RecordingServer.start { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return response(
                "v\(number)", "Cache-Control: max-age=60, stale-while-revalidate=600", "Set-Cookie: n=\(number)")
        }
        _ = try await home.responses(to: ["GET /"], from: server)
        let jar = home.fixture.jar
        let text = try await home.responses(to: ["GET /"], from: server, later: 61) {
            // The validation ends in its own time.
            await server.requested()
            await server.requested()
            while try jar.cookies().readable.first?.value != "2" { try await Task.sleep(for: .milliseconds(1)) }
        }[0]
        #expect(text.hasSuffix("\r\n\r\nv1") && text.contains("; hit; ttl=-"), "\(text)")
        var next = ""
        while !next.hasSuffix("v2") {
            try Task.checkCancellation()
            next = try await home.responses(to: ["GET /"], from: server)[0]
        }
        #expect(count.withLock { $0 } == 2)
    }

    @Test("The rest of a response that broke off is fetched, and both parts are one response")
    func completed() async throws {
        let server = try await RecordingServer.start(closing: true) { octets in
            let text = String(decoding: octets, as: UTF8.self)
            guard text.contains("Range: bytes=3-") else {
                return Array(
                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"v\"\r\nCache-Control: max-age=60\r\n\r\nhel".utf8)
            }
            return Array(
                ("HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\nContent-Range: bytes 3-4/5\r\nETag: \"v\"\r\n"
                    + "Cache-Control: max-age=60\r\n\r\nlo").utf8)
        }
        let texts = try await home.responses(to: ["GET /", "GET /", "GET /"], from: server)
        #expect(texts[1].hasPrefix("HTTP/1.1 200") && texts[1].hasSuffix("\r\n\r\nhello"), "\(texts[1])")
        #expect(texts[2].hasSuffix("\r\n\r\nhello") && texts[2].contains("; hit;"), "\(texts[2])")
        #expect(server.requests.withLock { $0.count } == 2)
    }

    @Test(
        "A part that does not fit the stored one is not passed on, and the request is sent again as it was",
        arguments: ["0-4/5\r\nContent-Length: 5\r\n\r\nhello", "3-4/5\r\nContent-Length: 1\r\n\r\nl"])
    func misfit(part: String) async throws {
        let count = Mutex(0)
        let server = try await RecordingServer.start(closing: true) { octets in
            let fields = "ETag: \"v\"\r\nCache-Control: max-age=60\r\n"
            if String(decoding: octets, as: UTF8.self).contains("Range: bytes=3-") {
                return Array("HTTP/1.1 206 Partial Content\r\n\(fields)Content-Range: bytes \(part)".utf8)
            }
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\(fields)\r\n\(isFirst ? "hel" : "hello")".utf8)
        }
        let texts = try await home.responses(to: ["GET /", "GET /"], from: server)
        #expect(texts[1].hasPrefix("HTTP/1.1 200") && texts[1].hasSuffix("\r\n\r\nhello"), "\(texts[1])")
        #expect(server.requests.withLock { $0.count } == 3)
    }

    @Test("Cookies of the client itself separate responses, also without Vary")
    func ownCookies() async throws {
        let server = try await RecordingServer.start { _ in response("hello", "Cache-Control: max-age=60") }
        let requests = ["GET / Cookie: sid=alice", "GET / Cookie: sid=bob", "GET /", "GET / Cookie: sid=alice"]
        let texts = try await home.responses(to: requests, from: server)
        #expect(texts.map { $0.contains("; hit;") } == [false, false, false, true], "\(texts)")
    }

    @Test("A page stays for the time without a network if its server leads to a login instead")
    func keptPage() async throws {
        let isOut = Mutex(false)
        let server = try await RecordingServer.start { _ in
            isOut.withLock { $0 }
                ? Array("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n".utf8)
                : response("hello", "Content-Type: text/html", "Cache-Control: max-age=60")
        }
        _ = try await home.responses(to: ["GET /"], from: server)
        isOut.withLock { $0 = true }
        #expect(try await home.responses(to: ["GET /"], from: server)[0].hasPrefix("HTTP/1.1 302"))
        home.isOffline = true
        #expect(try await home.responses(to: ["GET /"], from: server)[0].hasSuffix("\r\n\r\nhello"))
    }

    @Test(
        "The rules of the table come first",
        arguments: [("never-store", false), ("always-ask", false), ("keep", true), ("returnCacheDataElseLoad", true)])
    func rules(treatment: String, isHit: Bool) async throws {
        home.rules = try CachingRules(table: "\(treatment) http://*/page\n")
        let server = try await RecordingServer.start { _ in response("hello", "Cache-Control: max-age=60") }
        _ = try await home.responses(to: ["GET /page"], from: server)
        let text = try await home.responses(to: ["GET /page"], from: server, later: treatment == "keep" ? 100 : 0)[0]
        #expect(text.contains("; hit;") == isHit && text.contains("rule"), "\(text)")
    }

    @Test("A recording marks a response from the cache, and its entry can be replayed")
    func recorded() async throws {
        let server = try await RecordingServer.start { _ in response("hello", "Cache-Control: max-age=60") }
        _ = try await home.responses(to: ["GET /"], from: server)
        let (folder, place) = (RecordingFolder(), "127.0.0.1:\(server.port)")
        var setup = GatewaySetup.forTools
        setup.recording = try folder.recording("a.har", withSecrets: true)
        try await home.run(setup) { address in
            _ = try await CachingGateway.response(to: "GET /", of: place, through: address)
        }
        let text = try String(contentsOfFile: folder.path("a.har"), encoding: .utf8)
        #expect(text.contains(#""_fromCache":"disk""#) && !text.contains("_replayed"), "\(text)")
        var replaying = GatewaySetup.forTools
        replaying.replay = try TrafficReplay(path: folder.path("a.har"))
        replaying.isOffline = true
        try await home.fixture.run(replaying) { address in
            let replayed = try await CachingGateway.response(to: "GET /", of: place, through: address)
            #expect(replayed.contains("hello"), "\(replayed)")
        }
    }

    @Test("A stored body that is damaged is a miss")
    func damaged() async throws {
        let body = String(repeating: "x", count: 100_000)
        let server = try await RecordingServer.start { _ in response(body, "Cache-Control: max-age=60") }
        _ = try await home.responses(to: ["GET /"], from: server)
        for file in try home.bodyFiles() { try Data("damaged".utf8).write(to: file) }
        let text = try await home.responses(to: ["GET /"], from: server)[0]
        #expect(text.hasSuffix(body) && text.contains("fwd="), "\(text.prefix(400))")
        #expect(server.requests.withLock { $0.count } == 2)
    }

    @Test("Another jar of the same database gets nothing")
    func jars() async throws {
        let server = try await RecordingServer.start { _ in response("hello", "Cache-Control: max-age=60") }
        _ = try await home.responses(to: ["GET /"], from: server)
        let other = try home.fixture.jar.database.jar(named: "other", now: .now)
        let text = try await home.responses(to: ["GET /"], from: server, jar: other)[0]
        #expect(text.contains("fwd=uri-miss"), "\(text)")
    }
}

/// A response with a body.
private func response(_ body: String, _ fields: String...) -> [UInt8] {
    let lines = fields.map { $0 + "\r\n" }.joined()
    return Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)".utf8)
}
