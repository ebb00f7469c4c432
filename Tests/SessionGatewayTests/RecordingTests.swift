import CookieModel
import Foundation
import HTTPMessages
import NIOCore
import SessionStore
import TestSupport
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("A recording of the traffic of a gateway")
struct RecordingTests {
    private let folder = RecordingFolder()

    @Test("An entry has the request that the server gets and its response, each Set-Cookie line apart")
    func entry() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("body".utf8) else { return nil }
            return Array(
                "HTTP/1.1 201 Made it\r\nSet-Cookie: a=1; HttpOnly\r\nset-cookie: b=2; Path=/x\r\nX: caf".utf8) + [0xE9]
                + Array("\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n\"gr\u{FC}".utf8)
        }
        try fixture.set("sid=31d4", at: "http://127.0.0.1/")
        let path = folder.path("a.har")
        try await fixture.run(recording: try folder.recording("a.har", withSecrets: true)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "POST http://127.0.0.1:\(server.port)/p?q=%20x HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                    + "Content-Length: 4\r\n\r\nbody")
            _ = await client.octets { $0.suffix(2).elementsEqual("\u{FC}".utf8) }
        }
        #expect((try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) == 0o600)
        let entry = try #require(try HARFile(path).entries.first)
        #expect(entry.requestText("method") == "POST")
        #expect(entry.requestText("url") == "http://127.0.0.1:\(server.port)/p?q=%20x")
        #expect(entry.fields(of: "request", "cookie") == ["sid=31d4"])
        #expect((entry.request["postData"] as? [String: Any])?["text"] as? String == "body")
        #expect((entry.request["queryString"] as? [[String: String]]) == [["name": "q", "value": " x"]])
        #expect(entry.response["status"] as? Int == 201)
        #expect(entry.response["statusText"] as? String == "Made it")
        #expect(entry.fields(of: "response", "set-cookie") == ["a=1; HttpOnly", "b=2; Path=/x"])
        #expect(entry.content["text"] as? String == "\"gr\u{FC}")
        #expect(entry.content["encoding"] == nil)
        let octets = try Data(contentsOf: URL(filePath: path))
        #expect(octets.range(of: Data(#"{"name":"X","value":"caf\uDCE9"}"#.utf8)) != nil)
    }

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
        "Secrets in bodies lose their values, and nothing else changes",
        arguments: [
            ("application/x-www-form-urlencoded", "a=1&password=S&b", "a=1&password=redacted&b"),
            (
                "application/x-www-form-urlencoded", "user%5Bpassword%5D=S&user[name]=n&pin=S&shipping=K",
                "user%5Bpassword%5D=redacted&user[name]=n&pin=redacted&shipping=K"
            ),
            (
                "application/json", #"{"password_confirmation":"S","token_type":"K","new_password2":"S"}"#,
                #"{"password_confirmation":"redacted","token_type":"K","new_password2":"redacted"}"#
            ),
            (
                "application/json", #"{ "user":"u", "password" : "S\"S", "n":1 }"#,
                #"{ "user":"u", "password" : "redacted", "n":1 }"#
            ),
            (
                "application/json; charset=utf-8", #"[{"otp":1234},{"otp":-1.5e3 ,"a":2}]"#,
                #"[{"otp":"redacted"},{"otp":"redacted" ,"a":2}]"#
            ),
            (
                "application/vnd.api+json", #"{"data":{"apiKey":["S",{"x":"S"},7],"keep":"K"}}"#,
                #"{"data":{"apiKey":["redacted",{"x":"redacted"},"redacted"],"keep":"K"}}"#
            ),
            (
                "text/json", #"{"pass\u0077ord":"S","token":null,"secret":true,"s":"token"}"#,
                #"{"pass\u0077ord":"redacted","token":null,"secret":true,"s":"token"}"#
            ),
            ("application/json", "12", "12"), ("application/json", #""S""#, #""S""#),
            ("application/json", #"{"a":1"#, nil), ("application/json", #"{"token":S}"#, nil),
            ("application/json", "", nil),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"user[password]\"\r\n\r\nS\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"user[password]\"\r\n\r\nredacted\r\n--b--\r\n"
            ),
            (
                "Multipart/Form-Data; x=y; Boundary=\"b\"",
                "--b\r\ncontent-disposition: form-data; filename=\"password\"; name=f\r\n\r\nK\r\n\r\nK\r\n--b\r\n"
                    + "Content-Disposition: form-data; name=token\r\n\r\nS\r\n\r\nS\r\n--b--",
                "--b\r\ncontent-disposition: form-data; filename=\"password\"; name=f\r\n\r\nK\r\n\r\nK\r\n--b\r\n"
                    + "Content-Disposition: form-data; name=token\r\n\r\nredacted\r\n--b--"
            ),
            (
                "multipart/form-data; boundary=b", "--b\r\n\r\n\r\n--b\r\n;\r\n\r\n--b--",
                "--b\r\n\r\n\r\n--b\r\n;\r\n\r\n--b--"
            ),
            ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nS\r\n--b", nil),
            ("multipart/form-data; boundary=b", "--c\r\n\r\nS\r\n--c--", nil),
            ("multipart/form-data; boundary=b", "", nil),
        ] as [(String, String, String?)])
    func bodies(_ type: String, _ body: String, _ expected: String?) throws {
        let head = try MessageHead(
            Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\n\r\n".utf8), from: .client)
        let kind = try #require(NamedBody(head))
        #expect(SecretRedaction.body(Array(body.utf8), kind).map { String(decoding: $0, as: UTF8.self) } == expected)
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

    @Test(
        "Secret names are told from others, in whatever structure and spelling",
        arguments: [
            (
                true,
                [
                    "password", "user[password]", "user%5Bpassword%5D", "user[password][]", "users[0][password]",
                    "password_confirmation", "passwordConfirmation", "password1", "new_password2", "PASSWD", "loginPwd",
                    "passphrase", "private_key_passphrase", "client_secret", "secret_key", "secretAccessKey",
                    "pass", "pass1", "pin", "PIN", "user[pin]", "new_pin", "otp", "user[otp_attempt]", "totp",
                    "id_token_hint", "access_token", "access_token%20", "access%5Ftoken", "+token", "token[value]",
                    "refreshToken", "code", "code1", "code_verifier", "codeVerifier", "api-key", "apiKey", "API_KEY_2",
                    "client_assertion", "jwt", "jsessionid", "ASP.NET_SessionId", "connect.sid", "sid",
                    "/cb?code", "openid.sig", "X-Amz-Signature", "secretary_password",
                ]
            ),
            (
                false,
                [
                    "shipping", "shipping[pin_up]", "pinned", "spin", "token_type", "token_type_hint", "max_tokens",
                    "secretary", "secretaries", "secretariat", "compass", "bypass", "passenger", "passport", "keyword",
                    "monkey", "country_code", "postcode", "encode", "session_start", "session[email]", "pin[color]",
                    "sidebar", "client_id", "grant_type", "client_assertion_type", "state", "nonce", "user", "q", "1",
                    "",
                    "[]", "opt", "authorization_endpoint", "accountSid",
                ]
            ),
        ])
    func names(isSecret: Bool, names: [String]) {
        for name in names { #expect(SecretNames.secrets.contains(name.utf8) == isSecret, "\(name)") }
    }

    @Test(
        "Fields with credentials are told from others",
        arguments: [
            (
                true,
                [
                    "authorization", "x-authorization", "proxy-authorization", "x-session-id", "x-jwt-assertion",
                    "cf-access-jwt-assertion", "x-access-token", "x-api-key", "x-client-secret", "dpop",
                    "x-hub-signature-256", "x-amz-security-token", "ocp-apim-subscription-key",
                ]
            ),
            (
                false,
                [
                    "www-authenticate", "access-control-allow-credentials", "sec-websocket-key", "sec-websocket-accept",
                    "sec-websocket-protocol", "idempotency-key", "dpop-nonce", "signature-input", "user-agent",
                    "sec-fetch-site", "host", "accept-encoding", "etag", "content-security-policy",
                ]
            ),
        ])
    func fieldNames(isSecret: Bool, names: [String]) {
        for name in names { #expect(SecretNames.secrets.contains(field: name) == isSecret, "\(name)") }
    }

    @Test(
        "Fields lose the secrets in their values",
        arguments: [
            ("sec-websocket-protocol", "bearer, TOKEN", "bearer, redacted"),
            ("sec-websocket-protocol", "graphql-ws,MQTT", "graphql-ws,MQTT"),
            ("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.S , v10.stomp", "redacted, v10.stomp"),
            ("refresh", "0; url=https://a.example/cb?code=S", "0; url=https://a.example/cb?code=redacted"),
            ("accept", "a/b;token=S", "a/b;token=S"),
        ])
    func fieldValues(name: String, value: String, expected: String) {
        #expect(SecretRedaction().value(Octets(value), ofField: name) == Octets(expected))
    }

    @Test(
        "URLs lose the secrets in their paths, queries and fragments",
        arguments: [
            ("https://a.example/b;jsessionid=S?x=y", "https://a.example/b;jsessionid=redacted?x=y"),
            ("https://a.example/b;v=1;jsessionid=S/c", "https://a.example/b;v=1;jsessionid=redacted/c"),
            ("https://a.example/b;jsessionid=S;v=1/c", "https://a.example/b;jsessionid=redacted/c"),
            ("/b%3Bjsessionid=S", "/b%3Bjsessionid=redacted"),
            ("https://a.example/?a=1;token=S", "https://a.example/?a=1;token=redacted"),
            ("https://a.example/?token=S;S&b=/c", "https://a.example/?token=redacted&b=/c"),
            ("https://a.example/?token=S/S", "https://a.example/?token=redacted"),
            (
                "https://a.example/?access_token%20=S&user[password]=S",
                "https://a.example/?access_token%20=redacted&user[password]=redacted"
            ),
            ("https://a.example/#/cb?code=S&b", "https://a.example/#/cb?code=redacted&b"),
            ("https://a.example/b;c=d/;/?a=;b&&c;token=#token", "https://a.example/b;c=d/;/?a=;b&&c;token=#token"),
            ("https://a.example", "https://a.example"), ("", ""), ("*", "*"), ("a.example:443", "a.example:443"),
        ])
    func urls(url: String, expected: String) {
        #expect(SecretRedaction.url(url) == expected)
        #expect(SecretRedaction.url(expected) == expected)
    }

    @Test(
        "A body of another kind is not looked into", arguments: ["text/plain", "multipart/form-data", "image/json", ""])
    func otherBodies(_ type: String) throws {
        let head = try MessageHead(
            Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\n\r\n".utf8), from: .client)
        #expect(NamedBody(head) == nil)
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

    @Test("A body that is not UTF-8 is in Base64, and one with a coding names it")
    func base64() async throws {
        let fixture = try GatewayFixture()
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            return Array("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        try await fixture.run(recording: try folder.recording("b.har", withSecrets: false)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            _ = await client.octets { $0.count > body.count }
            // The entry is written before the connection takes another request.
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/2 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            _ = await client.octets { $0.count > 2 * body.count }
        }
        let content = try #require(try HARFile(folder.path("b.har")).entries.first).content
        #expect(content["encoding"] as? String == "base64" && content["_contentEncoding"] as? String == "br")
        #expect(Data(base64Encoded: content["text"] as? String ?? "") == Data(body))
    }

    @Test("Requests side by side are whole entries, and one that fails is an entry with the reason")
    func sideBySide() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8) : nil
        }
        try await fixture.run(recording: try folder.recording("s.har", withSecrets: false)) { address in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let client = try await RawClient.connect(to: address)
                        let port = number == 7 ? address.port : server.port
                        try await client.send(
                            "GET http://127.0.0.1:\(port)/\(number) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                                + "Connection: close\r\n\r\n")
                        _ = await client.response()
                    }
                }
                try await group.waitForAll()
            }
        }
        let entries = try HARFile(folder.path("s.har")).entries
        #expect(entries.count == 20)
        let failed = entries.filter { $0.response["_error"] != nil }
        #expect(failed.count == 1 && failed.first?.response["_error"] as? String == "destination_ip_prohibited")
        #expect(failed.first?.response["status"] as? Int == 0)
    }

    @Test("A file that exists is left alone")
    func exists() throws {
        try Data("kept".utf8).write(to: URL(filePath: folder.path("e.har")))
        #expect(throws: GatewayError.self) { try folder.recording("e.har", withSecrets: false) }
        #expect(try String(contentsOfFile: folder.path("e.har"), encoding: .utf8) == "kept")
    }

    @Test("UTF-8 is told from other octets, wherever they are cut")
    func encoding() {
        var generator = SeededGenerator(seed: 7)
        let pieces: [[UInt8]] = [
            Array("a".utf8), Array("é".utf8), Array("€".utf8), Array("😀".utf8), [0xC0, 0x80], [0xED, 0xA0, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80], [0xFF],
        ]
        for _ in 0..<2000 {
            let octets = (0..<Int.random(in: 0...5, using: &generator)).flatMap { _ in
                pieces[Int.random(in: 0..<(generator.once(in: 2) ? 4 : pieces.count), using: &generator)]
            }
            var check = UTF8Check()
            var rest = octets[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...3, using: &generator))
                rest = rest.dropFirst(piece.count)
                check.take(piece)
            }
            #expect(check.isComplete == (String(validating: octets, as: UTF8.self) != nil), "\(octets)")
        }
    }
}

/// A folder for recordings, removed with the test.
final class RecordingFolder: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)").path

    init() {
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    func recording(_ name: String, withSecrets hasSecrets: Bool) throws -> TrafficRecording {
        try TrafficRecording(path: path(name), withSecrets: hasSecrets) { Issue.record("\($0)") }
    }

    /// A replay of a HAR with these entries.
    func replay(_ entries: String..., creator: String = "test") throws -> TrafficReplay {
        let text =
            #"{"log":{"version":"1.2","creator":{"name":"\#(creator)","version":"1"},"entries":[\#(entries.joined(separator: ","))]}}"#
        let path = path("\(UUID().uuidString).har")
        try Data(text.utf8).write(to: URL(filePath: path))
        return try TrafficReplay(path: path)
    }
}

/// The entries of a HAR as another reader has them.
private struct HARFile {
    struct Entry {
        let request: [String: Any]
        let response: [String: Any]

        var content: [String: Any] { response["content"] as? [String: Any] ?? [:] }

        func requestText(_ name: String) -> String? { request[name] as? String }

        func fields(of message: String, _ name: String) -> [String] {
            let headers = (message == "request" ? request : response)["headers"] as? [[String: String]] ?? []
            return headers.filter { $0["name"]?.lowercased() == name }.compactMap { $0["value"] }
        }
    }

    let entries: [Entry]

    init(_ path: String) throws {
        // Foundation refuses a surrogate without its pair.
        let text = try String(contentsOfFile: path, encoding: .utf8).replacing("\\uDC", with: "\\u00")
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]]
        entries = (document?["log"]?["entries"] as? [[String: Any]] ?? []).map { entry in
            Entry(
                request: entry["request"] as? [String: Any] ?? [:],
                response: entry["response"] as? [String: Any] ?? [:])
        }
    }
}

extension GatewayFixture {
    /// Runs `body` while a gateway for programs records.
    func run(
        recording: TrafficRecording? = nil, replay: TrafficReplay? = nil, offline isOffline: Bool = false,
        _ body: @escaping @Sendable (GatewayAddress) async throws -> Void
    ) async throws {
        var settings = GatewaySettings.forTools
        settings.recording = recording
        settings.replay = replay
        settings.isOffline = isOffline
        try await run(settings, body)
    }
}
