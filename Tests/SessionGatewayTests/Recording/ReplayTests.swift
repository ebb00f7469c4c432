import CookieModel
import Foundation
import HTTPMessages
import NIOCore
import SessionStore
import Synchronization
import TestSupport
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("A recording that answers requests")
struct ReplayTests {
    private let folder = RecordingFolder()

    /// An entry whose response has `text` as its body.
    private static func entry(
        _ text: String, _ method: String = "GET", at url: String = "http://shop.example/a", sent: String = "",
        status: Int = 200, received: String = "", content: String = "", request: String = ""
    ) -> String {
        """
        {"request":{"method":"\(method)","url":"\(url)","headers":[\(sent)],"bodySize":-1\(request)},
         "response":{"status":\(status),"statusText":"Any","headers":[\(received)],"bodySize":-1,
          "content":{"size":-1,"mimeType":"text/plain","text":"\(text)"\(content)}}}
        """
    }

    private static func field(_ name: String, _ value: String) -> String { #"{"name":"\#(name)","value":"\#(value)"}"# }

    /// Sends requests one after the other, each on a connection of its own, and gives the responses.
    private func answers(
        _ replay: TrafficReplay, _ requests: [String], fixture: GatewayFixture? = nil
    ) async throws -> [String] {
        let fixture = try fixture ?? GatewayFixture()
        let (stream, continuation) = AsyncStream<String>.makeStream()
        try await fixture.run(replay: replay, offline: true) { address in
            for request in requests {
                let client = try await RawClient.connect(to: address)
                try await client.send(request)
                continuation.yield(await client.response())
            }
            continuation.finish()
        }
        var answers: [String] = []
        for await answer in stream { answers.append(answer) }
        return answers
    }

    private static func request(
        _ method: String = "GET", _ url: String = "http://shop.example/a", _ fields: String = "", body: String = ""
    ) -> String {
        "\(method) \(url) HTTP/1.0\r\nHost: shop.example\r\n\(fields)"
            + (body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n") + "\r\n\(body)"
    }

    private static func body(_ answer: String) -> String {
        answer.range(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) } ?? "-"
    }

    @Test("Entries of one request answer one after the other, and the last one from then on")
    func inOrder() async throws {
        let replay = try folder.replay(Self.entry("1"), Self.entry("p", "POST"), Self.entry("2"), Self.entry("3"))
        let answers = try await answers(replay, Array(repeating: Self.request(), count: 5))
        #expect(answers.map(Self.body) == ["1", "2", "3", "3", "3"])
    }

    @Test("A request without an entry gets 504, and nothing is connected to")
    func offline() async throws {
        let server = try await RecordingServer.start { _ in nil }
        let replay = try folder.replay(
            Self.entry("1"), Self.entry("", at: "http://shop.example/gone", status: 0),
            Self.entry("", at: "http://shop.example/socket", status: 101),
            Self.entry("x", at: "http://shop.example/broken").replacing(
                #""bodySize":-1,"#, with: #""bodySize":-1,"_error":"net::ERR_ABORTED","#),
            Self.entry("", at: "http://shop.example/304", status: 304),
            Self.entry("", at: "http://shop.example/left-out").replacing(#""size":-1,"#, with: #""size":5,"#)
                .replacing(#","text":"""#, with: ""))
        let urls = [
            "http://shop.example/b", "http://shop.example/a?", "http://127.0.0.1:\(server.port)/",
            "http://shop.example/gone", "http://shop.example/socket", "http://shop.example/broken",
            "http://shop.example/304", "http://shop.example/left-out",
        ]
        let answers = try await answers(replay, urls.map { Self.request("GET", $0) } + [Self.request("PUT")])
        for answer in answers {
            #expect(answer.hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"), "\(answer)")
            #expect(answer.contains("Proxy-Status: crumb; error=destination_unavailable;"))
        }
        #expect(server.requests.withLock { $0.isEmpty })
    }

    @Test(
        "A response whose body was not recorded answers nothing, but a redirect or an empty response does",
        arguments: [
            (#"{"size":-1}"#, 200, false), (#"{"mimeType":"text/html"}"#, 200, false), (#"{"size":9}"#, 200, false),
            (#"{"size":0}"#, 200, true), (#"{"size":-1,"text":""}"#, 200, true), (#"{"size":-1}"#, 204, true),
            (#"{"size":-1}"#, 302, true), (#"{"size":-1}"#, 404, false),
            (#"{"size":9,"text":""}"#, 200, false), (#"{"text":"","size":9}"#, 200, false),
            (#"{"size":9,"text":""}"#, 302, true), (#"{"text":""}"#, 200, true), (#"{"size":0,"text":""}"#, 200, true),
        ])
    func unrecorded(content: String, status: Int, answers isAnswered: Bool) async throws {
        let field = Self.field("Location", "/next")
        let entry = """
            {"request":{"method":"GET","url":"http://shop.example/a","headers":[]},
             "response":{"status":\(status),"headers":[\(field)],"content":\(content)}}
            """
        let answer = try await answers(try folder.replay(entry), [Self.request()])[0]
        #expect(answer.hasPrefix("HTTP/1.1 \(isAnswered ? status : 504) "), "\(answer)")
    }

    @Test("The page for a request without an entry shows its URL without secrets")
    func offlineURL() async throws {
        let replay = try folder.replay(Self.entry("1"))
        let url = "http://shop.example/b;jsessionid=31d4/c?token=31d4&page=2"
        let answers = try await answers(replay, [Self.request("GET", url)])
        #expect(
            answers[0].contains("answers GET http://shop.example/b;jsessionid=redacted/c?token=redacted&page=2")
                && !answers[0].contains("31d4"), "\(answers[0])")
    }

    @Test("A tunnel that is not decrypted gets 504 offline")
    func tunnel() async throws {
        let server = try await RecordingServer.start { _ in nil }
        let replay = try folder.replay(Self.entry("1"))
        let target = "127.0.0.1:\(server.port)"
        let answers = try await answers(replay, ["CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n"])
        #expect(answers[0].hasPrefix("HTTP/1.1 504 ") && answers[0].contains("--intercept"))
    }

    @Test("Without an entry, the request goes to the server with its body")
    func toServer() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("live".utf8)
                ? Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8) : nil
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let replay = try folder.replay(
            Self.entry("stored", "POST", at: url, request: #","postData":{"mimeType":"x","text":"other"}"#))
        try await fixture.run(replay: replay) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "POST \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Length: 4\r\n\r\nlive")
            #expect(await client.response { $0.hasSuffix("ok") }.hasSuffix("\r\n\r\nok"))
        }
        #expect(server.firstRequest.hasSuffix("\r\n\r\nlive"))
        #expect(fixture.records.withLock { $0.first?.isReplayed } == false)
    }

    @Test("The body decides between entries, and a redacted form or member stands for every value")
    func bodies() async throws {
        let json = #","postData":{"mimeType":"application/json","text":"{\"token\":\"redacted\",\"n\":1}"}"#
        let form = #","postData":{"mimeType":"application/x-www-form-urlencoded","text":"u=1&password=redacted"}"#
        let replay = try folder.replay(
            Self.entry("one", "POST", request: #","postData":{"mimeType":"text/plain","text":"1"}"#),
            Self.entry(
                "two", "POST", request: #","postData":{"mimeType":"text/plain","text":"MgA=","_encoding":"base64"}"#),
            Self.entry("any", "PUT"), Self.entry("in", "POST", at: "http://shop.example/login", request: form),
            Self.entry("js", "POST", at: "http://shop.example/js", request: json))
        let type = "Content-Type: application/x-www-form-urlencoded\r\n"
        let answers = try await answers(
            replay,
            [
                Self.request("POST", body: "2\0"), Self.request("POST", body: "1"), Self.request("PUT", body: "any"),
                Self.request("POST", body: "3"),
                Self.request("POST", "http://shop.example/login", type, body: "u=1&password=secret"),
                Self.request("POST", "http://shop.example/login", type, body: "u=2&password=secret"),
                Self.request(
                    "POST", "http://shop.example/js", "Content-Type: application/json\r\n",
                    body: #"{"token":"secret","n":1}"#),
            ])
        #expect(
            answers.map { $0.hasPrefix("HTTP/1.1 504") ? "504" : Self.body($0) } == [
                "two", "one", "any", "504", "in", "504", "js",
            ])
    }

    @Test("What a response varies by decides, and what it needs must be there")
    func varying() async throws {
        let vary = Self.field("Vary", "Accept-Language, Accept-Encoding")
        let preflight =
            Self.field("Access-Control-Request-Method", "PUT") + "," + Self.field("Origin", "https://a.example")
        let replay = try folder.replay(
            Self.entry("de", sent: Self.field("Accept-Language", "de"), received: vary),
            Self.entry("en", sent: Self.field("accept-language", "en"), received: vary),
            Self.entry("pa", at: "http://shop.example/r", sent: Self.field("Range", "bytes=0-1"), status: 206),
            Self.entry("", "OPTIONS", sent: preflight, status: 204),
            Self.entry("plain", "OPTIONS", at: "http://shop.example/o"))
        let ask = { (origin: String) in
            Self.request(
                "OPTIONS", "http://shop.example/a", "Origin: \(origin)\r\nAccess-Control-Request-Method: PUT\r\n")
        }
        let answers = try await answers(
            replay,
            [
                Self.request("GET", "http://shop.example/a", "Accept-Language: en\r\n"),
                Self.request("GET", "http://shop.example/a", "Accept-Language: de\r\n"),
                Self.request("GET", "http://shop.example/a", "Accept-Language: fr\r\n"),
                Self.request("GET", "http://shop.example/r"),
                Self.request("GET", "http://shop.example/r", "Range: bytes=0-1\r\n"),
                ask("https://a.example"), ask("https://b.example"),
                Self.request(
                    "OPTIONS", "http://shop.example/o",
                    "Origin: https://a.example\r\nAccess-Control-Request-Method: PUT\r\n"),
            ])
        #expect(answers.prefix(2).map(Self.body) == ["en", "de"])
        #expect(
            answers.dropFirst(2).map { String($0.prefix(12).suffix(3)) } == ["200", "504", "206", "204", "504", "504"])
    }

    @Test(
        "Responses of other programs' recordings are such as a server sends",
        arguments: [
            (
                #""text":"gr\u00fc\ud83d\ude00""#, "Content-Type", "text/html; charset=iso-8859-1", "grü😀",
                "text/html; charset=utf-8"
            ),
            (#""text":"aGk=","encoding":"base64""#, "Content-Encoding", "gzip", "hi", nil),
            (#""text":"aGk=","encoding":"base64","_contentEncoding":"gzip""#, "Content-Encoding", "gzip", "hi", "gzip"),
            (#""text":"x""#, "Content-Length", "77", "x", nil),
            (#""text":"x""#, "Transfer-Encoding", "chunked", "x", nil),
            (#""text":"x""#, ":status", "200", "x", nil), (#""text":"x""#, "ETag", "", "x", ""),
            (#""size":0"#, "Location", "/next", "", "/next"),
        ])
    func responses(content: String, name: String, value: String, body: String, passed: String?) async throws {
        let entry = Self.entry("TEXT", received: Self.field(name, value)).replacing(#""text":"TEXT""#, with: content)
        let answer = try await answers(try folder.replay(entry), [Self.request()])[0]
        #expect(Self.body(answer) == body)
        let lines = answer.components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n")
        let line = lines.first { $0.lowercased().hasPrefix("\(name.lowercased()):") }
        #expect(
            line?.split(separator: ":", maxSplits: 1).last.map { $0.trimmingCharacters(in: .whitespaces) } == passed)
    }

    @Test("Cookies of replayed responses are stored, also where lines are joined, and HttpOnly ones do not pass")
    func cookies() async throws {
        let fixture = try GatewayFixture()
        let replay = try folder.replay(
            Self.entry(
                "x", received: Self.field("set-cookie", #"a=1; HttpOnly\nb=2; Expires=Wed, 09 Jun 2100 10:18:14 GMT"#)))
        let answer = try await answers(replay, [Self.request()], fixture: fixture)[0]
        #expect(answer.contains("b=2") && !answer.contains("a=1") && answer.contains("a=; HttpOnly; Max-Age=0"))
        #expect(Set(try fixture.jar.cookies().readable.map(\.name)) == ["a", "b"])
        let record = try #require(fixture.records.withLock { $0.first })
        #expect(record.isReplayed && record.cookiesStored.count == 2 && record.cookiesSent.isEmpty)
    }

    @Test("A recording that is replayed and recorded again has nothing of the jar's")
    func recordedAgain() async throws {
        let fixture = try GatewayFixture()
        try fixture.set("sid=FRESH", at: "http://shop.example/")
        let replay = try folder.replay(Self.entry("x"))
        let recording = try folder.recording("again.har", withSecrets: true)
        try await fixture.run(recording: recording, replay: replay, offline: true) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(Self.request("GET", "http://shop.example/a", "Cookie: own=FRESH\r\n"))
            _ = await client.response()
        }
        let text = try String(contentsOfFile: folder.path("again.har"), encoding: .utf8)
        #expect(!text.contains("FRESH") && text.contains(#""_replayed":true"#) && text.contains(#""text":"x""#))
    }

    @Test("What was recorded is replayed octet for octet")
    func roundTrip() async throws {
        let fixture = try GatewayFixture()
        var generator = SeededGenerator(seed: 3)
        let bodies = (0..<40).map { number in
            (0..<Int.random(in: 0...(number == 7 ? 3_000_000 : 3000), using: &generator)).map { _ in
                number % 2 == 0
                    ? UInt8.random(in: 0...255, using: &generator) : UInt8.random(in: 1...127, using: &generator)
            }
        }
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            let number = Int(String(decoding: octets, as: UTF8.self).dropFirst(5).prefix { $0.isNumber }) ?? 0
            return Array(
                "HTTP/1.1 200 OK\r\nX: \u{FC}\(number)\r\nContent-Length: \(bodies[number].count)\r\n\r\n".utf8)
                + bodies[number]
        }
        let path = folder.path("round.har")
        let get: @Sendable (GatewayAddress) async throws -> Void = { address in
            for number in bodies.indices {
                let client = try await RawClient.connect(to: address)
                try await client.send(
                    "GET http://127.0.0.1:\(server.port)/\(number) HTTP/1.0\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
                let answer = await client.octets { _ in false }
                let end = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8)))
                #expect(Array(answer[end.upperBound...]) == bodies[number], "\(number)")
                #expect(answer.firstRange(of: Array(": \u{FC}\(number)\r\n".utf8)) != nil)
            }
        }
        try await fixture.run(recording: try folder.recording("round.har", withSecrets: false), get)
        try await server.stop()
        try await fixture.run(replay: try TrafficReplay(path: path), offline: true, get)
    }

    @Test("A recording that breaks off has the entries before, and other files are refused")
    func brokenOff() throws {
        let text = #"{"log":{"entries":[\#(Self.entry("1")),\#(Self.entry("2"))]}}"#
        let path = folder.path("cut.har")
        for (cut, count) in [(text, 2), (String(text.dropLast(3)), 2), (String(text.dropLast(20)), 1)] {
            try Data(cut.utf8).write(to: URL(filePath: path))
            #expect(try TrafficReplay(path: path).count == count)
        }
        try Data("\u{FEFF}\(text)".utf8).write(to: URL(filePath: path))
        #expect(try TrafficReplay(path: path).count == 2)
        for wrong in ["", "[]", "{}", "nothing", "{\"log\":{}}"] {
            try Data(wrong.utf8).write(to: URL(filePath: path))
            #expect(throws: GatewayError.self) { try TrafficReplay(path: path) }
        }
        #expect(throws: GatewayError.self) { try TrafficReplay(path: folder.path("none.har")) }
    }

    @Test("A compressed recording is refused with the command that unpacks it")
    func compressed() throws {
        let path = folder.path("x.har.gz")
        try Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]).write(to: URL(filePath: path))
        let error = try #require(throws: GatewayError.self) { try TrafficReplay(path: path) }
        #expect("\(error)".contains("gunzip --keep"), "\(error)")
    }

    @Test("A text is decoded wherever its pieces are cut")
    func pieces() {
        let raw = Array(#"a\u00fc\ud83d\ude00\\\"\n€\ud83dx\udcff"}}]"#.utf8)
        for length in 1...raw.count {
            var text = HARBodyText(isBase64: false)
            var decoded: [UInt8] = []
            var rest = raw[...]
            while !text.isComplete, !rest.isEmpty {
                decoded += text.decode(Array(rest.prefix(length))) ?? []
                rest = rest.dropFirst(length)
            }
            #expect(text.isComplete)
            #expect(decoded == Array("aü😀\\\"\n€\u{FFFD}x".utf8) + [0xFF], "\(length)")
        }
    }
}
