import CookieModel
import HTTPTypes
import SessionStore
import SessionWire
import Testing

@testable import SessionService

@Suite("A request gets the cookies that a browser would send")
struct DecorateTests {
    private static let route = "/v1/jars/default/decorate"

    private func decorate(_ fixture: ServiceFixture, _ body: String) async throws -> ServiceAnswer {
        try await fixture.run { try await $0.send(.post, Self.route, body) }
    }

    @Test("A decoration has the fields, and the reasons why other cookies are not sent")
    func decorated() async throws {
        let answer = try await decorate(ServiceFixture(), #"{"url":"https://www.example.com/"}"#)
        #expect(
            answer.text
                == #"{"excluded":[{"name":"deep","reasons":["path-mismatch"]}],"#
                + #""fields":[{"name":"cookie","value":"sid=cookie-secret; lax=cookie-secret"}],"#
                + #""included":["sid","lax"]}"#)
    }

    @Test("The context decides which cookies a decoration has")
    func crossSite() async throws {
        let answer = try await decorate(
            ServiceFixture(), #"{"url":"https://www.example.com/","topLevel":"https://other.test/"}"#)
        #expect(answer.status == 200 && answer.text.contains(#""fields":[]"#))
    }

    @Test("In a decoration, the request's own cookies come first and win by name")
    func ownCookies() async throws {
        let answer = try await decorate(
            ServiceFixture(),
            #"{"url":"https://www.example.com/","headers":[{"name":"Cookie","value":"lax=mine"},{"name":"a","value":""}]}"#
        )
        let fields = answer.object["fields"] as? [[String: String]]
        #expect(fields?.first?["value"] == "lax=mine; sid=cookie-secret")
        #expect(answer.text.contains(#"{"name":"lax","reasons":["set-by-caller"]}"#))
    }

    @Test(
        "A decoration rejects a value that would not stay one field or one line",
        arguments: [
            (#""headers":[{"name":"Cookie","value":"a=1\r\nX: y"}]"#, "headers.[0]"),
            (#""headers":[{"name":"cookie","value":"a=1\n"}]"#, "headers.[0]"),
            (#""headers":[{"name":"cookie","valueBase64":"YQA9"}]"#, "headers.[0]"),
            (#""method":"GET / HTTP/1.1\r\nX: y""#, "method"), (#""method":"""#, "method"),
        ])
    func manyLines(member: String, place: String) async throws {
        let answer = try await decorate(ServiceFixture(), #"{"url":"https://www.example.com/","# + member + "}")
        #expect(answer.status == 400 && answer.text.contains(#""code":"body-invalid""#), "\(answer.text)")
        #expect(answer.text.contains(#""detail":"\#(place)"#), "\(answer.text)")
    }

    @Test("In a decoration, octets that are not text are in Base64, and JSON escapes are applied")
    func octets() async throws {
        let fixture = try ServiceFixture()
        let jar = try fixture.database.jar(now: ServiceFixture.now)
        let context = CookieModel.RequestContext(url: try RequestURL("https://a.test/"))
        try jar.receive(
            ReceivedResponse(context: context, setCookie: [#"q"\=1"#, Octets([0x62, 0x3D, 0xFF])]),
            now: ServiceFixture.now)
        let answer = try await decorate(fixture, #"{"url":"https://a.test/"}"#)
        let fields = answer.object["fields"] as? [[String: String]]
        #expect(fields?.first == ["name": "cookie", "valueBase64": "cSJcPTE7IGI9/w=="])
        #expect(answer.object["included"] as? [String] == [#"q"\"#, "b"])
        #expect(try answer.isEncoded(as: DecorationReport.self))
    }

    @Test(
        "The JSON of a decoration is the same as the encoder's",
        arguments: [
            #"{"url":"https://www.example.com/"}"#, #"{"url":"https://nowhere.test/"}"#,
            #"{"url":"https://api.test/v2"}"#,
            #"{"url":"https://api.test/v2","headers":[{"name":"X-Key","value":"mine"}]}"#,
            #"{"url":"https://www.example.com/","headers":[{"name":"Cookie","value":"lax=mine"}]}"#,
            #"{"url":"https://www.example.com/","topLevel":"https://other.test/"}"#,
        ])
    func encoded(body: String) async throws {
        let answer = try await decorate(ServiceFixture(), body)
        #expect(try answer.status == 200 && answer.isEncoded(as: DecorationReport.self), "\(answer.text)")
    }
}
