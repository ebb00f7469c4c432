import CookieModel
import Foundation
import OAuth2
import SessionStore
import Testing

@testable import SessionService

@Suite("Admission of requests")
struct AdmissionTests {
    private static let body = #"{"url": "https://www.example.com/"}"#

    /// Who asks, and how they come.
    enum Bearer: String, CaseIterable, Sendable {
        case nobody, owner, secrets, read, write, otherJar, revoked, expired, unknown
    }

    @Test(
        "Each listener admits the callers in the table, with their grants", arguments: Bearer.allCases, [true, false])
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

    @Test("A revoked token is invalid from the next request on, even on an open connection")
    func revoked() async throws {
        try await RunningServer.with { server in
            let token = try server.token("ci", [.secrets])
            try await RawConnection.with(port: server.port) { connection in
                let fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"]
                for blanks in [" ", "  "] {
                    let answer = try await connection.ask(
                        "POST", "/v1/jars/work/decorate",
                        fields.merging(["Authorization": "bearer\(blanks)\(token)"]) { $1 }, body: AdmissionTests.body)
                    #expect(answer.status == 200)
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

    @Test(
        "A head that two parsers could read differently is rejected",
        arguments: [
            ("GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET http://evil.test/healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("CONNECT evil.test:443 HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            // A router passes over the empty segment, so that this would be a path of the API after all.
            ("GET //v1/jars HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET /v1//jars HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET //metrics HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400),
            ("GET /%761/jars HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 404),
            ("GET /?name=//v1 HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 303),
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
        "The inspector's paths differ from those of the API and the monitoring",
        arguments: [
            ("/", true), ("/jars/work", true), ("/sign-in", true), ("/v1x", true), ("/jars/v1", true), ("", true),
            ("/v1", false), ("/v1/", false), ("/v1/jars", false), ("//v1/jars", false), ("///v1", false),
            ("/metrics", false), ("//metrics/", false),
        ])
    func inspectorPaths(path: String, isInspectors: Bool) {
        #expect(InspectorPath.contains(path) == isInspectors)
    }

    @Test("Guesses are slowed down; a caller with a token is not, even from the same address")
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

    @Test("Guesses at the inspector's sign-in count with the others; the right token works all the same")
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

    @Test("A malformed form at the inspector's sign-in is an invalid request, and counts with the other failures")
    func malformedSignIns() async throws {
        let bodies = ["token=%zz", "token=a&token=b", "token[=1", "token=%FF", "to=/"]
        try await RunningServer.with {
            $0.limits.failedAttemptsPerMinute = bodies.count
        } _: { server in
            let host = "localhost:\(server.port)"
            let form = [
                "Host": host, "Origin": "http://\(host)", "Content-Type": "application/x-www-form-urlencoded",
            ]
            try await RawConnection.with(port: server.port) { connection in
                for body in bodies {
                    let answer = try await connection.ask("POST", "/sign-in", form, body: body)
                    #expect(answer.status == 400, "\(body): \(answer.body)")
                }
                #expect(try await connection.ask("POST", "/sign-in", form, body: "token=%zz").status == 429)
            }
        }
    }

    @Test("A caller that sends too many requests is told to wait; others are not")
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
                    #expect(refused == 17)
                }
            }
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

@Suite("The owner's access token")
struct OwnerTokenTests {
    @Test("A service with a shared database needs a copy of the token file, and ends no token of another machine")
    func shared() throws {
        let folder = TemporaryFolder()
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(path: "", keys: .key(key), durability: .memory, now: RunningServer.now)
        func prepare(_ name: String, isShared: Bool = true) throws -> Bool {
            try OwnerToken(path: folder.file(name)).prepare(
                database.serviceTokens, isShared: isShared, now: RunningServer.now)
        }
        #expect(try prepare("first"))
        #expect { try prepare("second") } throws: { ($0 as? ServiceStartError)?.code == .fileUnusable }
        #expect(try !prepare("first"))
        // The only service of a database has no other to end.
        #expect(try prepare("second", isShared: false))
        #expect { try prepare("first") } throws: { ($0 as? ServiceStartError)?.code == .fileUnusable }
    }
}
