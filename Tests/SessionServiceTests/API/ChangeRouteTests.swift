import CookieModel
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import NIOCore
import SessionStore
import Synchronization
import Testing

@testable import SessionService

@Suite("Changes as they come")
struct ChangeRouteTests {
    @Test("The journal is read by cursor")
    func pages() async throws {
        try await ServiceFixture().run { client in
            let first = try await client.send(.get, "/v1/jars/default/changes?limit=2")
            #expect((first.object["changes"] as? [Any])?.count == 2 && first.object["hasMore"] as? Bool == true)
            let position = try #require(first.object["position"] as? Int)
            let rest = try await client.send(.get, "/v1/jars/default/changes?after=\(position)")
            #expect((rest.object["changes"] as? [Any])?.count == 1 && rest.object["hasGap"] as? Bool == false)
            let future = try await client.send(.get, "/v1/jars/default/changes?after=\(Int64.max)")
            #expect(future.object["hasGap"] as? Bool == true)
        }
    }

    @Test("An explanation and the inspector's page name the response that deleted a cookie")
    func deletion() async throws {
        let fixture = try ServiceFixture()
        let logout = #"{"url":"https://www.example.com/logout?token=1","setCookie":["lax=; Path=/; Max-Age=0"]}"#
        try await fixture.run { client in
            #expect(try await client.send(.post, "/v1/jars/default/cookies", logout).status == 200)
            let answer = try await client.send(
                .post, "/v1/jars/default/explain", #"{"url":"https://www.example.com/"}"#)
            #expect(
                try APIDocument().faults(of: answer, to: "POST /v1/jars/{jar}/explain") == [])
            let changes = answer.object["changes"] as? [[String: Any]] ?? []
            #expect(changes.compactMap { $0["name"] as? String } == ["lax"])
            #expect(changes.first?["cause"] as? String == "deleted")
            #expect(changes.first?["url"] as? String == "https://www.example.com/logout")
        }
        let router = Router(context: ServiceRequestContext.self)
        router.add(middleware: EveryCaller(caller: Caller(name: "test", grant: .everything)))
        let database = fixture.database
        Inspector(
            database: database, admission: Admission(tokens: database.serviceTokens, limits: ServiceLimits()),
            now: { ServiceFixture.now }
        ).addRoutes(to: router)
        try await Application(router: router).test(.router) { client in
            let page = try await ServiceClient(client: client).send(
                .get, "/jars/default?url=https%3A%2F%2Fwww.example.com%2F")
            #expect(page.text.contains("; gone: 1 deleted") && page.text.contains("www.example.com/logout"))
            #expect(!page.text.contains("token=1"))
        }
    }

    /// Follows a jar until what came has `text` in it.
    private func events(
        _ fixture: ServiceFixture, _ path: String, fields: HTTPFields = [:], until text: String,
        meanwhile: @Sendable () throws -> Void = {}
    ) async throws -> String {
        let route = try #require(fixture.api.routes.first { $0.path.hasSuffix("/events") })
        var context = ServiceRequestContext.owner
        context.coreContext.parameters.append(key: "jar", value: "default")
        let request = Request(
            head: HTTPRequest(
                method: .get, scheme: "http", authority: "localhost", path: path, headerFields: fields),
            body: RequestBody(buffer: ByteBuffer()))
        let response = try await route.respond(to: request, in: context)
        #expect(response.headers[.contentType] == "text/event-stream")
        try meanwhile()
        let reader = EventReader(text)
        // The reader goes as a client does: by not taking any more.
        do {
            try await response.body.write(reader)
        } catch is EventReader.Gone {}
        return reader.text
    }

    @Test("A follower of changes gets those from now on")
    func fromNow() async throws {
        let fixture = try ServiceFixture()
        let text = try await events(fixture, "/v1/jars/default/events", until: "event: change") {
            let jar = try fixture.database.jar(now: ServiceFixture.now)
            let context = CookieModel.RequestContext(url: try RequestURL("https://a.test/"))
            try jar.receive(ReceivedResponse(context: context, setCookie: ["new=1"]), now: ServiceFixture.now)
        }
        #expect(text.hasPrefix("retry: 2000\n\n"))
        #expect(text.contains("id: 4\nevent: change\ndata: {\"cause\":\"stored\",\"domain\":\"a.test\""))
        #expect(!text.contains("sid"))
    }

    @Test(
        "A follower of changes can continue where it was", arguments: [("?after=1", nil), ("", "1"), ("?after=3", "1")])
    func resumed(query: String, last: String?) async throws {
        var fields = HTTPFields()
        if let last { fields[try #require(HTTPField.Name("Last-Event-ID"))] = last }
        let text = try await events(
            ServiceFixture(), "/v1/jars/default/events\(query)", fields: fields, until: "id: 3")
        #expect(text.contains("id: 2\nevent: change") && !text.contains("id: 1\n"))
    }

    @Test("A follower that has missed changes gets a notice")
    func missed() async throws {
        let fixture = try ServiceFixture()
        _ = try fixture.database.prune(journalLimit: 1, now: ServiceFixture.now)
        let text = try await events(fixture, "/v1/jars/default/events?after=0", until: "event: change")
        #expect(text.contains("id: 2\nevent: missed\ndata: {\"position\":2}\n\nid: 3\nevent: change\n"))
    }

    @Test("A stream without changes sends a sign of life")
    func heartbeat() async throws {
        let text = try await events(ServiceFixture(), "/v1/jars/default/events", until: ": still here\n\n")
        #expect(!text.contains("event:"))
    }

    @Test("Changes of this service are sent at once, not with the next read of the journal")
    func atOnce() async throws {
        let reader = EventReader("\"name\":\"last\"")
        // The interval is longer than the test waits.
        let send = try sender(interval: .seconds(86_400))
        let response = try await send(.get, "/v1/jars/default/events", "")
        async let followed: Void = {
            do {
                try await response.body.write(reader)
            } catch is EventReader.Gone {}
        }()
        for name in ["first", "last"] {
            let written = try await send(
                .post, "/v1/jars/default/cookies", #"{"url":"https://a.test/","setCookie":["\#(name)=1"]}"#)
            #expect(written.status == .ok)
        }
        try await followed
        #expect(reader.text.contains("\"name\":\"first\""))
    }

    @Test("The stream of a jar that is removed ends")
    func removed() async throws {
        let reader = EventReader("event: none")
        let send = try sender(interval: .milliseconds(10))
        let response = try await send(.get, "/v1/jars/default/events?after=1", "")
        async let followed: Void = response.body.write(reader)
        #expect(try await send(.delete, "/v1/jars/default", "").status.kind == .successful)
        try await followed
        #expect(!reader.text.contains("missed"))
    }

    /// Sends requests to the routes of a service that looks for other writes at an interval.
    private func sender(
        interval: Duration
    ) throws -> @Sendable (HTTPRequest.Method, String, String) async throws -> Response {
        var following = ChangeFollowing()
        following.interval = interval
        let database = try ServiceFixture().database
        let api = SessionAPI(
            database: database, tokens: ServiceFixture.tokens(of: database), following: following
        ) { ServiceFixture.now }
        let router = Router(context: ServiceRequestContext.self)
        router.add(middleware: EveryCaller(caller: Caller(name: "test", grant: .everything)))
        api.addRoutes(to: router)
        let responder = router.buildResponder()
        return { method, path, body in
            try await responder.respond(
                to: Request(
                    head: HTTPRequest(
                        method: method, scheme: "http", authority: "localhost", path: path,
                        headerFields: body.isEmpty ? [:] : [.contentType: "application/json"]),
                    body: RequestBody(buffer: ByteBuffer(string: body))), context: .owner)
        }
    }

    @Test(
        "A service that stops does not wait for followers of changes",
        arguments: ["/v1/jars/work/events", "/jars/work/changes"])
    func stops(path: String) async throws {
        let answers = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let ports = AsyncStream.makeStream(of: (port: Int, token: String).self)
            group.addTask {
                for await (port, token) in ports.stream {
                    try await RawConnection.with(port: port) { connection in
                        let host = "localhost:\(port)"
                        var fields = ["Host": host, "Authorization": "Bearer \(token)"]
                        fields["Accept"] = "text/event-stream"
                        try await connection.send(
                            "GET \(path) HTTP/1.1\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n")
                        // The head and the first event are there; the end comes when the service stops.
                        try await connection.wait(for: "retry: 2000")
                        answers.continuation.yield(1)
                        _ = try await connection.answer()
                    }
                }
            }
            try await RunningServer.with { server in
                ports.continuation.yield((server.port, try server.token("t", [.read])))
                ports.continuation.finish()
                for await _ in answers.stream { break }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "A stream of changes ends with the token that it was opened with, and no other",
        arguments: ["/v1/jars/work/events", "/jars/work/changes"])
    func revoked(path: String) async throws {
        try await RunningServer.with { server in
            let tokens = [try server.token("kept", [.read]), try server.token("revoked", [.read])]
            try await RawConnection.with(port: server.port) { kept in
                try await RawConnection.with(port: server.port) { revoked in
                    for (connection, token) in zip([kept, revoked], tokens) {
                        try await connection.send(
                            "GET \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n"
                                + "Authorization: Bearer \(token)\r\nAccept: text/event-stream\r\n\r\n")
                        try await connection.wait(for: "retry: 2000")
                    }
                    #expect(try server.database.serviceTokens.revoke(named: "revoked", now: RunningServer.now))
                    let end = try await revoked.answer()
                    let jar = try #require(try server.database.existingJar(named: "work"))
                    try jar.receive(
                        ReceivedResponse(
                            context: CookieModel.RequestContext(url: try RequestURL("https://www.example.com/")),
                            setCookie: ["later=1"]), now: RunningServer.now)
                    try await kept.wait(for: "later")
                    #expect(!end.body.contains("later"))
                }
            }
        }
    }

    @Test("A caller without access to the jar follows nothing")
    func refused() async throws {
        let fixture = try ServiceFixture()
        let uri = "/v1/jars/default/events"
        let unread = try await fixture.run(AccessGrant(verbs: [.write, .secrets])) { try await $0.send(.get, uri) }
        #expect(unread.code == "forbidden")
        let other = try await fixture.run(AccessGrant(verbs: [.read], jars: .named(["other"]))) {
            try await $0.send(.get, uri)
        }
        #expect(other.code == "jar-not-found")
        let bad = try await fixture.run {
            try await $0.send(.get, uri, fields: [HTTPField.Name("Last-Event-ID") ?? .from: "x"])
        }
        #expect(bad.code == "parameter-invalid")
    }
}

/// Takes events until it has seen enough, and is gone then.
private final class EventReader: ResponseBodyWriter, Sendable {
    struct Gone: Error {}

    private let enough: String
    private let taken = Mutex("")

    init(_ enough: String) {
        self.enough = enough
    }

    var text: String { taken.withLock { $0 } }

    func write(_ buffer: ByteBuffer) async throws {
        taken.withLock { $0 += String(buffer: buffer) }
        if text.contains(enough) { throw Gone() }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
