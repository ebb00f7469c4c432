import Foundation
import HTTPTypes
import SessionStore
import Testing

@testable import SessionService

@Suite("Removed jars, through the service")
struct RemovedJarRouteTests {
    private func removed(_ answer: ServiceAnswer) -> [String] {
        (answer.object["removed"] as? [[String: Any]] ?? []).compactMap { entry in
            (entry["jar"] as? String).map { "\($0) \(entry["cause"] ?? "")" }
        }
    }

    @Test("A removed jar is listed and restored, even under another name; a deleted jar is not")
    func restored() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            #expect(try await client.send(.delete, "/v1/jars/other?final=true").status == 200)
            #expect(try await client.send(.delete, "/v1/jars/default").status == 200)
            #expect(try await client.send(.get, "/v1/jars/default").status == 404)
            let list = try await client.send(.get, "/v1/removed-jars")
            #expect(removed(list) == ["default removed"])
            #expect(try APIDocument().faults(of: list, to: "GET /v1/removed-jars") == [])
            #expect(try await client.send(.post, "/v1/jars/other/restore").status == 404)
            let restored = try await client.send(.post, "/v1/jars/default/restore", #"{"to":"new"}"#)
            #expect(restored.status == 200 && restored.object["jar"] as? String == "new")
            #expect(try APIDocument().faults(of: restored, to: "POST /v1/jars/{jar}/restore") == [])
            #expect(try await client.send(.get, "/v1/jars/new").status == 200)
            #expect(try await client.send(.post, "/v1/jars/new/clear").status == 200)
            let cleared = try await client.send(.get, "/v1/removed-jars")
            #expect(removed(cleared) == ["new cleared"])
            let pruned = try await client.send(.post, "/v1/prune", #"{"emptyBin":true}"#)
            #expect(pruned.status == 200 && pruned.object["removedJars"] as? Int == 1)
            #expect(try await client.send(.post, "/v1/jars/new/restore").status == 404)
        }
    }

    @Test("A token lists and restores only removed jars that it covers, and only under their names")
    func grants() async throws {
        let fixture = try ServiceFixture()
        for name in ["default", "other"] { try fixture.database.discardJar(named: name, now: ServiceFixture.now) }
        try await fixture.run(AccessGrant(verbs: [.read, .write], jars: .named(["other"]))) { client in
            let list = try await client.send(.get, "/v1/removed-jars")
            #expect(removed(list) == ["other removed"])
            #expect(try await client.send(.post, "/v1/jars/default/restore").status == 404)
            #expect(try await client.send(.post, "/v1/jars/other/restore", #"{"to":"default"}"#).status == 403)
            #expect(try await client.send(.post, "/v1/jars/other/restore").status == 200)
        }
        try await fixture.run(AccessGrant(verbs: [.read], jars: .all)) { client in
            let restored = try await client.send(.post, "/v1/jars/default/restore")
            #expect(restored.status == 403)
        }
    }
}
