import HTTPTypes
import Testing

@testable import SessionService

@Suite("Responses that an app has got")
struct ResponseRouteTests {
    private static let route = "/v1/jars/default/responses"

    private func outcomes(_ value: Any?) -> [String] {
        let decisions = (value as? [String: Any])?["decisions"] as? [[String: Any]] ?? []
        return decisions.map { $0["outcome"] as? String ?? "" }
    }

    @Test("Each Set-Cookie field of a posted response is decided on; other fields do not count")
    func one() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(
                .post, Self.route,
                #"""
                {"url":"https://a.test/","status":302,"headers":[{"name":"SET-COOKIE","value":"a=1"},
                {"name":"Location","value":"/"},{"name":"set-cookie","valueBase64":"Yj3/"},
                {"name":"set-cookie","value":"c=1; Domain=b.test"},{"name":"set-cookie","value":"a=; Max-Age=0"}]}
                """#)
        }
        #expect(outcomes(answer.json) == ["stored", "stored", "rejected", "deleted"])
    }

    @Test("Several posted responses are one transaction, in order")
    func several() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(
                .post, Self.route,
                #"""
                [{"url":"https://a.test/","headers":[{"name":"set-cookie","value":"a=1"}]},
                {"url":"https://a.test/","headers":[]},
                {"url":"https://a.test/","headers":[{"name":"set-cookie","value":"a=2"}]}]
                """#)
        }
        let responses = answer.object["responses"] as? [Any] ?? []
        #expect(responses.map(outcomes) == [["stored"], [], ["replaced"]])
    }

    @Test("An invalid response among several leaves the jar unchanged")
    func severalWithFault() async throws {
        try await ServiceFixture().run { client in
            let answer = try await client.send(
                .post, Self.route,
                #"[{"url":"https://a.test/","headers":[{"name":"set-cookie","value":"a=1"}]},{"url":"a.test","headers":[]}]"#
            )
            #expect(answer.status == 400 && answer.code == "url-invalid")
            #expect(try await client.send(.get, "/v1/jars/default/cookies/a").status == 404)
        }
    }

    @Test("Lifetimes count from the time of the posted response, and a future time counts as now")
    func received() async throws {
        try await ServiceFixture().run { client in
            let body = { (time: String) in
                #"{"url":"https://a.test/","received":"\#(time)","headers":[{"name":"set-cookie","value":"a=1; Max-Age=60"}]}"#
            }
            #expect(
                outcomes(try await client.send(.post, Self.route, body("2020-01-01T00:00:00Z")).json) == ["deleted"])
            #expect(outcomes(try await client.send(.post, Self.route, body("2090-01-01T00:00:00Z")).json) == ["stored"])
            let cookie = try await client.send(.get, "/v1/jars/default/cookies/a")
            #expect(cookie.object["expires"] as? String == "2027-01-15T08:01:00Z")
        }
    }

    @Test("A third-party cookie of a posted response is decided on in its context")
    func context() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(
                .post, Self.route,
                #"{"url":"https://a.test/","topLevel":"https://b.test/","headers":[{"name":"set-cookie","value":"a=1; SameSite=Lax"}]}"#
            )
        }
        #expect(outcomes(answer.json) == ["rejected"])
    }
}
