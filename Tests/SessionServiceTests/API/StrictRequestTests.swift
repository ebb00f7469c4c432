import CookieModel
import HTTPTypes
import Testing

@testable import SessionService

@Suite("What a request says twice, wrongly or in addition is refused, on every route")
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
            ("{\"\(name)\":0,\(rest)", "\(name): this member is there twice"),
            ("{\"\(escaped)\":0,\(rest)", "\(name): this member is there twice"),
            ("{\"more\":[{\"x\":1,\"x\":2}],\(rest)", "more.[0].x: this member is there twice"),
            ("\(body.dropLast()),}", "this is not JSON"), ("{\"x\":\(deep),\(rest)", "nested"),
            ("{\(many)\(rest)", "at most 10000 members"), ("\u{FEFF}\(body)", "byte order mark"),
        ]
        let octets: [(bytes: [UInt8], reason: String)] = [
            (utf16, "UTF-16"), ([0xFF, 0xFE] + utf16, "UTF-16"), (latin1, "this is not UTF-8"),
        ]
        return texts.map { (bytes: Array($0.utf8), reason: $1) } + octets
    }

    @Test("Bodies", arguments: documents)
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

    @Test("Every route with a body is among them")
    func complete() {
        #expect(Set(Self.documents.map(\.path)).count >= 18)
    }

    @Test("Scenarios are answered in their place")
    func scenarios() async throws {
        let lines = [
            #"{"id":1,"steps":[],"steps":[]}"#, #"{"id":2,"steps":[],}"#, #"{"id":3,"steps":[]}"#,
        ]
        let answer = try await ServiceFixture().run {
            try await $0.send(.post, "/v1/simulate", lines.joined(separator: "\n"), type: "application/x-ndjson")
        }
        let answers = answer.text.split(separator: "\n")
        #expect(answers.count == 3)
        #expect(answers.first == #"{"error":"steps: this member is there twice","id":1}"#)
        #expect(answers.last == #"{"id":3,"results":[]}"#)
        #expect(answers.dropFirst().first?.contains("\"error\"") == true)
    }

    @Test("Parameters", arguments: RouteSample.all)
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

    @Test("The parameters of each route are those of its document")
    func documented() throws {
        let operations = try APIDocument().operations
        for route in try ServiceFixture().api.routes {
            let parameters = operations["\(route.method) \(route.path)"]?["parameters"] as? [[String: Any]] ?? []
            let names = parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String }
            #expect(route.parameters.map { $0 == Set(names) } ?? true, "\(route.method) \(route.path)")
        }
    }

    @Test("A plain object has few members, each of which is compared with all")
    func plainObjects() {
        func object(_ count: Int) -> [UInt8] {
            Array("{\((0..<count).map { "\"m\($0)\":1" }.joined(separator: ","))}".utf8)
        }
        #expect(PlainObject(object(PlainObject.memberLimit))?.count == PlainObject.memberLimit)
        #expect(PlainObject(object(PlainObject.memberLimit + 1)) == nil)
    }

    @Test(
        "A value that is none of a few is answered with all of them",
        arguments: [
            ("/v1/jars/default/export", #"{"format":"docx"}"#, "format: use one of netscape, storage-state, "),
            ("/v1/jars/default/script", #"{"urls":["https://a.test/"],"write":"x"}"#, "write: use one of once, "),
            ("/v1/logins", #"{"name":"n","flow":"x"}"#, "flow: use one of browser, device, client-credentials"),
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

    @Test("A body that says itself that it is too large is refused before it comes")
    func length() async throws {
        try await RunningServer.with { server in
            let fields = [
                "Authorization": "Bearer \(try server.ownerToken)", "Content-Type": "application/json",
                "Host": "localhost:\(server.port)",
            ]
            let head = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            for (length, path) in [
                (1_000_000_000_000, "/v1/jars"), (5 << 20, "/v1/jars"),
                (1_000_000_000_000, "/v1/jars/work/captures"),
            ] {
                try await RawConnection.with(port: server.port) { connection in
                    // No octet of it comes, so that the answer waits for none.
                    try await connection.send("POST \(path) HTTP/1.1\r\n\(head)Content-Length: \(length)\r\n\r\n")
                    let answer = try await connection.answer()
                    #expect(answer.status == 413 && answer.body.contains("body-too-large"), "\(answer.body)")
                }
            }
        }
    }
}
