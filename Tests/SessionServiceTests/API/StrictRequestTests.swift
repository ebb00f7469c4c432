import CookieModel
import HTTPTypes
import SessionWire
import Testing

@testable import SessionService

@Suite("Repeated, invalid and unknown parts of a request are rejected on every route")
struct StrictRequestTests {
    /// The routes whose body is a JSON document.
    private static let documents = RouteSample.all.filter {
        $0.body?.hasPrefix("{") == true && $0.type.hasSuffix("/json")
    }

    /// A body, and why it is refused.
    private static func variants(of body: String) -> [(bytes: [UInt8], reason: String)] {
        let rest = body.dropFirst()
        let name = body.split(separator: "\"")[1]
        let utf16: [UInt8] = body.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] as [UInt8] }
        let latin1: [UInt8] = Array("{\"more\":\"".utf8) + [0xE9] + Array("\",\(rest)".utf8)
        let escaped = "\\u00\(String(name.utf8.first ?? 0, radix: 16))\(name.dropFirst())"
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let many = (0...10_000).map { "\"m\($0)\":0," }.joined()
        let texts = [
            ("{\"\(name)\":0,\(rest)", "\(name): this member occurs twice"),
            ("{\"\(escaped)\":0,\(rest)", "\(name): this member occurs twice"),
            ("{\"more\":[{\"x\":1,\"x\":2}],\(rest)", "more.[0].x: this member occurs twice"),
            ("\(body.dropLast()),}", "this is not JSON"), ("{\"x\":\(deep),\(rest)", "nested"),
            ("{\(many)\(rest)", "at most 10000 members"), ("\u{FEFF}\(body)", "byte order mark"),
        ]
        let octets: [(bytes: [UInt8], reason: String)] = [
            (utf16, "UTF-16"), ([0xFF, 0xFE] + utf16, "UTF-16"), (latin1, "this is not UTF-8"),
        ]
        return texts.map { (bytes: Array($0.utf8), reason: $1) } + octets
    }

    @Test("Repeated, invalid and unknown members of bodies are rejected", arguments: documents)
    func bodies(sample: RouteSample) async throws {
        let body = try #require(sample.body)
        try await ServiceFixture().run { client in
            for (bytes, reason) in Self.variants(of: body) {
                let answer = try await client.send(sample.method, sample.uri, bytes: bytes, type: sample.type)
                #expect(answer.status == 400 && answer.code == "body-invalid", "\(reason): \(answer.text)")
                #expect((answer.object["detail"] as? String)?.contains(reason) == true, "\(answer.text)")
            }
        }
    }

    @Test("The tests of bodies cover every route with a body")
    func complete() {
        #expect(Set(Self.documents.map(\.path)).count >= 18)
    }

    @Test("A route without a body rejects one, and changes nothing", arguments: RouteSample.all)
    func bodiesOfOthers(sample: RouteSample) async throws {
        let fixture = try ServiceFixture()
        let route = try #require(fixture.api.routes.first { $0.method == sample.method && $0.path == sample.path })
        guard route.body == .none else { return }
        try await fixture.run { client in
            let refused = try await client.send(sample.method, sample.uri, "{}")
            #expect(refused.status == 400 && refused.code == "body-invalid", "\(refused.text)")
            let empty = try await client.send(sample.method, sample.uri, "")
            #expect(empty.status == sample.status, "\(empty.text)")
        }
    }

    @Test("A body in chunks counts as a body, unless it is empty")
    func chunkedBodies() async throws {
        try await RunningServer.with { server in
            let head = """
                POST /v1/jars/work/clear HTTP/1.1\r\nHost: localhost:\(server.port)\r\nAuthorization: Bearer \
                \(try server.ownerToken)\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n
                """
            for (chunks, status) in [("2\r\n{}\r\n0\r\n\r\n", 400), ("0\r\n\r\n", 200)] {
                try await RawConnection.with(port: server.port) { connection in
                    try await connection.send(head + chunks)
                    let answer = try await connection.answer()
                    #expect(answer.status == status, "\(answer.body)")
                }
            }
        }
    }

    @Test(
        "A member of the wrong kind is named, with the expected kind",
        arguments: [
            ("/v1/tokens/work/access-token", #"{"skew":1.5}"#, "skew: use a whole number from 0 to 86400"),
            ("/v1/tokens/work/access-token", #"{"skew":1e99}"#, "skew: use a whole number from 0 to 86400"),
            ("/v1/tokens/work/access-token", #"{"skew":-1}"#, "skew: use a whole number from 0 to 86400"),
            ("/v1/tokens/work/access-token", #"{"skew":"7"}"#, "skew: use a whole number from 0 to 86400"),
            ("/v1/tokens/work/logout", #"{"force":1}"#, "force: use true or false"),
            ("/v1/prune", #"{"journalEntries":0.5}"#, "journalEntries: use a whole number from 0"),
            ("/v1/prune", #"{"journalEntries":-3}"#, "journalEntries: use a whole number from 0"),
            (
                "/v1/jars/default/responses", #"{"url":"https://a.test/","headers":[],"status":2e2.5}"#,
                "line 1, column 51: this is not JSON"
            ),
            (
                "/v1/jars/default/responses", #"{"url":"https://a.test/","headers":[],"status":200.5}"#,
                "status: use a whole number from 100 to 999"
            ),
            (
                "/v1/jars/default/responses", #"{"url":"https://a.test/","headers":[],"status":99999}"#,
                "status: use a whole number from 100 to 999"
            ),
            (
                "/v1/jars/default/responses", #"[{"url":"https://a.test/","headers":[],"status":1e99}]"#,
                "[0].status: use a whole number from 100 to 999"
            ),
            (
                "/v1/jars", #"{"name":"n","limits":{"total-cookies":1.5}}"#,
                "limits.total-cookies: use a whole number from 0"
            ),
            ("/v1/jars", #"{"name":7}"#, "name: use text"), ("/v1/jars", #"{"name":"n","limits":[]}"#, "limits: "),
            ("/v1/jars/default/script", #"{"urls":"https://a.test/"}"#, "urls: use a list"),
            ("/v1/jars/default/decorate", "[]", "the body: use an object"),
            ("/v1/jars/default/decorate", #"{"url":"\ud800"}"#, "line 1, column 15: this escape is half of a"),
        ])
    func kinds(uri: String, body: String, detail: String) async throws {
        let answer = try await ServiceFixture().run { try await $0.send(.post, uri, body) }
        #expect(answer.status == 400 && answer.code == "body-invalid")
        #expect((answer.object["detail"] as? String)?.hasPrefix(detail) == true, "\(answer.text)")
    }

    @Test("The pages and the health routes check their parameters, too")
    func otherParameters() async throws {
        try await RunningServer.with { server in
            let fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(try server.ownerToken)"]
            try await RawConnection.with(port: server.port) { connection in
                for path in [
                    "/healthz", "/readyz", "/metrics", "/", "/jars/work", "/jars/work/changes", "/sign-in",
                    "/inspector.css", "/inspector.js",
                ] {
                    let answer = try await connection.ask("GET", "\(path)?unknown=1", fields)
                    #expect(answer.status == 400 && answer.body.contains("unknown: "), "\(path): \(answer.body)")
                }
                for path in ["/?name=w&after=a", "/jars/work?url=&top-level=", "/sign-in?to=/jars/work", "/healthz?"] {
                    let answer = try await connection.ask("GET", path, fields)
                    #expect(answer.status == 200, "\(path): \(answer.body)")
                }
                // For someone with a browser, as a page.
                for path in [
                    "/?name=%00", "/sign-in?to=%00", "/sign-in?to=a&to=b", "/jars/work?url=https://a.test/&script=x",
                ] {
                    let answer = try await connection.ask("GET", path, fields)
                    #expect(answer.status == 400 && answer.body.contains("<!doctype html>"), "\(path): \(answer.body)")
                }
                let body = try await connection.ask("GET", "/readyz", fields, body: "{}")
                #expect(body.status == 400 && body.body.contains("takes no body"))
            }
        }
    }

    @Test("Invalid scenarios are answered in their position")
    func scenarios() async throws {
        let lines = [
            #"{"id":1,"steps":[],"steps":[]}"#, #"{"id":2,"steps":[],}"#, #"{"id":3,"steps":[]}"#,
            #"{"id":4,"steps":[],"note":""}"#, #"{"id":5,"steps":[],"limits":{"total":1}}"#,
            #"{"id":6,"steps":[{"endSession":true,"note":""}]}"#,
            #"{"id":7,"steps":[{"send":{"url":"https://a.test/","setCookie":[]}}]}"#,
            #"{"id":8,"steps":[{"receive":{"url":"https://a.test/","body":""}}]}"#,
            #"{"id":9,"steps":[{"send":{"url":"https://a.test/","context":{"site":""}}}]}"#,
            #"{"id":10,"steps":[{"receive":{"url":"https://a.test/","setCookie":["a=\udc00"]}}]}"#,
        ]
        let answer = try await ServiceFixture().run {
            try await $0.send(.post, "/v1/simulate", lines.joined(separator: "\n"), type: "application/x-ndjson")
        }
        let answers = answer.text.split(separator: "\n")
        let expected = [
            #"{"error":"steps: this member occurs twice","id":1}"#,
            #"{"error":"line 1, column 20: this is not JSON","id":2}"#, #"{"id":3,"results":[]}"#,
            #"{"error":"note: unknown member","id":4}"#,
            #"{"error":"limits.total: unknown member","id":5}"#,
            #"{"error":"steps.[0].note: unknown member","id":6}"#,
            #"{"error":"steps.[0].send.setCookie: unknown member","id":7}"#,
            #"{"error":"steps.[0].receive.body: unknown member","id":8}"#,
            #"{"error":"steps.[0].send.context.site: unknown member","id":9}"#,
            #"{"error":"line 1, column 76: this escape is half of a surrogate pair","id":10}"#,
        ]
        #expect(answers.map(String.init) == expected)
    }

    @Test("Repeated, invalid and unknown parameters are rejected", arguments: RouteSample.all)
    func parameters(sample: RouteSample) async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(
                sample.method, sample.uri + (sample.uri.contains("?") ? "&" : "?") + "unknown=1", sample.body,
                type: sample.type)
        }
        guard sample.path != LoginCallback.path else {
            // What stands there, an authorization server decides.
            #expect(answer.status == sample.status)
            return
        }
        #expect(answer.status == 400 && answer.code == "parameter-invalid", "\(answer.text)")
        #expect((answer.object["detail"] as? String)?.hasPrefix("unknown: ") == true)
    }

    @Test("A plain object has few members, each of which is compared with all")
    func plainObjects() {
        func object(_ count: Int) -> [UInt8] {
            Array("{\((0..<count).map { "\"m\($0)\":1" }.joined(separator: ","))}".utf8)
        }
        #expect(FlatJSONObject(object(FlatJSONObject.memberLimit))?.count == FlatJSONObject.memberLimit)
        #expect(FlatJSONObject(object(FlatJSONObject.memberLimit + 1)) == nil)
    }

    @Test(
        "The answer to a value that is not permitted lists the permitted ones",
        arguments: [
            ("/v1/jars/default/export", #"{"format":"docx"}"#, "format: use one of netscape, storage-state, "),
            ("/v1/jars/default/script", #"{"urls":["https://a.test/"],"write":"x"}"#, "write: use one of once, "),
            (
                "/v1/logins", #"{"name":"n","flow":"x"}"#,
                "flow: use one of browser, device, client-credentials, jwt-bearer, token-exchange"
            ),
            ("/v1/logins", #"{"name":"n","keyAudience":"x"}"#, "keyAudience: use one of issuer, "),
            ("/v1/logins", #"{"name":"n","authMethod":"x"}"#, "authMethod: use one of none, "),
            ("/v1/logins", #"{"name":"n","issuer":"https://i.test","endpoints":{"x":"y"}}"#, "endpoints: use one of "),
            ("/v1/jars", #"{"name":"n","limits":{"x":1}}"#, "limits: use one of "),
            ("/v1/jars/default/captures?format=docx", "x", "format: use one of har, "),
        ])
    func choices(uri: String, body: String, hint: String) async throws {
        let answer = try await ServiceFixture().run { try await $0.send(.post, uri, body) }
        #expect(answer.status == 400)
        #expect((answer.object["detail"] as? String)?.hasPrefix(hint) == true, "\(answer.text)")
    }

    @Test("A body with a stated length that is too large is rejected before it is sent")
    func length() async throws {
        try await RunningServer.with { server in
            let fields = [
                "Authorization": "Bearer \(try server.ownerToken)", "Content-Type": "application/json",
                "Host": "localhost:\(server.port)",
            ]
            let head = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            for (length, path, expectation) in [
                ("1000000000000", "/v1/jars", ""), ("5242880", "/v1/jars", ""),
                ("1000000000000", "/v1/jars/work/captures", ""), ("18446744073709551615", "/v1/jars", ""),
                ("99999999999999999999999", "/v1/jars", ""), ("5242880", "/v1/jars", "Expect: 100-continue\r\n"),
                ("1000000000000", "/v1/jars/work/captures", "Expect: 100-continue\r\n"),
            ] {
                try await RawConnection.with(port: server.port) { connection in
                    // No octet of it comes, so that the answer waits for none.
                    try await connection.send(
                        "POST \(path) HTTP/1.1\r\n\(head)\(expectation)Content-Length: \(length)\r\n\r\n")
                    let answer = try await connection.answer()
                    #expect(answer.status == 413 && answer.body.contains("body-too-large"), "\(answer.body)")
                }
            }
        }
    }

    @Test("A client that expects 100 (Continue) gets it when its body is read, and only then")
    func expectation() async throws {
        try await RunningServer.with { server in
            func head(_ path: String, _ token: String, _ length: Int) -> String {
                "POST \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: \(length)\r\n\r\n"
            }
            let token = try server.ownerToken
            for (path, token, status) in [
                ("/v1/jars", "none", 401), ("/v1/nothing", token, 404), ("/v1/jars/work/clear", token, 400),
                ("/v1/jars/none/clear?x=1", token, 400),
            ] {
                try await RawConnection.with(port: server.port) { connection in
                    try await connection.send(head(path, token, 2))
                    #expect(try await connection.answer().status == status)
                }
            }
            for (path, body, status) in [
                ("/v1/jars", #"{"name":"new"}"#, 201), ("/v1/simulate", #"{"id":1,"steps":[]}"#, 200),
            ] {
                try await RawConnection.with(port: server.port) { connection in
                    try await connection.send(head(path, token, body.utf8.count))
                    #expect(try await connection.answer().status == 100)
                    try await connection.send(body)
                    #expect(try await connection.answer().status == status)
                }
            }
        }
    }
}
