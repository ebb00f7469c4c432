import CookieModel
import Foundation
import HTTPCaching
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import OAuth2
import ResponseStore
import SessionStore
import Testing

@testable import SessionService

@Suite("The inspector's page of the cache of a jar")
struct InspectorCacheTests {
    private static let path = "/jars/default/cache"

    private let home: CacheHome

    init() throws {
        home = try CacheHome()
    }

    /// Runs `body` with the inspector's pages for a caller.
    private func run(
        _ grant: AccessGrant = .everything, agentLock: AgentLock = AgentLock(),
        _ body: @escaping @Sendable (ServiceClient) async throws -> Void
    ) async throws {
        let router = Router(context: ServiceRequestContext.self)
        router.add(middleware: EveryCaller(caller: Caller(name: "visitor", grant: grant)))
        let database = home.database
        Inspector(
            database: database, admission: Admission(tokens: database.serviceTokens, limits: ServiceLimits()),
            agentLock: agentLock, environment: home.environment, now: { ServiceFixture.now }
        ).addRoutes(to: router)
        try await Application(router: router).test(.router) { try await body(ServiceClient(client: $0)) }
    }

    @Test("The responses are listed by site, with freshness, links, and what each rule has saved")
    func shown() async throws {
        try home.store("https://www.example.com/a.js?page=2")
        try home.store("https://www.example.com/b?token=query-secret", age: 700)
        try home.store("https://cdn.test/<b>.css")
        try home.store("https://www.example.com/other", jar: "other")
        let cache = try home.cache()
        let jar = try #require(try home.database.existingJar(named: "default"))
        let url = try RequestURL("https://www.example.com/a.js?page=2")
        for stored in cache.responses(to: url, jar: jar.cacheName, now: ServiceFixture.now) {
            cache.noteHit(stored, rule: "static", octets: 4321, now: ServiceFixture.now)
        }
        cache.maintain(now: ServiceFixture.now)
        try await run { client in
            let page = try await client.send(.get, Self.path).text
            #expect(
                page.contains("<p>3 responses, ") && page.contains("600 s left") && page.contains("stale for 100 s"))
            let href = InspectorPath.cache("default", explaining: "https://www.example.com/a.js?page=2")
            #expect(page.contains("<a href=\"\(href)\">https://www.example.com/a.js?page=2</a>"), "\(page)")
            // The link to a URL with a secret would not find the response.
            #expect(page.contains("token=redacted") && !page.contains("query-secret") && !page.contains("token%3D"))
            #expect(
                page.contains("<h3>example.com</h3>") && page.contains("<h3>cdn.test</h3>") && !page.contains("<b>"))
            #expect(page.contains(#"<th scope="row">static</th><td class="number">1</td><td class="number">4321</td>"#))
            #expect(!page.contains("/other"))
            let jar = try await client.send(.get, "/jars/default").text
            #expect(jar.contains(#"href="/jars/default/cache""#))
        }
        try await run(AccessGrant(verbs: [.read], jars: .named(["default"]))) { client in
            let page = try await client.send(.get, Self.path).text
            #expect(page.contains("3 responses") && !page.contains("Octets saved") && !page.contains("/purge"))
            #expect(try await client.send(.get, "/jars/other/cache").status == 404)
            #expect(try await client.send(.post, "\(Self.path)/purge", "site=").status == 403)
        }
    }

    @Test("A URL's decision is explained; a URL that is none gets a message")
    func explained() async throws {
        try home.store("https://www.example.com/page", ["Cache-Control": "max-age=60", "Content-Type": "text/html"])
        try await run(AccessGrant(verbs: [.read], jars: .named(["default"]))) { client in
            func explain(_ url: String) async throws -> String {
                try await client.send(.get, "\(Self.path)?url=\(InspectorPath.encoded(url))").text
            }
            let page = try await explain("https://www.example.com/page")
            #expect(page.contains("by rule &#39;document&#39;") || page.contains("by rule 'document'"), "\(page)")
            #expect(page.contains("(treatment: always-ask)") && page.contains("<code>rule</code>"), "\(page)")
            let none = try await explain("https://www.example.com/none")
            #expect(none.contains("sent to the server") && none.contains("<code>not-stored</code>"), "\(none)")
            let invalid = try await explain("not a URL")
            #expect(invalid.contains(#"class="problem""#), "\(invalid)")
            #expect(try await client.send(.get, "\(Self.path)?after=x").status == 400)
        }
    }

    @Test("The buttons remove the responses of a site, and all of the jar, but none while the service is locked")
    func purged() async throws {
        for url in ["https://www.example.com/a", "https://cdn.test/b", "https://cdn.test/c"] { try home.store(url) }
        try home.store("https://www.example.com/a", jar: "other")
        let lock = AgentLock()
        try lock.lock(Secret("passphrase"))
        try await run(agentLock: lock) { client in
            #expect(try await client.send(.get, Self.path).text.contains("/purge") == false)
            let refused = try await client.send(.post, "\(Self.path)/purge", "site=")
            #expect(refused.status == 423, "\(refused.text)")
        }
        try await run(AccessGrant(verbs: [.read, .write], jars: .named(["default"]))) { client in
            #expect(try await client.send(.get, Self.path).text.contains(#"action="/jars/default/cache/purge""#))
            let site = try await client.send(.post, "\(Self.path)/purge", "site=cdn.test")
            #expect(site.status == 303)
            let rest = try await client.send(.get, Self.path).text
            #expect(rest.contains("<p>1 response, ") && !rest.contains("cdn.test"), "\(rest)")
            #expect(try await client.send(.post, "\(Self.path)/purge", "site=").status == 303)
            let empty = try await client.send(.get, Self.path).text
            #expect(empty.contains("<p>0 responses, ") && !empty.contains("/purge"), "\(empty)")
            #expect(try await client.send(.post, "/jars/other/cache/purge", "site=").status == 404)
        }
        #expect(try home.cache().usage().entries == 1)
    }
}
