import CookieModel
import Foundation
import OAuth2
import SessionStore
import Testing

@testable import SessionService

@Suite("Who is admitted, and for what")
struct AdmissionTests {
    private static let body = #"{"url": "https://www.example.com/"}"#

    /// Who asks, and how they come.
    enum Bearer: String, CaseIterable, Sendable {
        case nobody, owner, secrets, read, write, otherJar, revoked, expired, unknown
    }

    @Test("Grants and ways in", arguments: Bearer.allCases, [true, false])
    func grants(bearer: Bearer, isSocket: Bool) async throws {
        // What `decorate` of the jar `work` answers: it needs `secrets`.
        let expected: Int =
            switch (bearer, isSocket) {
            case (.nobody, true), (.owner, _), (.secrets, _): 200
            case (.read, _), (.write, _): 403
            // A jar that the token is not for is one that is not there.
            case (.otherJar, _): 404
            case (.nobody, false), (.revoked, _), (.expired, _), (.unknown, _): 401
            }
        try await RunningServer.with { server in
            let token: String? =
                switch bearer {
                case .nobody: nil
                case .owner: try server.ownerToken
                case .secrets: try server.token("t", [.secrets], jars: .named(["work"]))
                case .read: try server.token("t", [.read])
                case .write: try server.token("t", [.write], jars: .named(["work"]))
                case .otherJar: try server.token("t", Set(AccessVerb.allCases), jars: .named(["other"]))
                case .revoked: try server.revokedToken()
                case .expired: try server.expiredToken()
                case .unknown: "crumb_" + String(repeating: "A", count: 43)
                }
            let status = try await RawConnection.with(
                path: isSocket ? server.socket : nil, port: server.port
            ) { connection in
                try await connection.ask(
                    "POST", "/v1/jars/work/decorate",
                    [
                        "Host": isSocket ? "x" : "127.0.0.1:\(server.port)",
                        "Authorization": token.map { "Bearer \($0)" } ?? "",
                    ], body: AdmissionTests.body
                ).status
            }
            #expect(status == expected)
        }
    }

    @Test("A token that is revoked opens nothing from the next request on, on a connection that stays")
    func revoked() async throws {
        try await RunningServer.with { server in
            let token = try server.token("ci", [.secrets])
            try await RawConnection.with(port: server.port) { connection in
                let fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"]
                for expected in [200, 200] {
                    let answer = try await connection.ask(
                        "POST", "/v1/jars/work/decorate", fields, body: AdmissionTests.body)
                    #expect(answer.status == expected)
                }
                // By another process, as far as the service can tell.
                let key = try #require(SealingKey(bytes: Array(1...32)))
                let other = try SessionDatabase(path: server.database.path, keys: .key(key), now: RunningServer.now)
                #expect(try other.serviceTokens.revoke(named: "ci", now: RunningServer.now))
                let answer = try await connection.ask(
                    "POST", "/v1/jars/work/decorate", fields, body: AdmissionTests.body)
                #expect(answer.status == 401 && answer.body.contains(#""code":"token-refused""#))
            }
        }
    }

    /// What a browser sends for somebody else's page, and what tools send, and how each is answered with a good token.
    private static let requests: [(name: String, method: String, fields: [String: String], status: Int)] = [
        ("a tool", "POST", [:], 200),
        ("rebinding", "POST", ["Host": "evil.test:PORT"], 421),
        ("rebinding without a port", "POST", ["Host": "evil.test"], 421),
        ("another port's name", "POST", ["Host": "localhost:1"], 421),
        ("a name that is allowed", "POST", ["Host": "crumb.example"], 200),
        ("a foreign page's script", "POST", ["Origin": "https://evil.test"], 403),
        ("a sandboxed page", "POST", ["Origin": "null"], 403),
        ("the same name on another port", "POST", ["Origin": "http://localhost:1"], 403),
        ("the same name with TLS", "POST", ["Origin": "https://localhost:PORT"], 403),
        ("an own page's script", "POST", ["Origin": "http://localhost:PORT"], 200),
        ("a link on a foreign page", "POST", ["Sec-Fetch-Site": "cross-site"], 403),
        ("a page on another port", "POST", ["Sec-Fetch-Site": "same-site"], 403),
        ("an own page", "POST", ["Sec-Fetch-Site": "same-origin"], 200),
        ("a CORS preflight", "OPTIONS", ["Origin": "https://evil.test", "Access-Control-Request-Method": "POST"], 403),
        ("a form", "POST", ["Content-Type": "application/x-www-form-urlencoded"], 415),
        ("a form with files", "POST", ["Content-Type": "multipart/form-data; boundary=x"], 415),
        ("a form of plain text", "POST", ["Content-Type": "text/plain"], 415),
        ("a form that shouts", "POST", ["Content-Type": " TEXT/Plain ; charset=x"], 415),
        ("two types", "POST", ["Content-Type": "text/plain, application/json"], 415),
        (
            "a form of an own page", "POST",
            [
                "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://localhost:PORT",
            ], 415
        ),
        ("an encoded body", "POST", ["Content-Encoding": "gzip"], 415),
        ("no scheme", "POST", ["Authorization": "TOKEN"], 401),
        ("another scheme", "POST", ["Authorization": "Basic TOKEN"], 401),
        ("a token with more behind", "POST", ["Authorization": "Bearer TOKENx"], 401),
        ("two tokens", "POST", ["Authorization": "Bearer TOKEN TOKEN"], 401),
        ("two spaces", "POST", ["Authorization": "Bearer  TOKEN"], 401),
        ("a scheme in lower case", "POST", ["Authorization": "bearer TOKEN"], 200),
    ]

    @Test("Requests of foreign pages, and of tools", arguments: requests.map(\.name))
    func places(name: String) async throws {
        let request = try #require(AdmissionTests.requests.first { $0.name == name })
        try await RunningServer.with {
            $0.hosts = ["crumb.example"]
        } _: { server in
            let token = try server.token("t", [.secrets])
            var fields = ["Host": "localhost:PORT", "Authorization": "Bearer TOKEN"]
            fields.merge(request.fields) { $1 }
            let sent = fields.mapValues {
                $0.replacing("PORT", with: "\(server.port)").replacing("TOKEN", with: token)
            }
            try await RawConnection.with(port: server.port) { connection in
                let answer = try await connection.ask(
                    request.method, "/v1/jars/work/decorate", sent, body: AdmissionTests.body)
                #expect(answer.status == request.status, "\(answer.body)")
                #expect(!answer.fields.keys.contains { $0.hasPrefix("access-control") })
                #expect(answer.status == 200 || !answer.body.contains("c00kie-secret"))
            }
        }
    }

    @Test(
        "Heads that two readers could read in two ways",
        arguments: [
            ("GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET http://evil.test/healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("CONNECT evil.test:443 HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            // A router passes over the empty segment, so that this would be a path of the API after all.
            ("GET //v1/jars HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET /v1//jars HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET //metrics HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET /%761/jars HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 404),
            ("GET /?to=//v1 HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 303),
            ("GET /healthz HTTP/1.1\r\n\r\n", 400), ("OPTIONS * HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
        ])
    func ambiguous(text: String, status: Int) async throws {
        try await RunningServer.with { server in
            try await RawConnection.with(port: server.port) { connection in
                try await connection.send(text.replacing("PORT", with: "\(server.port)"))
                #expect(try await connection.answer().status == status)
            }
        }
    }

    @Test(
        "The inspector's paths are none that the API or the monitoring has",
        arguments: [
            ("/", true), ("/jars/work", true), ("/sign-in", true), ("/v1x", true), ("/jars/v1", true), ("", true),
            ("/v1", false), ("/v1/", false), ("/v1/jars", false), ("//v1/jars", false), ("///v1", false),
            ("/metrics", false), ("//metrics/", false),
        ])
    func inspectorPaths(path: String, isInspectors: Bool) {
        #expect(InspectorPath.contains(path) == isInspectors)
    }

    @Test("Guesses are slowed down; who has a token is not, though they come from the same address")
    func guesses() async throws {
        try await RunningServer.with {
            $0.limits.failedAttemptsPerMinute = 3
        } _: { server in
            let token = try server.token("t", [.secrets])
            try await RawConnection.with(port: server.port) { connection in
                var statuses: [Int] = []
                for _ in 0..<5 {
                    let answer = try await connection.ask(
                        "GET", "/readyz", ["Host": "localhost:\(server.port)", "Authorization": "Bearer nonsense"])
                    statuses.append(answer.status)
                    if answer.status == 429 { #expect(answer.fields["retry-after"] != nil) }
                }
                #expect(statuses == [401, 401, 401, 429, 429])
                let answer = try await connection.ask(
                    "GET", "/readyz", ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"])
                #expect(answer.status == 200)
            }
        }
    }

    @Test("Guesses at the inspector's sign-in count with the others; the right token opens it all the same")
    func guessesAtSignIn() async throws {
        try await RunningServer.with {
            $0.limits.failedAttemptsPerMinute = 3
        } _: { server in
            let token = try server.token("t", [.read])
            let host = "localhost:\(server.port)"
            let form = [
                "Host": host, "Origin": "http://\(host)", "Content-Type": "application/x-www-form-urlencoded",
            ]
            try await RawConnection.with(port: server.port) { connection in
                var statuses: [Int] = []
                for _ in 0..<4 {
                    let answer = try await connection.ask("POST", "/sign-in", form, body: "token=nonsense")
                    statuses.append(answer.status)
                    if answer.status == 429 { #expect(answer.fields["retry-after"] != nil) }
                }
                #expect(statuses == [403, 403, 403, 429])
                let bearer = try await connection.ask(
                    "GET", "/readyz", ["Host": host, "Authorization": "Bearer nonsense"])
                #expect(bearer.status == 429)
                #expect(try await connection.ask("POST", "/sign-in", form, body: "token=\(token)").status == 303)
            }
        }
    }

    @Test("A caller that asks too often is told to wait; others are not")
    func rate() async throws {
        try await RunningServer.with {
            $0.limits.requestsPerSecond = 1
            $0.limits.requestBurst = 3
        } _: { server in
            let tokens = [try server.token("a", [.read]), try server.token("b", [.read])]
            try await RawConnection.with(port: server.port) { connection in
                for token in tokens {
                    var refused = 0
                    for _ in 0..<20 {
                        let answer = try await connection.ask(
                            "GET", "/metrics", ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"])
                        if answer.status == 429 { refused += 1 } else { #expect(answer.status == 200) }
                    }
                    #expect((1...17).contains(refused))
                }
            }
        }
    }

    @Test("No secret that goes in or out is in a log, at whatever level, nor in the audit log")
    func logs() async throws {
        let log = try await withServerLog { server in
            let token = try server.token("ci", [.secrets])
            try await RawConnection.with(port: server.port) { connection in
                let host = ["Host": "localhost:\(server.port)"]
                for value in [token, token + "x", "crumb_guessed-secret"] {
                    _ = try await connection.ask(
                        "POST", "/v1/jars/work/decorate?q=query-secret",
                        host.merging(["Authorization": "Bearer \(value)", "Cookie": "a=cookie-field-secret"]) { $1 },
                        body: AdmissionTests.body)
                }
                for body in ["{\"url\": \"https://u:password-secret@x/\"}", "{body-secret", "{\"url\": 3}"] {
                    _ = try await connection.ask(
                        "POST", "/v1/jars/work/decorate", host.merging(["Authorization": "Bearer \(token)"]) { $1 },
                        body: body)
                }
                _ = try await connection.ask(
                    "POST", "/v1/path-secret", host.merging(["Authorization": "Bearer \(token)"]) { $1 })
                try await connection.send("GARBAGE garbage-secret\r\n\r\n")
                _ = try await connection.answer()
            }
            return token
        }
        for secret in ["-secret", log.token, log.owner] {
            #expect(!log.text.contains(secret) && !log.audit.contains(secret), "\(secret)")
        }
        #expect(log.text.contains(#""message":"Request answered""#))
        // One for each site that was asked for, in no order.
        let entry = try #require(log.audit.split(separator: "\n").first { $0.contains(#""site":"www.example.com""#) })
        #expect(entry.contains(#""caller":"ci""#) && entry.contains(#""jar":"work""#))
        #expect(entry.contains(#""kind":"cookie-field""#))
    }

    private struct Logs: Sendable {
        let text: String
        let audit: String
        let token: String
        let owner: String
    }

    /// What there is to read after a service has stopped.
    private func withServerLog(
        _ body: @escaping @Sendable (RunningServer) async throws -> String
    ) async throws -> Logs {
        let kept = Kept()
        try await RunningServer.with { server in
            kept.keep(server, try await body(server), try server.ownerToken)
        }
        return try kept.logs()
    }

    private final class Kept: @unchecked Sendable {
        // Written by the test's body, read after it.
        private var server: RunningServer?
        private var token = ""
        private var owner = ""

        func keep(_ server: RunningServer, _ token: String, _ owner: String) {
            (self.server, self.token, self.owner) = (server, token, owner)
        }

        func logs() throws -> Logs {
            let server = try #require(server)
            return Logs(text: server.log.text, audit: try server.auditLog, token: token, owner: owner)
        }
    }
}

extension RunningServer {
    func revokedToken() throws -> String {
        let token = try token("gone", Set(AccessVerb.allCases))
        _ = try database.serviceTokens.revoke(named: "gone", now: RunningServer.now)
        return token
    }

    func expiredToken() throws -> String {
        var generator = SystemRandomNumberGenerator()
        let token = try database.serviceTokens.create(
            named: "late", grant: .everything, expiry: RunningServer.now, now: RunningServer.now, using: &generator)
        return try #require(token.exposedText)
    }
}
