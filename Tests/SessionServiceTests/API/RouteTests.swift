import Foundation
import HTTPTypes
import Hummingbird
import SessionStore
import SessionWire
import Testing

@testable import SessionService

@Suite("The routes, their document, and the required access")
struct RouteTests {
    private static let following: Set<String> = ["GET /v1/jars/{jar}/events", "GET /v1/gateways/{name}/events"]

    @Test("Every route has a row in the table, and no row is for a route that is gone")
    func tableIsComplete() throws {
        let routes = try ServiceFixture().api.routes.map { "\($0.method) \($0.path)" }
        #expect(Set(routes).count == routes.count)
        #expect(Set(RouteSample.all.map { "\($0.method) \($0.path)" }).union(Self.following) == Set(routes))
    }

    @Test("The document has all routes of the router, with the access that each requires")
    func document() throws {
        let fixture = try ServiceFixture()
        let router = Router(context: ServiceRequestContext.self)
        fixture.api.addRoutes(to: router)
        let operations = try APIDocument().operations
        #expect(Set(operations.keys) == Set(router.routes.map { "\($0.method) \($0.path)" }))
        for route in fixture.api.routes {
            let operation = operations["\(route.method) \(route.path)"]
            let said = operation?["x-crumb-access"] as? String
            let further = route.furtherVerbs.map { "+\($0.rawValue)" }.sorted().joined()
            let access =
                switch route.access {
                case .everyone: "everyone"
                case .caller: "caller"
                case .someJars(let verb): verb.rawValue
                case .allJars(let verb): "all:\(verb.rawValue)"
                case .jar(let verb): "jar:\(verb.rawValue)"
                }
            #expect(said == access + further, "\(route.method) \(route.path)")
        }
    }

    @Test("Each route answers as its document says", arguments: RouteSample.all)
    func answers(sample: RouteSample) async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(sample.method, sample.uri, sample.body, type: sample.type)
        }
        #expect(answer.status == sample.status, "\(answer.text)")
        #expect(try APIDocument().faults(of: answer, to: "\(sample.method) \(sample.path)") == [])
    }

    @Test("Every path that allows GET also allows HEAD")
    func heads() async throws {
        try await RunningServer.with { server in
            let fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(try server.ownerToken)"]
            try await RawConnection.with(port: server.port) { connection in
                for path in ["/healthz", "/v1/jars", "/v1/jars/work", "/v1/openapi.json"] {
                    let full = try await connection.ask("GET", path, fields)
                    let head = try await connection.ask("HEAD", path, fields)
                    #expect(head.status == 200 && head.fields["content-length"] == full.fields["content-length"])
                }
                let missing = try await connection.ask("HEAD", "/v1/jars/none", fields)
                #expect(missing.status == 404)
            }
        }
    }

    @Test("A caller without the required verb is rejected on every route", arguments: RouteSample.all)
    func verbs(sample: RouteSample) async throws {
        let fixture = try ServiceFixture()
        let route = try #require(
            fixture.api.routes.first { $0.method == sample.method && $0.path == sample.path })
        switch route.access {
        case .everyone: return
        case .caller:
            let answer = try await send(sample, fixture, AccessGrant(verbs: []))
            #expect(answer.status == 401 && answer.code == "unauthenticated")
        case .someJars, .allJars, .jar:
            for verb in route.verbs {
                let others = Set(AccessVerb.allCases).subtracting([verb])
                let refused = try await send(sample, fixture, AccessGrant(verbs: others))
                #expect(refused.status == 403 && refused.code == "forbidden")
            }
            let answered = try await send(sample, fixture, AccessGrant(verbs: route.verbs))
            #expect(answered.status == sample.status, "\(answered.text)")
        }
    }

    @Test("A jar outside of the grant is answered like one that does not exist", arguments: RouteSample.all)
    func jars(sample: RouteSample) async throws {
        let fixture = try ServiceFixture()
        let route = try #require(
            fixture.api.routes.first { $0.method == sample.method && $0.path == sample.path })
        let grant = AccessGrant(verbs: Set(AccessVerb.allCases), jars: .named(["third"]))
        let answer = try await send(sample, fixture, grant)
        switch route.access {
        case .everyone, .caller: #expect(answer.status == sample.status)
        case .someJars where sample.status == 200: #expect(answer.text.hasSuffix("\":[]}"))
        case .someJars: #expect(answer.status == 404)
        case .allJars: #expect(answer.status == 403)
        case .jar:
            #expect(answer.status == 404 && answer.code == "jar-not-found")
            var missing = sample
            missing = RouteSample(
                sample.method, sample.path, sample.uri.replacing("/default", with: "/fourth"), sample.body,
                type: sample.type)
            let other = try await send(missing, fixture, .everything)
            // Only this one makes what is missing.
            guard (sample.method, sample.path) != (.put, "/v1/jars/{jar}") else { return #expect(other.status == 201) }
            #expect(other.status == 404, "\(other.text)")
            let unlike = answer.text.replacing("default", with: "fourth")
            #expect(other.code == "jar-not-found" && (unlike == other.text || route.access == .jar(.write)))
        }
    }

    @Test("A caller without access to secrets never gets one", arguments: RouteSample.all)
    func secrecy(sample: RouteSample) async throws {
        let fixture = try ServiceFixture()
        let answer = try await send(sample, fixture, AccessGrant(verbs: [.read, .write]))
        for secret in ServiceFixture.secrets { #expect(!answer.text.contains(secret)) }
        for field in answer.fields { #expect(!field.value.contains("secret")) }
    }

    private func send(
        _ sample: RouteSample, _ fixture: ServiceFixture, _ grant: AccessGrant
    ) async throws -> ServiceAnswer {
        try await fixture.run(grant) { client in
            try await client.send(sample.method, sample.uri, sample.body, type: sample.type)
        }
    }
}
