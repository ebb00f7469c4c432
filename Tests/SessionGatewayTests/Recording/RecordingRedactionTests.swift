import CookieModel
import Foundation
import HTTPMessages
import NIOCore
import SessionStore
import Synchronization
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Secrets in the traffic of a gateway, and what a recording has of them")
struct RecordingRedactionTests {
    private let folder = RecordingFolder()

    @Test("Values of cookies, credentials, tokens and the jar's fields are left out, and names stay")
    func redacted() async throws {
        let fixture = try GatewayFixture()
        let answer =
            "HTTP/1.1 302 Found\r\nSet-Cookie: sid=VALUE1; Secure; HttpOnly\r\n"
            + "Location: https://app.example/cb?code=VALUE2&x=y#access_token=VALUE3&z=1\r\nContent-Length: 6\r\n\r\nVALUE4"
        let server = try await RecordingServer.start { octets in
            String(decoding: octets, as: UTF8.self).hasSuffix("last=1") ? Array(answer.utf8) : nil
        }
        try fixture.set("jar=VALUE5", at: "http://127.0.0.1/")
        let form = "grant_type=refresh_token&refresh_token=VALUE6&client_secret=VALUE7&password=VALUE8&last=1"
        try await fixture.run(recording: try folder.recording("r.har", withSecrets: false)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "POST http://127.0.0.1:\(server.port)/token?id_token=VALUE9&a=b HTTP/1.1\r\n"
                    + "Host: 127.0.0.1:\(server.port)\r\nAuthorization: Bearer VALUE10\r\nDPoP: VALUE11\r\n"
                    + "X-Api-Key: VALUE12\r\nCookie: own=VALUE13; VALUE15\r\nReferer: http://127.0.0.1/?token=VALUE14\r\n"
                    + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
                    + form)
            _ = await client.response { $0.hasSuffix("VALUE4") }
        }
        let path = folder.path("r.har")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains("VALUE"))
        let entry = try #require(try HARFile(path).entries.first)
        #expect(entry.requestText("url") == "http://127.0.0.1:\(server.port)/token?id_token=redacted&a=b")
        #expect(entry.fields(of: "request", "authorization") == ["redacted"])
        #expect(entry.fields(of: "request", "x-api-key") == ["redacted"])
        #expect(
            (entry.request["postData"] as? [String: Any])?["text"] as? String
                == "grant_type=refresh_token&refresh_token=redacted&client_secret=redacted&password=redacted&last=1")
        #expect(
            entry.fields(of: "response", "location")
                == ["https://app.example/cb?code=redacted&x=y#access_token=redacted&z=1"])
        #expect(entry.fields(of: "response", "set-cookie").isEmpty)
        let cookie = try #require((entry.response["cookies"] as? [[String: Any]])?.first)
        #expect(cookie["name"] as? String == "sid" && cookie["value"] as? String == "")
        #expect(entry.content["text"] == nil && entry.content["comment"] != nil)
        let cookies = (entry.request["cookies"] as? [[String: String]]) ?? []
        #expect(cookies.compactMap { $0["name"] } == ["own", "", "jar"])
    }

    @Test(
        "The response to a request for a token is left out, in whatever form the request is",
        arguments: [
            ("application/json", #"{"grant_type":"refresh_token","refresh_token":"VALUE"}"#, "/oauth/token"),
            ("application/json", #"{"a":{"clientSecret":"VALUE"}}"#, "/"),
            ("application/x-www-form-urlencoded", "grant%5Ftype=refresh_token&refresh%5ftoken=VALUE", "/"),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"grant_type\"\r\n\r\npassword\r\n--b--\r\n", "/"
            ),
            ("text/plain", "x", "/token?a=b&grant_type=client_credential"),
        ])
    func tokenRequests(type: String, body: String, target: String) async throws {
        let entry = try await recorded(
            "POST \(target) HTTP/1.1\r\nHost: HOST\r\nContent-Type: \(type)\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)",
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nVALUE")
        #expect(entry.content["text"] == nil)
        #expect(entry.content["comment"] as? String == "The response to a request for a token is left out.")
    }

    @Test("Tokens in responses in JSON are left out whatever the request was, and nothing else is")
    func tokenResponses() async throws {
        func body(_ value: String) -> String {
            #"{ "user":"\u00e9", "access_token" : "\#(value)", "a":[{"refreshToken":"\#(value)","id_token":"\#(value)","#
                + #""token":"\#(value)","code":"DE","token_type":"Bearer","password":["is short"],"nextPageToken":"n"}]}"#
        }
        let entry = try await recorded(
            "GET /session HTTP/1.1\r\nHost: HOST\r\n\r\n",
            answer: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body("VALUE").utf8.count)\r\n\r\n\(body("VALUE"))")
        #expect(entry.content["text"] as? String == body("redacted"))
    }

    @Test(
        "Responses without names of tokens are recorded as they are",
        arguments: [
            ("text/html", #"<p>{"access_token":"a"}"#), ("application/json", "Not found"),
            ("application/json", #"{"a":"b"}"#),
            ("image/png", #"{"access_token":"a"}"#),
        ])
    func otherResponses(type: String, body: String) async throws {
        let entry = try await recorded(
            "GET /?token=a HTTP/1.1\r\nHost: HOST\r\n\r\n",
            answer: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(entry.content["text"] as? String == body)
    }

    /// `{"access_token":"VALUE","a":"b"}` in gzip.
    private static let compressed = "H4sIAAAAAAAC/6tWSkxOTi0uji/Jz07NU7JSCnP0CXVV0lFKBLKTlGoBCkFGJSAAAAA="
    private static let prefixed = ")]}',\n{\"access_token\":\"VALUE\",\"a\":\"b\"}"

    @Test("A compressed response is decoded, and recorded without its tokens")
    func compressedResponse() async throws {
        let body = try #require(Base64.decode(Array(Self.compressed.utf8)))
        let entry = try await recorded(
            "GET /session HTTP/1.1\r\nHost: HOST\r\nAccept-Encoding: br, gzip;q=0.5, zstd\r\n\r\n",
            answer: Array(
                ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                    + "Content-Length: \(body.count)\r\n\r\n").utf8) + body)
        #expect(entry.content["text"] as? String == #"{"access_token":"redacted","a":"b"}"#)
        #expect(entry.content["encoding"] == nil && entry.content["_contentEncoding"] == nil)
        #expect(entry.fields(of: "request", "accept-encoding") == ["gzip;q=0.5"])
    }

    @Test(
        "A response that may have tokens and cannot be searched is left out",
        arguments: [
            ("application/json", "br", #"{"access_token":"VALUE"}"#), ("text/html", "zstd", "VALUE"),
            ("application/json", "gzip", "VALUE"), ("application/json", "", #"{"access_token":"VALUE""#),
        ])
    func unsearchable(type: String, coding: String, body: String) async throws {
        let field = coding.isEmpty ? "" : "Content-Encoding: \(coding)\r\n"
        let entry = try await recorded(
            "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
            answer: Array(
                "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8))
        #expect(entry.content["text"] == nil && entry.content["comment"] is String)
    }

    @Test(
        "A long response is left out if its values may have names",
        arguments: [
            ("application/json", "{", true), ("text/plain", " [", true), ("text/plain", "a=b", true),
            ("text/html", "<p>", false), ("text/plain", "a b", false),
        ])
    func long(type: String, text: String, isLeftOut: Bool) async throws {
        let head = try MessageHead(Array("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n".utf8), from: .server)
        var body = RecordedBody(BodySpool.Budget())
        let octets = ByteBuffer(string: text + String(repeating: "a", count: 100))
        body.note(octets)
        await body.spool.append(.data(octets))
        let kind = try #require(NamedBody(head))
        let searched = await SearchedBody(body, kind, head, upTo: 100, for: .tokens, decoding: true)
        #expect((searched.omission != nil) == isLeftOut && searched.replacement == nil)
    }

    @Test("A response with text in front of its JSON, and one that is a form, lose their tokens")
    func disguised() async throws {
        for (type, body, expected) in [
            ("application/json", Self.prefixed, Self.prefixed.replacing("VALUE", with: "redacted")),
            ("text/plain", "access_token=VALUE&scope=a", "access_token=redacted&scope=a"),
            ("application/x-www-form-urlencoded", "scope=a&refresh_token=VALUE", "scope=a&refresh_token=redacted"),
        ] {
            let entry = try await recorded(
                "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
                answer: Array(
                    "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        .utf8))
            #expect(entry.content["text"] as? String == expected)
        }
    }

    @Test("Secrets that are known are found in every place, also before they are known, and counted")
    func known() async throws {
        let fixture = try GatewayFixture()
        let secret = "VALUE/of+a=cookie8"
        let base64 = String(decoding: Base64.encode(Array("x:\(secret)".utf8)), as: UTF8.self)
        let page =
            "<p>\(secret) VALUE%2Fof%2Ba%3Dcookie8 VALUE%2fof%2ba%3dcookie8 \(base64) VALUE\\/of+a=cookie8 kept</p>"
        let early = "<p>VALUE-that-is-set-1-later</p>"
        let server = try await RecordingServer.start { octets in
            let text = String(decoding: octets, as: UTF8.self)
            guard text.hasSuffix("\r\n\r\n") else { return nil }
            let (fields, body) =
                text.hasPrefix("GET /early")
                ? ("", early)
                : text.hasPrefix("GET /set")
                    ? ("Set-Cookie: b=VALUE-that-is-set-1-later; HttpOnly\r\n", "set")
                    : ("X-Echo: \(secret)\r\n", page)
            return Array(
                ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\(fields)Content-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\r\n\(body)").utf8)
        }
        try fixture.set("jar=\(secret); HttpOnly", at: "http://127.0.0.1/")
        let removed = Mutex(0)
        let recording = try TrafficRecording(
            path: folder.path("k.har"), withSecrets: false, failed: { Issue.record("\($0)") },
            removed: { count in removed.withLock { $0 += count } })
        try await fixture.run(recording: recording) { address in
            for path in ["/early", "/page", "/page/\(secret)", "/set"] {
                let client = try await RawClient.connect(to: address)
                try await client.send(
                    "GET http://127.0.0.1:\(server.port)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
                _ = await client.response { $0.hasSuffix("</p>") || $0.hasSuffix("set") }
            }
        }
        let path = folder.path("k.har")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(!text.contains("VALUE") && !text.contains(base64) && text.contains("kept"))
        let entries = try HARFile(path).entries
        #expect(entries.count == 4 && entries[1].fields(of: "response", "x-echo") == ["redactedredactedre"])
        // Five in each page, one in each field, one in the path, and the one that was not known yet.
        #expect(removed.withLock { $0 } == 14)
    }

    /// The entry of a request, in which no secret is.
    private func recorded(_ request: String, answer: String) async throws -> HARFile.Entry {
        try await recorded(request, answer: Array(answer.utf8))
    }

    private func recorded(_ request: String, answer: [UInt8]) async throws -> HARFile.Entry {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            let isComplete =
                request.hasPrefix("GET")
                ? octets.suffix(4).elementsEqual("\r\n\r\n".utf8) : octets.count >= request.utf8.count
            return isComplete ? answer : nil
        }
        let name = "\(UUID().uuidString).har"
        try await fixture.run(recording: try folder.recording(name, withSecrets: false)) { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            let sent = request.replacing("HOST", with: host)
            try await client.send(sent.replacing(" /", with: " http://\(host)/", maxReplacements: 1))
            let end = String(decoding: answer.suffix(5), as: UTF8.self)
            _ = await client.response { $0.hasSuffix(end) }
        }
        let path = folder.path(name)
        #expect(!(try String(contentsOfFile: path, encoding: .utf8)).contains("VALUE"))
        return try #require(try HARFile(path).entries.first)
    }

    @Test("A body in which secrets cannot be found is left out, and says why")
    func omitted() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            String(decoding: octets, as: UTF8.self).hasSuffix("!")
                ? Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8) : nil
        }
        try await fixture.run(recording: try folder.recording("o.har", withSecrets: false)) { address in
            for (fields, body) in [
                ("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "VALUE!"),
                ("Content-Type: application/json\r\n", "{\"token\":\"VALUE!"),
                (
                    "Content-Type: application/json\r\n",
                    String(repeating: " ", count: SecretRedaction.bodyLimit) + "VALUE!"
                ),
            ] {
                let client = try await RawClient.connect(to: address)
                try await client.send(
                    "POST http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\(fields)"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                _ = await client.response()
            }
        }
        let path = folder.path("o.har")
        #expect(!(try String(contentsOfFile: path, encoding: .utf8)).contains("VALUE"))
        let bodies = try HARFile(path).entries.map { $0.request["postData"] as? [String: Any] }
        #expect(bodies.map { $0?["text"] == nil && $0?["comment"] is String } == [true, true, true])
    }
}
