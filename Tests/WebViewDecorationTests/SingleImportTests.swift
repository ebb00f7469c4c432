import Testing
import WebViewDecoration

/// This file imports what an app imports, and no more.
@Suite("WebViewDecoration alone")
struct SingleImportTests {
    @Test("One import has what a web view needs")
    @MainActor
    func everything() async throws {
        let database = try SessionDatabase.inMemory()
        let jar = try await database.jar()
        let url = try RequestURL("https://www.example.com/")
        try await jar.receive(ReceivedResponse(context: RequestContext(url: url), setCookie: ["sid=1"]))
        let view = WebViewStub()
        let session = WebViewSession(jar: jar, store: view, scripts: view, host: view)
        await session.load(url)
        #expect(view.values == ["sid": "1"] && view.events.last == "load https://www.example.com/ -")

        let rule = AuthorizationRule(scope: try URLScope("https://www.example.com/")) { _ in
            TokenSet(accessToken: Secret("t0ken"), receivedAt: .epoch)
        }
        let decorator = RequestDecorator(jar: jar, settings: DecorationSettings(authorization: [rule]))
        let request = HTTPRequest(method: .get, scheme: "https", authority: "www.example.com", path: "/")
        let (decorated, _) = try await decorator.decorate(request, in: RequestContext(url: url))
        #expect(decorated.headerFields[.authorization] == "Bearer t0ken")
    }
}
