import CookieModel
import HTTPTypes
import OAuth2
import SessionStore
import Testing

@testable import SessionService

@Suite("A locked service")
struct AgentLockTests {
    private static let passphrase = #"{"passphrase":"correct horse"}"#

    @Test(
        "A locked service refuses every route that returns a secret or changes something; the others answer",
        arguments: RouteSample.all
    )
    func routes(sample: RouteSample) async throws {
        guard !sample.path.hasPrefix("/v1/agent") else { return }
        let fixture = try ServiceFixture()
        let route = try #require(fixture.api.routes.first { $0.method == sample.method && $0.path == sample.path })
        let isRefused = !route.verbs.isDisjoint(with: [.secrets, .write])
        try await fixture.run { client in
            #expect(try await client.send(.post, "/v1/agent/lock", Self.passphrase).object["isLocked"] as? Bool == true)
            let answer = try await client.send(sample.method, sample.uri, sample.body, type: sample.type)
            #expect((answer.status == 423) == isRefused, "\(answer.status) \(answer.text)")
            #expect((answer.code == "agent-locked") == isRefused)
            for secret in ServiceFixture.secrets { #expect(!answer.text.contains(secret)) }
            #expect(try APIDocument().faults(of: answer, to: "\(sample.method) \(sample.path)") == [])
        }
    }

    @Test(
        "Lists name no values while the service is locked",
        arguments: ["cookies", "cookies/sid", "header-fields", "storage?origin=https://www.example.com"])
    func values(list: String) async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let uri = "/v1/jars/default/\(list)\(list.contains("?") ? "&" : "?")values=true"
            #expect(try await client.send(.get, uri).status == 200)
            #expect(try await client.send(.post, "/v1/agent/lock", Self.passphrase).status == 200)
            let answer = try await client.send(.get, uri)
            #expect(answer.status == 423 && answer.code == "agent-locked")
        }
    }

    @Test("Only the passphrase of the first lock unlocks the service, and a caller without full access can do neither")
    func passphrase() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run(AccessGrant(verbs: [.read, .secrets], jars: .all)) { client in
            let refused = try await client.send(.post, "/v1/agent/lock", Self.passphrase)
            #expect(refused.status == 403)
        }
        try await fixture.run(AccessGrant(verbs: [.read, .write, .secrets], jars: .named(["default"]))) { client in
            let refused = try await client.send(.post, "/v1/agent/lock", Self.passphrase)
            #expect(refused.status == 403)
        }
        try await fixture.run { client in
            func isLocked() async throws -> Bool? {
                try await client.send(.get, "/v1/agent").object["isLocked"] as? Bool
            }
            #expect(try await isLocked() == false)
            #expect(try await client.send(.post, "/v1/agent/unlock", Self.passphrase).status == 200)
            for body in ["{}", #"{"passphrase":""}"#, #"{"passphrase":1}"#, #"{"passphrase":"a","b":1}"#] {
                #expect(try await client.send(.post, "/v1/agent/lock", body).status == 400, "\(body)")
            }
            #expect(try await client.send(.post, "/v1/agent/lock", Self.passphrase).status == 200)
            let second = try await client.send(.post, "/v1/agent/lock", #"{"passphrase":"mine"}"#)
            #expect(second.status == 423)
            let wrong = try await client.send(.post, "/v1/agent/unlock", #"{"passphrase":"mine"}"#)
            #expect(wrong.status == 403 && wrong.code == "agent-passphrase-wrong")
            #expect(try await isLocked() == true)
            // The clock of this service stands still: the pause after a failed attempt does not end.
            let early = try await client.send(.post, "/v1/agent/unlock", Self.passphrase)
            #expect(early.status == 429 && early.fields[.retryAfter] == "1")
            #expect(early.object["detail"] as? String == "the last passphrase was wrong; try again in 1 second")
        }
    }

    @Test("Each failed unlock doubles the pause before the next, up to half a minute; a clock that is set back ends it")
    func pauses() throws {
        let lock = AgentLock()
        try lock.lock(Secret("right"))
        var now = Timestamp(seconds: 1000)
        func attempt(_ passphrase: String) -> String? {
            do {
                try lock.unlock(Secret(passphrase), now: now)
                return nil
            } catch {
                return error.fields[.retryAfter] ?? error.code
            }
        }
        for pause in [1, 2, 4, 8, 16, 30, 30] as [Int64] {
            #expect(attempt("wrong") == "agent-passphrase-wrong")
            #expect(attempt("right") == "\(pause)")
            now = now.advanced(bySeconds: pause - 1)
            if pause > 1 { #expect(attempt("right") == "1") }
            now = now.advanced(bySeconds: 1)
        }
        #expect(attempt("wrong") == "agent-passphrase-wrong")
        now = Timestamp(seconds: 10)
        #expect(attempt("right") == nil && !lock.isLocked)
    }
}
