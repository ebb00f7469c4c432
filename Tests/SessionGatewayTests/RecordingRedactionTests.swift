import CookieModel
import Foundation
import HTTPMessages
import NIOCore
import SessionStore
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
                    + "X-Api-Key: VALUE12\r\nCookie: own=VALUE13\r\nReferer: http://127.0.0.1/?token=VALUE14\r\n"
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
        #expect(((entry.request["cookies"] as? [[String: String]]) ?? []).compactMap { $0["name"] } == ["own", "jar"])
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
        "Responses that are no JSON, or whose end is missing, are recorded as they are",
        arguments: [
            ("text/plain", #"{"access_token":"a"}"#), ("application/json", #"{"access_token":"a""#),
            ("application/json", #"{"a":"b"}"#),
        ])
    func otherResponses(type: String, body: String) async throws {
        let entry = try await recorded(
            "GET /?token=a HTTP/1.1\r\nHost: HOST\r\n\r\n",
            answer: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(entry.content["text"] as? String == body)
    }

    /// The entry of a request, in which no secret is.
    private func recorded(_ request: String, answer: String) async throws -> HARFile.Entry {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            octets.count >= request.utf8.count ? Array(answer.utf8) : nil
        }
        try await fixture.run(recording: try folder.recording("t.har", withSecrets: false)) { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            let sent = request.replacing("HOST", with: host)
            try await client.send(sent.replacing(" /", with: " http://\(host)/", maxReplacements: 1))
            _ = await client.response { $0.hasSuffix(answer.suffix(5)) }
        }
        let path = folder.path("t.har")
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
