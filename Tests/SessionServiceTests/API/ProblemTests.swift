import HTTPTypes
import SessionStore
import Testing

@testable import SessionService

@Suite("Failures are problems with a stable code")
struct ProblemTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let uri: String
        let body: String?
        let status: Int
        let code: String

        init(_ method: HTTPRequest.Method, _ uri: String, _ body: String?, _ status: Int, _ code: String) {
            self.method = method
            self.uri = uri
            self.body = body
            self.status = status
            self.code = code
        }

        init(_ method: HTTPRequest.Method, _ uri: String, _ status: Int, _ code: String) {
            self.init(method, uri, nil, status, code)
        }

        var testDescription: String { "\(method) \(uri) \(body ?? "") \(code)" }
    }

    private static let jar = "/v1/jars/default"

    private static let rows: [Row] = [
        // Paths
        Row(.get, "/nothing", 404, "not-found"), Row(.get, "/v1/jars/a/b/c/d", 404, "not-found"),
        Row(.put, "/v1/jars", 405, "method-not-allowed"), Row(.post, "/v1/jars/default", 405, "method-not-allowed"),
        Row(.options, "/v1/jars", 405, "method-not-allowed"), Row(.trace, "/nothing", 404, "not-found"),
        Row(.post, "/healthz", 405, "method-not-allowed"), Row(.delete, "/metrics", 405, "method-not-allowed"),
        Row(HTTPRequest.Method("PROPFIND") ?? .get, "/v1/jars", 501, "method-unknown"),
        Row(HTTPRequest.Method("PROPFIND") ?? .get, "/nothing", 501, "method-unknown"),
        Row(.get, "/v1/jars/%FF", 400, "path-invalid"),
        Row(.get, "/v1/jars/fourth", 404, "jar-not-found"), Row(.get, "\(jar)/cookies/none", 404, "cookie-not-found"),
        // Bodies
        Row(.post, "\(jar)/decorate", "{}", 400, "body-invalid"),
        Row(.post, "\(jar)/decorate", "no JSON", 400, "body-invalid"),
        Row(.post, "\(jar)/decorate", #"{"url":7}"#, 400, "body-invalid"),
        Row(.post, "\(jar)/decorate", #"{"url":"https://a.test/","toplevel":"x"}"#, 400, "body-invalid"),
        Row(.post, "\(jar)/decorate", #"{"url":"example.com"}"#, 400, "url-invalid"),
        Row(.post, "\(jar)/decorate", #"{"url":"ftp://example.com/"}"#, 400, "url-invalid"),
        Row(.post, "\(jar)/decorate", #"{"url":"https://a.test/","initiator":"b"}"#, 400, "url-invalid"),
        Row(
            .post, "\(jar)/decorate", #"{"url":"https://a.test/","headers":[{"name":"cookie"}]}"#, 400, "body-invalid"),
        Row(
            .post, "\(jar)/responses",
            #"{"url":"https://a.test/","headers":[{"name":"set-cookie","valueBase64":"*"}]}"#,
            400, "body-invalid"),
        Row(.post, "\(jar)/responses", #"{"url":"https://a.test/","status":9,"headers":[]}"#, 400, "body-invalid"),
        Row(
            .post, "\(jar)/responses", #"{"url":"https://a.test/","headers":[],"received":"today"}"#, 400,
            "body-invalid"),
        Row(.post, "\(jar)/cookies", #"{"url":"https://a.test/"}"#, 400, "body-invalid"),
        Row(.post, "\(jar)/script", #"{"urls":[]}"#, 400, "body-invalid"),
        Row(
            .post, "\(jar)/script",
            "{\"urls\":[\(Array(repeating: "\"https://a.test/\"", count: 1001).joined(separator: ","))]}", 400,
            "body-invalid"),
        Row(.post, "\(jar)/script", #"{"urls":["https://a.test/"],"write":"never"}"#, 400, "body-invalid"),
        Row(.post, "\(jar)/export", #"{"format":"docx"}"#, 400, "body-invalid"),
        Row(.post, "\(jar)/export", #"{"format":"header"}"#, 400, "url-missing"),
        Row(.post, "\(jar)/export", #"{"format":"json","method":"POST"}"#, 400, "body-invalid"),
        // Jars
        Row(.post, "/v1/jars", #"{"name":"default"}"#, 409, "jar-exists"),
        Row(.post, "/v1/jars", #"{"name":""}"#, 400, "name-invalid"), Row(.post, "/v1/jars", "{}", 400, "body-invalid"),
        Row(.patch, jar, #"{"profile":"ie6"}"#, 400, "body-invalid"),
        Row(.patch, jar, #"{"limits":{"all":1}}"#, 400, "body-invalid"),
        Row(.patch, jar, #"{"limits":{"total-cookies":-1}}"#, 400, "body-invalid"),
        Row(.patch, jar, #"{"name":"x"}"#, 400, "body-invalid"),
        Row(
            .put, "\(jar)/login-rules/x",
            #"{"scope":"https://*.example/","profile":"work","delivery":"authorization"}"#, 400, "login-rule-invalid"),
        Row(.post, "\(jar)/copy", #"{"to":"other"}"#, 409, "jar-exists"),
        Row(.post, "\(jar)/merge", #"{"to":"fourth"}"#, 404, "jar-not-found"),
        Row(.post, "\(jar)/snapshots/none/restore", 404, "session-not-found"),
        Row(.post, "\(jar)/prune", #"{"journalEntries":-1}"#, 400, "body-invalid"),
        // Parameters
        Row(.get, "\(jar)/cookies?nmae=sid", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?limit=0", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?limit=5&limit=6", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?cursor=yesterday", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?cursor=", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?session=1", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?domain=a%20b", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?name=%FF", 400, "parameter-invalid"),
        Row(.get, "\(jar)/cookies?url=nowhere", 400, "url-invalid"),
        Row(.delete, "\(jar)/cookies", 400, "parameter-missing"),
        Row(.delete, "\(jar)/cookies?name=none", 404, "cookie-not-found"),
        Row(.get, "\(jar)/capture-script", 400, "parameter-missing"),
        Row(.get, "\(jar)/capture-script?handler=a-b", 400, "parameter-invalid"),
        Row(.get, "\(jar)/changes?after=-1", 400, "parameter-invalid"),
        Row(.post, "\(jar)/captures?format=docx", "x", 400, "parameter-invalid"),
        Row(.post, "\(jar)/captures?format=firefox", "x", 422, "input-unrecognized"),
        Row(.post, "\(jar)/captures", "SQLite format 3\0…", 422, "input-unrecognized"),
        // U+0000
        Row(.get, "/v1/jars/default%00", 400, "path-invalid"), Row(.get, "/v1/tokens/work%00x", 400, "path-invalid"),
        Row(.delete, "/v1/tokens/work%00x", 400, "path-invalid"), Row(.get, "/v1/gateways/a%00", 400, "path-invalid"),
        Row(.delete, "\(jar)/login-rules/main%00", 400, "path-invalid"),
        Row(.delete, "\(jar)/header-fields/X-Key%00", 400, "path-invalid"),
        Row(.post, "\(jar)/snapshots/monday%00/restore", 400, "path-invalid"),
        Row(.post, "\(jar)/captures?source=a%00b", "x", 400, "parameter-invalid"),
        Row(.post, "/v1/jars", #"{"name":"a\u0000b"}"#, 400, "name-invalid"),
        Row(.post, "\(jar)/copy", #"{"to":"a\u0000b"}"#, 400, "name-invalid"),
        Row(.post, "\(jar)/snapshots", #"{"name":"a\u0000b"}"#, 400, "name-invalid"),
        Row(
            .put, "\(jar)/login-rules/x",
            #"{"scope":"https://a.test/","profile":"work\u0000","delivery":"authorization","statuses":[401]}"#, 400,
            "name-invalid"),
        Row(.post, "/v1/logins", #"{"name":"a\u0000b","issuer":"https://id.test"}"#, 400, "name-invalid"),
        Row(.post, "/v1/logins", #"{"name":"new","account":"a\u0000b"}"#, 400, "body-invalid"),
        // Tokens
        Row(.get, "/v1/tokens/none", 404, "token-not-found"), Row(.delete, "/v1/tokens/none", 404, "token-not-found"),
        Row(.post, "/v1/tokens/work/access-token", #"{"skew":-1}"#, 400, "body-invalid"),
        Row(.post, "/v1/tokens/work/access-token", #"{"method":"GET"}"#, 400, "body-invalid"),
        Row(.post, "/v1/tokens/work/access-token", #"{"nonce":"n"}"#, 400, "body-invalid"),
        Row(.post, "/v1/tokens/work/access-token", #"{"url":""}"#, 400, "url-invalid"),
        Row(.post, "/v1/tokens/work/access-token", #"{"url":"https://a.test/","method":""}"#, 400, "body-invalid"),
        Row(.post, "/v1/logins", #"{"name":"new"}"#, 422, "token-settings-missing"),
        Row(.post, "/v1/logins", #"{"name":"new","issuer":"http://id.test"}"#, 422, "token-settings-missing"),
        Row(.post, "/v1/logins", #"{"name":"new","issuer":"https://gone.test"}"#, 502, "server-unavailable"),
        Row(.get, "/v1/logins/none", 404, "login-not-found"),
    ]

    @Test("Each failure has the status of its kind", arguments: rows)
    func problem(row: Row) async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(row.method, row.uri, row.body)
        }
        #expect(answer.status == row.status, "\(answer.text)")
        #expect(answer.code == row.code, "\(answer.text)")
        #expect(answer.object["status"] as? Int == row.status)
        #expect(answer.object["detail"] as? String != "")
    }

    @Test("A missing resource is named without advice for a command line that the caller may not have")
    func missing() async throws {
        try await ServiceFixture().run { client in
            for (method, uri, detail) in [
                (.delete, "/v1/jars/x", "x: no such jar"),
                (.post, "/v1/jars/x/clear", "x: no such jar"),
                (.get, "/v1/jars/x", "x: no such jar"),
                (.get, "/v1/tokens/x", "x: there is no token with this name"),
                (.delete, "/v1/tokens/x", "x: there is no token with this name"),
                (.delete, "/v1/jars/default/snapshots/x", "x: jar 'default' has no saved session with this name"),
            ] as [(HTTPRequest.Method, String, String)] {
                let answer = try await client.send(method, uri)
                #expect(answer.status == 404 && answer.object["detail"] as? String == detail, "\(answer.text)")
            }
        }
    }

    @Test("The answer to an unknown method lists the supported ones")
    func methods() throws {
        let words = ServiceFailure.methodUnknown.detail.split { !$0.isLetter }.map(String.init)
        let methods = Set(try ServiceFixture().api.routes.map(\.method.rawValue)).union(["HEAD"])
        #expect(methods.isSubset(of: words))
    }

    @Test("The answer to a wrong method for a path lists the right ones")
    func allow() async throws {
        let answer = try await ServiceFixture().run { try await $0.send(.put, "/v1/jars/default/cookies") }
        #expect(answer.status == 405 && answer.fields[.allow] == "DELETE, GET, HEAD, POST")
    }

    @Test("A token without sufficient rights is told which ones are required")
    func forbidden() async throws {
        let named = AccessGrant(verbs: [.write], jars: .named(["default"]))
        let pairs: [(AccessGrant, HTTPRequest.Method, String, String)] = [
            (named, .post, "/v1/jars", "This requires an access token for all jars."),
            (AccessGrant(verbs: [.read]), .post, "/v1/jars", "This requires an access token with 'write'."),
            (named, .get, "/v1/jars/default", "This requires an access token with 'read'."),
        ]
        for (grant, method, uri, detail) in pairs {
            let answer = try await ServiceFixture().run(grant) { try await $0.send(method, uri, "{}") }
            #expect(answer.status == 403 && answer.object["detail"] as? String == detail, "\(answer.text)")
        }
    }

    @Test(
        "A body that is not declared as JSON is rejected, because a page of another origin could send it",
        arguments: ["text/plain", "application/x-www-form-urlencoded", ""])
    func mediaType(type: String) async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(.post, "/v1/jars/default/decorate", #"{"url":"https://a.test/"}"#, type: type)
        }
        #expect(answer.status == 415 && answer.code == "media-type-unsupported")
    }

    @Test("A body that is too large is rejected")
    func tooLarge() async throws {
        let body = #"{"url":"https://a.test/","method":""# + String(repeating: "A", count: 5 << 20) + #""}"#
        let answer = try await ServiceFixture().run { try await $0.send(.post, "/v1/jars/default/decorate", body) }
        #expect(answer.status == 413 && answer.code == "body-too-large")
    }

    @Test("An unexpected error reveals no details")
    func unexpected() {
        struct Surprise: Error { let secret = "cookie-secret" }
        let problem = ServiceFailure(Surprise() as any Error)
        #expect(problem.status == .internalServerError && problem.code == "internal-error")
        #expect(!problem.detail.contains("secret"))
    }
}
