import CookieModel
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SessionStore
import Synchronization
import Testing

@testable import SessionService

@Suite("Changes as they come")
struct ChangeRouteTests {
    @Test("The journal by cursor")
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

    @Test("A follower gets what comes from now on")
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

    @Test("A follower goes on where it was", arguments: [("?after=1", nil), ("", "1"), ("?after=3", "1")])
    func resumed(query: String, last: String?) async throws {
        var fields = HTTPFields()
        if let last { fields[try #require(HTTPField.Name("Last-Event-ID"))] = last }
        let text = try await events(
            ServiceFixture(), "/v1/jars/default/events\(query)", fields: fields, until: "id: 3")
        #expect(text.contains("id: 2\nevent: change") && !text.contains("id: 1\n"))
    }

    @Test("A follower that has missed changes is told so")
    func missed() async throws {
        let fixture = try ServiceFixture()
        _ = try fixture.database.prune(journalLimit: 1, now: ServiceFixture.now)
        let text = try await events(fixture, "/v1/jars/default/events?after=0", until: "event: change")
        #expect(text.contains("id: 2\nevent: missed\ndata: {\"position\":2}\n\nid: 3\nevent: change\n"))
    }

    @Test("Where nothing comes there is a sign of life")
    func heartbeat() async throws {
        let text = try await events(ServiceFixture(), "/v1/jars/default/events", until: ": still here\n\n")
        #expect(!text.contains("event:"))
    }

    @Test("Who may not read the jar follows nothing")
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
