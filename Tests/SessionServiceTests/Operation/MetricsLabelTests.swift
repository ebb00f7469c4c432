import HTTPTypes
import Hummingbird
import SessionStore
import Testing

@testable import SessionService

@Suite("Metrics, and access to them")
struct MetricsLabelTests {
    @Test("Metrics have no path, jar, host, site, method, query or caller of a request")
    func labels() async throws {
        try await RunningServer.with(transport: AuthorizationServer()) { server in
            try ServiceFixture.fill(server.database)
            let owner = try server.token("caller-label", Set(AccessVerb.allCases))
            let host = "localhost:\(server.port)"
            for sample in RouteSample.all {
                let uris = [
                    sample.uri, sample.uri + "/more-label", sample.uri.replacing("/default", with: "/jar-label"),
                    sample.uri + (sample.uri.contains("?") ? "&" : "?") + "query-label=1",
                ]
                for uri in uris {
                    var fields = ["Host": host, "Authorization": "Bearer \(owner)"]
                    if sample.body != nil { fields["Content-Type"] = sample.type }
                    try await RawConnection.with(port: server.port) { [fields] connection in
                        _ = try await connection.ask(sample.method.rawValue, uri, fields, body: sample.body)
                    }
                }
            }
            try await RawConnection.with(port: server.port) { connection in
                let fields = ["Host": host, "Authorization": "Bearer \(owner)"]
                for path in ["/path-label", "/v1/path-label", "/jars/jar-label", "/jars/jar-label/changes-label"] {
                    _ = try await connection.ask("GET", path, fields)
                    _ = try await connection.ask("GET", path, ["Host": "host-label.example"])
                }
                // A method that HTTP knows and the service does not.
                _ = try await connection.ask("PROPFIND", "/v1/jars", fields)
                let body = #"{"url":"https://site-label.example/"}"#
                _ = try await connection.ask("POST", "/v1/jars/work/decorate", fields, body: body)

                let text = try await connection.ask("GET", "/metrics", fields).body
                for word in ["-label", "PROPFIND", "default", "work", "www.example.com", host] {
                    #expect(!text.contains(word), "\(word)")
                }
                // What routes are called is known beforehand.
                let router = Router(context: ServiceRequestContext.self)
                try ServiceFixture().api.addRoutes(to: router)
                let known = Set(
                    router.routes.map { "\($0.path)" } + [
                        "none", "NotFound", "/", "/healthz", "/readyz", "/metrics", "/jars/{jar}",
                        "/jars/{jar}/changes",
                    ])
                let said = Set(text.matches(of: /route="([^"]*)"/).map { String($0.output.1) })
                let unknown = said.subtracting(known).sorted()
                #expect(unknown == [])
                #expect(said.contains("/v1/jars/{jar}/decorate"))
            }
        }
    }

    /// Who requests the metrics.
    enum Requester: String, CaseIterable, Sendable {
        case nobody, guess, reader, writer, ofOneJar, socket
    }

    @Test(
        "Metrics require access to everything, or are open to everyone who can reach the service",
        arguments: Requester.allCases,
        [false, true])
    func access(requester: Requester, isPublic: Bool) async throws {
        let expected =
            switch (requester, isPublic) {
            case (.reader, _), (.socket, _): 200
            case (.guess, _): 401
            case (_, true): 200
            case (.nobody, false): 401
            case (.writer, false), (.ofOneJar, false): 403
            }
        try await RunningServer.with {
            $0.publishesMetrics = isPublic
        } _: { server in
            let token: String? =
                switch requester {
                case .nobody, .socket: nil
                case .guess: "crumb_" + String(repeating: "A", count: 43)
                case .reader: try server.token("t", [.read])
                case .writer: try server.token("t", [.write, .secrets])
                case .ofOneJar: try server.token("t", Set(AccessVerb.allCases), jars: .named(["work"]))
                }
            let path = requester == .socket ? server.socket : nil
            try await RawConnection.with(path: path, port: server.port) { connection in
                var fields = ["Host": "localhost:\(server.port)"]
                fields["Authorization"] = token.map { "Bearer \($0)" }
                let status1 = try await connection.ask("GET", "/metrics", fields).status
                #expect(status1 == expected)
                // No page of another site gets them, whoever may.
                fields["Sec-Fetch-Site"] = "cross-site"
                let status2 = try await connection.ask("GET", "/metrics", fields).status
                #expect(status2 == 403)
                // And nothing that only looks like them.
                fields["Sec-Fetch-Site"] = nil
                for other in ["/metrics/x", "/metricsx"] where token == nil && requester != .socket {
                    let status = try await connection.ask("GET", other, fields).status
                    #expect(status == 401 || status == 303 || status == 404, "\(other): \(status)")
                }
            }
        }
    }
}
