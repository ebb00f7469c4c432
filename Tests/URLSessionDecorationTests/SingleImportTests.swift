import Testing
import URLSessionDecoration

/// This file imports what an app imports, and no more.
@Suite("URLSessionDecoration alone")
struct SingleImportTests {
    @Test("One import has what a request needs")
    func everything() async throws {
        let database = try SessionDatabase.inMemory()
        let jar = try await database.jar()
        let settings = DecorationSettings(
            fields: [FieldRule(HTTPField(name: .acceptLanguage, value: "en"))],
            authorization: [
                AuthorizationRule(scope: try URLScope("https://shop.example/")) { _ in
                    TokenSet(accessToken: Secret("t0ken"), receivedAt: .epoch)
                }
            ])
        let session = DecoratedURLSession(jar: jar, configuration: .ephemeral, settings: settings)
        let url = try #require(URL(string: "https://shop.example/account"))
        let context = RequestContext(url: try URLRequest(url: url).requestURL())
        try await jar.receive(ReceivedResponse(context: context, setCookie: ["sid=1"]))
        let (request, _) = try await session.decorator.decorate(URLRequest(url: url), in: context)
        #expect(request.value(forHTTPHeaderField: "Cookie") == "sid=1")
        #expect(request.value(forHTTPHeaderField: "Accept-Language") == "en")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer t0ken")
        #expect(Timestamp.now > .epoch)
    }
}
