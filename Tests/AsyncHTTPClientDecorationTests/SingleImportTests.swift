import AsyncHTTPClientDecoration
import Testing

/// This file imports what an app imports, and no more.
@Suite("AsyncHTTPClientDecoration alone")
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
        var request = HTTPClientRequest(url: "https://shop.example/account")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "text/plain")
        request.body = .bytes(ByteBuffer(string: "payload"))
        let context = RequestContext(url: try request.requestURL())
        try await jar.receive(ReceivedResponse(context: context, setCookie: ["sid=1"]))
        let (decorated, _) = try await RequestDecorator(jar: jar, settings: settings).decorate(request, in: context)
        #expect(decorated.headers["Cookie"] == ["sid=1"] && decorated.headers["Accept-Language"] == ["en"])
        #expect(decorated.headers["Authorization"] == ["Bearer t0ken"])
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        try await client.shutdown()
        #expect(TimeAmount.seconds(30) > .zero && Timestamp.now > .epoch)
    }
}
