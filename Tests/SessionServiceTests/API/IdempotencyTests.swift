import HTTPTypes
import Hummingbird
import HummingbirdCore
import SessionStore
import SessionWire
import Testing

@testable import SessionService

@Suite("A write that is sent twice counts once")
struct IdempotencyTests {
    private static func key(_ text: String) throws -> HTTPFields {
        [try #require(HTTPField.Name("Idempotency-Key")): text]
    }

    @Test("The same key and request get the same answer; the write is not done again")
    func again() async throws {
        try await ServiceFixture().run { client in
            let fields = try Self.key("k1")
            let first = try await client.send(.post, "/v1/jars", #"{"name":"new"}"#, fields: fields)
            let second = try await client.send(.post, "/v1/jars", #"{"name":"new"}"#, fields: fields)
            #expect(first.status == 201 && second.status == 201 && first.text == second.text)
            #expect(try await client.send(.post, "/v1/jars", #"{"name":"new"}"#).status == 409)
        }
    }

    @Test("A rejected write with a key is repeated with the same answer")
    func refusal() async throws {
        try await ServiceFixture().run { client in
            let fields = try Self.key("k1")
            let uri = "/v1/jars/default/cookies?name=late"
            #expect(try await client.send(.delete, uri, fields: fields).code == "cookie-not-found")
            _ = try await client.send(
                .post, "/v1/jars/default/cookies", #"{"url":"https://a.test/","setCookie":["late=1"]}"#)
            #expect(try await client.send(.delete, uri, fields: fields).code == "cookie-not-found")
        }
    }

    @Test("Another request with the same key is refused")
    func reused() async throws {
        try await ServiceFixture().run { client in
            let fields = try Self.key("k1")
            _ = try await client.send(.post, "/v1/jars", #"{"name":"new"}"#, fields: fields)
            let other = try await client.send(.post, "/v1/jars", #"{"name":"newer"}"#, fields: fields)
            #expect(other.status == 422 && other.code == "idempotency-key-reused")
            let elsewhere = try await client.send(.post, "/v1/jars/default/clear", fields: fields)
            #expect(elsewhere.code == "idempotency-key-reused")
        }
    }

    @Test("Each caller has its own idempotency keys")
    func callers() async throws {
        let fixture = try ServiceFixture()
        let fields = try Self.key("k1")
        let first = try await fixture.run(name: "one") { client in
            try await client.send(.post, "/v1/jars", #"{"name":"a"}"#, fields: fields)
        }
        let second = try await fixture.run(name: "two") { client in
            try await client.send(.post, "/v1/jars", #"{"name":"b"}"#, fields: fields)
        }
        #expect(first.status == 201 && second.status == 201 && first.text != second.text)
    }

    @Test("A token does not get the answers of an earlier token with its name")
    func sameName() async throws {
        try await RunningServer.with { server in
            func create(_ token: String) async throws -> RawConnection.Answer {
                try await RawConnection.with(port: server.port) { connection in
                    try await connection.ask(
                        "POST", "/v1/jars",
                        [
                            "Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)",
                            "Idempotency-Key": "k1",
                        ], body: #"{"name":"new"}"#)
                }
            }
            let first = try server.token("ci", [.write])
            #expect(try await create(first).status == 201)
            #expect(try await create(first).status == 201)
            _ = try server.database.serviceTokens.revoke(named: "ci", now: RunningServer.now)
            #expect(try await create(try server.token("ci", [.write])).status == 409)
        }
    }

    @Test("A caller without access to a request does not get its response")
    func access() async throws {
        let fixture = try ServiceFixture()
        let fields = try Self.key("k1")
        let body = #"{"name":"new"}"#
        let first = try await fixture.run { try await $0.send(.post, "/v1/jars", body, fields: fields) }
        #expect(first.status == 201)
        let read = try await fixture.run(AccessGrant(verbs: [.read])) {
            try await $0.send(.post, "/v1/jars", body, fields: fields)
        }
        #expect(read.status == 403)
        let other = try await fixture.run(AccessGrant(verbs: [.write], jars: .named(["default"]))) {
            try await $0.send(.post, "/v1/jars", body, fields: fields)
        }
        #expect(other.status == 403)
    }

    @Test("Requests that only read are read again, and captures need no key")
    func reads() async throws {
        try await ServiceFixture().run { client in
            let fields = try Self.key("k1")
            let uri = "/v1/jars/default/decorate"
            for url in ["https://www.example.com/", "https://a.test/"] {
                #expect(try await client.send(.post, uri, #"{"url":"\#(url)"}"#, fields: fields).status == 200)
            }
            let capture = try await client.send(.post, "/v1/jars/default/captures", "x", fields: fields)
            #expect(capture.code == "parameter-invalid")
        }
    }

    @Test("A second write with the key waits for the first; a write that failed in the service is tried again")
    func running() async throws {
        let cache = IdempotencyCache()
        let fixture = try ServiceFixture()
        let gate = AsyncStream.makeStream(of: Void.self)
        let entered = AsyncStream.makeStream(of: Void.self)
        let route = ServiceRoute(.post, "/x", .allJars(.write)) { _, _ in
            entered.continuation.yield()
            for await _ in gate.stream { break }
            throw ServiceFailure.internalError
        }
        let fields = try Self.key("k1")
        try await fixture.run { _ in
            let first = Task { try await cache.respond(to: .post("/x", fields), in: .owner, by: route) }
            for await _ in entered.stream { break }
            await #expect(throws: ServiceFailure.self) {
                _ = try await cache.respond(to: .post("/x", fields), in: .owner, by: route)
            }
            gate.continuation.yield()
            await #expect(throws: ServiceFailure.internalError) { _ = try await first.value }
            let done = ServiceRoute(.post, "/x", .allJars(.write)) { _, _ in .json(["a": 1]) }
            let answer = try await cache.respond(to: .post("/x", fields), in: .owner, by: done)
            #expect(answer.status == .ok)
        }
    }

    @Test("The memory of repeated writes is limited")
    func bounded() async throws {
        var limits = IdempotencyCache.Limits()
        limits.entries = 2
        let cache = IdempotencyCache(limits: limits)
        let counter = Tally()
        let route = ServiceRoute(.post, "/x", .allJars(.write)) { _, _ in .json(counter.next()) }
        func send(_ key: String) async throws {
            _ = try await cache.respond(to: .post("/x", Self.key(key)), in: .owner, by: route)
        }
        for key in ["1", "2", "2", "1"] { try await send(key) }
        #expect(counter.value == 2)
        try await send("3")
        try await send("2")
        #expect(counter.value == 3)
        try await send("1")
        #expect(counter.value == 4)
    }
}
