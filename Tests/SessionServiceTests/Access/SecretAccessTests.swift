import CookieModel
import Foundation
import HTTPTypes
import SessionStore
import Testing

@testable import SessionService

@Suite("The audit log records the reader of a secret")
struct SecretAccessTests {
    /// Whether a route can answer a secret, by what it says of itself: it is for whoever may see secrets, first of all,
    /// or shows values where it is asked to.
    private static func givesSecrets(_ sample: RouteSample) throws -> (always: Bool, withValues: Bool) {
        let operation = try #require(try APIDocument().operations["\(sample.method) \(sample.path)"])
        let access = operation["x-crumb-access"] as? String ?? ""
        let parameters = operation["parameters"] as? [[String: Any]] ?? []
        return (
            access.prefix { $0 != "+" }.hasSuffix(":secrets"), parameters.contains { $0["name"] as? String == "values" }
        )
    }

    @Test("The audit log records every route that returns a secret, and no other", arguments: RouteSample.all)
    func audited(sample: RouteSample) async throws {
        let (always, withValues) = try Self.givesSecrets(sample)
        let uri = sample.uri + (withValues ? (sample.uri.contains("?") ? "&" : "?") + "values=true" : "")
        let server = try await RunningServer.with(transport: AuthorizationServer()) { server in
            try ServiceFixture.fill(server.database)
            var fields = ["Host": "localhost:\(server.port)"]
            fields["Authorization"] = "Bearer \(try server.token("taker", Set(AccessVerb.allCases)))"
            if sample.body != nil { fields["Content-Type"] = sample.type }
            let answer = try await RawConnection.with(port: server.port) { [fields] connection in
                try await connection.ask(sample.method.rawValue, uri, fields, body: sample.body)
            }
            #expect(answer.status == sample.status, "\(answer.body)")
            let holdsSecret = ServiceFixture.secrets.contains { answer.body.contains($0) }
            #expect(holdsSecret == (always || withValues), "\(answer.body)")
        }
        let lines = try server.auditLog.split(separator: "\n")
        // Who starts a gateway has the session, of which the answer holds nothing.
        let startsGateway = sample.method == .put && sample.path == "/v1/gateways/{name}"
        #expect(lines.isEmpty == !(always || withValues || startsGateway), "\(lines)")
        for line in lines {
            #expect(line.contains(#""caller":"taker""#) && line.contains(#""peer":"127.0.0.1""#))
            let route = sample.path.replacing("/", with: #"\/"#)
            #expect(line.contains(#""route":"\#(route)""#) || line.contains(#""route":"\#(sample.path)""#), "\(line)")
            #expect(!line.contains("-secret"))
        }
    }

    @Test("The audit log records no read for a rejected or failed request", arguments: RouteSample.all)
    func refused(sample: RouteSample) async throws {
        let (always, withValues) = try Self.givesSecrets(sample)
        guard always || withValues else { return }
        let uri = sample.uri + (withValues ? (sample.uri.contains("?") ? "&" : "?") + "values=true" : "")
        let server = try await RunningServer.with { server in
            try ServiceFixture.fill(server.database)
            var fields = ["Host": "localhost:\(server.port)"]
            if sample.body != nil { fields["Content-Type"] = sample.type }
            fields["Authorization"] = "Bearer \(try server.token("few", [.read, .write]))"
            let answer = try await RawConnection.with(port: server.port) { [fields] connection in
                try await connection.ask(sample.method.rawValue, uri, fields, body: sample.body)
            }
            #expect(answer.status == 403)
        }
        #expect(try server.auditLog.isEmpty)
    }
}
