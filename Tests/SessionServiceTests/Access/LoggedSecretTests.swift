import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import SessionStore
import Testing

@testable import SessionService

@Suite("No secret is in a log, at any level")
struct LoggedSecretTests {
    /// What all secrets of these tests end with, whether they are kept, sent, answered or guessed.
    private static let mark = "-secret"
    private static let reply = #"{"error":"reply-secret","error_description":"reply-secret"}"#

    @Test("No log has a secret for any route, caller and outcome", arguments: RouteSample.all)
    func routes(sample: RouteSample) async throws {
        let authorizations = AuthorizationServer()
        let server = try await RunningServer.with(transport: authorizations) { server in
            try ServiceFixture.fill(server.database)
            let sender = SampleSender(server, sample)
            let owner = try server.token("all", Set(AccessVerb.allCases))
            // Refused: nobody, guesses, and who may not.
            for token in [
                nil, "guessed-secret", "crumb_guessed-secret", owner + "x", try server.revokedToken(),
                try server.token("few", [.read], jars: .named(["work"])), try server.token("none", []),
            ] {
                _ = try await sender.send(token)
            }
            // Not what the route takes.
            for body in ["{\"body-secret\":", #"{"body-secret":"body-secret"}"#, #"{"url":"https://u:url-secret@/"}"#] {
                _ = try await sender.send(owner, body: body)
            }
            _ = try await sender.send(owner, query: "q=query-secret")
            _ = try await sender.send(owner, names: "path-secret")
            _ = try await sender.send(
                owner, fields: ["Idempotency-Key": "key-secret", "Cookie": "c=field-secret", "X-field-secret": "1"])
            // Failing on the way, and what it is meant to do.
            for path in ["/token", "/revoke", "/device"] { authorizations.answer(path, 503, LoggedSecretTests.reply) }
            _ = try await sender.send(owner)
            for path in ["/token", "/revoke", "/device"] { authorizations.answer(path, 400, LoggedSecretTests.reply) }
            _ = try await sender.send(owner)
            for path in ["/token", "/revoke", "/device"] { authorizations.answer(path, 200, "no-json-secret") }
            _ = try await sender.send(owner)
        }
        let secrets = [LoggedSecretTests.mark, try server.ownerToken]
        let log = server.log.text
        #expect(log.contains(#""message":"Request answered""#) && log.contains(#""level":"debug""#))
        let audit = try server.auditLog
        for secret in secrets { #expect(!log.contains(secret) && !audit.contains(secret), "\(secret)") }
    }

    @Test("No log has a secret for requests that match no route, and forms of the inspector")
    func others() async throws {
        let server = try await RunningServer.with { server in
            try ServiceFixture.fill(server.database)
            let token = try server.token("all", Set(AccessVerb.allCases))
            let host = "localhost:\(server.port)"
            let own = ["Host": host, "Origin": "http://\(host)", "Content-Type": "application/x-www-form-urlencoded"]
            try await RawConnection.with(port: server.port) { connection in
                _ = try await connection.ask("POST", "/sign-in", own, body: "token=guessed-secret&to=/to-secret")
                let signedIn = try await connection.ask("POST", "/sign-in", own, body: "token=\(token)")
                let cookie = try #require(signedIn.fields["set-cookie"]?.split(separator: ";").first.map(String.init))
                let fields = ["Host": host, "Cookie": cookie]
                for path in ["/", "/jars/default?url=https://u:url-secret@x/", "/jars/path-secret", "/none-secret"] {
                    _ = try await connection.ask("GET", path, fields)
                }
                _ = try await connection.ask(
                    "POST", "/jars/default/reveal", own.merging(fields) { $1 }, body: "cookie=key-secret")
                _ = try await connection.ask("POST", "/sign-out", own.merging(fields) { $1 }, body: "a=form-secret")
                for path in ["/v1/path-secret", "/healthz?q=query-secret", "/metrics?q=query-secret"] {
                    _ = try await connection.ask("GET", path, ["Host": host, "Authorization": "Bearer \(token)"])
                }
                _ = try await connection.ask("GET", "/healthz", ["Host": "host-secret.example"])
                _ = try await connection.ask(
                    "GET", "/healthz", ["Host": host, "Origin": "http://origin-secret.example"])
                try await connection.send("GARBAGE garbage-secret\r\n\r\n")
                _ = try await connection.answer()
            }
            let long = String(repeating: "long-secret", count: 4000)
            for head in ["GET /\(long) HTTP/1.1\r\n\r\n", "\u{16}\u{3}tls-secret\r\n\r\n"] {
                try await RawConnection.with(port: server.port) { connection in
                    try await connection.send(head)
                    _ = try? await connection.answer()
                }
            }
        }
        let log = server.log.text
        for secret in [LoggedSecretTests.mark, try server.ownerToken] { #expect(!log.contains(secret), "\(secret)") }
    }
}

/// Asks what a row of the route table says, with changes.
private struct SampleSender {
    private let server: RunningServer
    private let sample: RouteSample

    init(_ server: RunningServer, _ sample: RouteSample) {
        self.server = server
        self.sample = sample
    }

    /// - Parameter names: stands for every name in the path.
    func send(
        _ token: String?, body: String? = nil, query: String? = nil, names: String? = nil,
        fields: [String: String] = [:]
    ) async throws -> RawConnection.Answer {
        var uri = sample.uri
        if let names {
            for name in ["default", "work", "none", "sid", "monday"] {
                uri = uri.replacing("/\(name)", with: "/\(names)")
            }
        }
        if let query { uri += (uri.contains("?") ? "&" : "?") + query }
        var fields = fields
        fields["Host"] = "localhost:\(server.port)"
        fields["Authorization"] = token.map { "Bearer \($0)" }
        let sent = sample.body == nil ? body : body ?? sample.body
        if sent != nil { fields["Content-Type"] = sample.type }
        return try await RawConnection.with(port: server.port) { [fields, uri] connection in
            try await connection.ask(sample.method.rawValue, uri, fields, body: sent)
        }
    }
}
