import CookieModel
import Foundation
import HTTPTypes
import SessionStore
import Testing

@testable import SessionService

@Suite("Header fields that the service keeps with a jar")
struct HeaderFieldRouteTests {
    private static let route = "/v1/jars/default/header-fields"

    private func decorate(_ client: ServiceClient, _ url: String, _ headers: String = "") async throws -> ServiceAnswer
    {
        let headers = headers.isEmpty ? "" : #","headers":[\#(headers)]"#
        return try await client.send(.post, "/v1/jars/default/decorate", #"{"url":"\#(url)"\#(headers)}"#)
    }

    @Test("Header fields are set, listed without their values, and removed")
    func settings() async throws {
        try await ServiceFixture().run { client in
            let set = try await client.send(.put, "\(Self.route)/x-key", #"{"value":"other"}"#)
            #expect(set.text == #"{"name":"x-key"}"#)
            let list = try await client.send(.get, Self.route)
            #expect(list.text == #"{"fields":[{"name":"X-Key","scope":"https://api.test/v2"},{"name":"x-key"}]}"#)
            let values = try await client.send(.get, "\(Self.route)?values=true")
            #expect(values.text.contains(#""value":"field-secret"}"#) && values.text.contains(#""value":"other"}"#))
            #expect(try await client.send(.delete, "\(Self.route)/X-KEY").text == #"{"name":"X-KEY"}"#)
            #expect(try await client.send(.delete, "\(Self.route)/X-KEY").code == "field-not-found")
            let scoped = "\(Self.route)/X-Key?scope=https://API.test:443/v2"
            #expect(try await client.send(.delete, scoped).status == 200)
            #expect(try await client.send(.get, Self.route).text == #"{"fields":[]}"#)
        }
    }

    @Test(
        "A header field that no request can carry is rejected, and not repeated in the error",
        arguments: [
            ("Cookie", #"{"value":"s3cret"}"#, "field-invalid"), ("a%20b", #"{"value":"s3cret"}"#, "field-invalid"),
            ("X", #"{"value":""}"#, "field-invalid"), ("X", #"{"value":"s3cret\r\nY: 1"}"#, "field-invalid"),
            ("X", "{}", "body-invalid"), ("X", #"{"value":"a","valueBase64":"YQ=="}"#, "body-invalid"),
            ("X", #"{"valueBase64":"?"}"#, "body-invalid"), ("X", #"{"value":"a","name":"b"}"#, "body-invalid"),
            ("X", #"{"value":"a","scope":"nonsense"}"#, "url-invalid"),
            ("Proxy-Authorization", #"{"value":"s3cret"}"#, "field-invalid"),
            ("X", #"{"value":"s3cret","scope":"https://*.example/"}"#, "field-invalid"),
            ("X", #"{"value":"s3cret","scope":"https://a.*.example/b"}"#, "field-invalid"),
        ])
    func refused(name: String, body: String, code: String) async throws {
        let answer = try await ServiceFixture().run { try await $0.send(.put, "\(Self.route)/\(name)", body) }
        #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
        #expect(!answer.text.contains("s3cret"))
    }

    @Test("A request gets the header fields for its URL, unless it has them")
    func decorated() async throws {
        try await ServiceFixture().run { client in
            let other = try await decorate(client, "https://api.test/v21")
            #expect(other.text == #"{"excluded":[],"fields":[],"included":[]}"#)
            let answer = try await decorate(client, "https://api.test/v2/x")
            #expect(
                answer.text
                    == #"{"excluded":[],"fields":[{"name":"X-Key","scope":"https://api.test/v2","value":"field-secret"}],"#
                    + #""included":[]}"#)
            _ = try await client.send(.put, "\(Self.route)/X-Octets", #"{"valueBase64":"Yf9i"}"#)
            let cookies = try await decorate(client, "https://www.example.com/")
            #expect(
                cookies.text.contains(
                    #""value":"sid=cookie-secret; lax=cookie-secret"},{"name":"X-Octets","valueBase64":"Yf9i"}]"#))
            let own = try await decorate(client, "https://api.test/v2", #"{"name":"x-KEY","value":"mine"}"#)
            #expect(!own.text.contains("field-secret"))
            #expect(
                own.text.hasSuffix(
                    #","omittedFields":[{"name":"X-Key","reason":"set-by-caller","scope":"https://api.test/v2"}]}"#))
            for answer in [other, answer, cookies, own] {
                #expect(try APIDocument().faults(of: answer, to: "POST /v1/jars/{jar}/decorate") == [])
            }
        }
    }

    @Test("A request that is signed in again gets the header fields, too")
    func renewed() async throws {
        try await ServiceFixture().run { client in
            _ = try await client.send(
                .put, "\(Self.route)/X-Site", #"{"value":"1","scope":"https://www.example.com/"}"#)
            let answer = try await client.send(
                .post, "/v1/jars/default/renewals",
                #"{"url":"https://www.example.com/","status":401,"headers":[]}"#)
            #expect(answer.text.contains(#"{"name":"X-Site","scope":"https://www.example.com/","value":"1"}"#))
        }
    }

    @Test("Damaged header fields are named and left out; an explanation has the outcome of each")
    func explained() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let explain = #"{"url":"https://api.test/"}"#
            let outside = try await client.send(.post, "/v1/jars/default/explain", explain)
            #expect(
                outside.text.contains(#""fields":[{"isSent":false,"name":"X-Key","reason":{"#)
                    && outside.text.contains(#""id":"outside-scope""#), "\(outside.text)")
            let inside = try await client.send(.post, "/v1/jars/default/explain", #"{"url":"https://api.test/v2"}"#)
            #expect(
                inside.text.contains(
                    #""fields":[{"isSent":true,"name":"X-Key","scope":"https://api.test/v2"}]"#))
            let script = try await client.send(
                .post, "/v1/jars/default/explain", #"{"url":"https://api.test/v2","script":true}"#)
            #expect(script.status == 200 && !script.text.contains(#""fields""#))
            for answer in [outside, inside] {
                #expect(try APIDocument().faults(of: answer, to: "POST /v1/jars/{jar}/explain") == [])
            }
        }
    }

    @Test("Reading header values requires access to secrets, and writing returns none")
    func grants() async throws {
        let fixture = try ServiceFixture()
        let writer = AccessGrant(verbs: [.read, .write], jars: .named(["default"]))
        try await fixture.run(writer) { client in
            #expect(try await client.send(.get, "\(Self.route)?values=true").code == "forbidden")
            #expect(try await client.send(.get, Self.route).status == 200)
            let set = try await client.send(.put, "\(Self.route)/X-Mine", #"{"value":"v"}"#)
            #expect(set.status == 200 && !set.text.contains("\"v\""))
            #expect(try await client.send(.put, "/v1/jars/other/header-fields/X", #"{"value":"v"}"#).status == 404)
        }
        try await fixture.run(AccessGrant(verbs: [.read])) { client in
            let set = try await client.send(.put, "\(Self.route)/X", #"{"value":"v"}"#)
            let removed = try await client.send(.delete, "\(Self.route)/X-Mine")
            #expect(set.code == "forbidden" && removed.code == "forbidden")
        }
    }
}
