import CookieModel
import HTTPTypes
import OAuth2Login
import SessionOperations
import SessionStore
import Testing

@testable import SessionService

@Suite("A renewal depends on what the rejected request carried")
struct CarriedTokenTests {
    /// A site that knows its users by the rule's cookie, and a client that does what the service says.
    private struct Visitor {
        let client: ServiceClient
        let jar: CookieJar
        /// The tokens that the site accepts.
        var accepted: Set<String> = ["access-secret", "access-secret-2"]
        /// A header field of the site's refusals, as a member of the response's document.
        var refusalField = ""
        /// Whether the client sends its responses as a list.
        var sendsLists = false
        private var count = 0

        init(_ fixture: ServiceFixture, _ client: ServiceClient) throws {
            self.client = client
            jar = try fixture.database.jar(named: "default", now: ServiceFixture.now)
        }

        /// Stores a cookie of the site.
        func receive(_ line: Octets) throws {
            let context = RequestContext(url: try RequestURL("https://www.example.com/account"))
            try jar.receive(ReceivedResponse(context: context, setCookie: [line]), now: ServiceFixture.now)
        }

        func removeCookie() throws {
            try receive("session=; Max-Age=0; Path=/; Secure")
        }

        /// Sends a request, and repeats it as long as the service permits.
        ///
        /// - Returns: the rule's cookie of each request, empty if it had none; the last action; and the service's answer
        ///   after which the request was not repeated, `nil` if the site accepted it.
        mutating func visit(
            _ method: String = "GET"
        ) async throws -> (shown: [String], action: String?, end: ServiceAnswer?) {
            let request = #""method":"\#(method)","url":"https://www.example.com/account""#
            var shown: [String] = []
            var action: String?
            while true {
                let decorated = try await client.send(.post, "/v1/jars/default/decorate", "{\(request)}")
                let fields = decorated.object["fields"] as? [[String: String]]
                let cookies = fields?.first { $0["name"] == "cookie" }?["value"] ?? ""
                let cookie = cookies.split(separator: "; ").first { $0.hasPrefix("session=") }
                shown.append(cookie.map { String($0.dropFirst("session=".count)) } ?? "")
                if accepted.contains(shown.last ?? "") { return (shown, action, nil) }
                count += 1
                let document =
                    #"{\#(request),"status":302,"headers":[{"name":"Location","value":"/login"}\#(refusalField)],"#
                    + #""sent":"2027-01-15T08:00:00.\#(100 + count)Z"}"#
                let told = try await client.send(
                    .post, "/v1/jars/default/responses", sendsLists ? "[\(document)]" : document)
                let result = (told.object["responses"] as? [[String: Any]])?.first ?? told.object
                action = (result["login"] as? [String: Any])?["action"] as? String
                let renewed = try await client.send(.post, "/v1/jars/default/renewals", document)
                guard renewed.status == 200, renewed.object["mayRepeat"] as? Bool == true, shown.count < 5 else {
                    return (shown, action, renewed)
                }
            }
        }
    }

    @Test("If the rule's cookie was removed, the stored token is delivered again and not renewed")
    func removed() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            var visitor = try Visitor(fixture, client)
            for _ in 0..<3 {
                try visitor.removeCookie()
                let visit = try await visitor.visit()
                #expect(visit.shown == ["", "access-secret"] && visit.end == nil && visit.action == "renew")
            }
            #expect(fixture.server.paths.isEmpty)
            // Nor is it renewed if the site has replaced the cookie by one of its own.
            try visitor.receive("session=own; Path=/; Secure")
            #expect(try await visitor.visit().shown == ["own", "access-secret"])
            #expect(fixture.server.paths.isEmpty)
            // A token that a request carried is renewed, once.
            visitor.accepted = ["access-secret-2"]
            #expect(try await visitor.visit().shown == ["access-secret", "access-secret-2"])
            for _ in 0..<3 {
                try visitor.removeCookie()
                let visit = try await visitor.visit()
                #expect(visit.shown == ["", "access-secret-2"] && visit.end == nil && visit.action == "renew")
            }
            visitor.accepted = []
            let visit = try await visitor.visit()
            #expect(visit.shown == ["access-secret-2"] && visit.end?.code == "login-required")
            #expect(fixture.server.paths == ["/token"])
        }
    }

    @Test("The renewal for a request that is not repeated says nothing about the next request")
    func notRepeated() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            var visitor = try Visitor(fixture, client)
            for token in ["access-secret", "access-secret-2"] {
                visitor.accepted = [token]
                #expect(try await visitor.visit().end == nil)
                for _ in 0..<2 {
                    try visitor.removeCookie()
                    let order = try await visitor.visit("POST")
                    #expect(order.shown == [""] && order.end?.status == 200, "\(order.end?.text ?? "")")
                    try visitor.removeCookie()
                    let page = try await visitor.visit()
                    #expect(page.shown == ["", token] && page.end == nil, "\(page.end?.text ?? "")")
                }
                // The next request is signed in by the renewal.
                try visitor.removeCookie()
                _ = try await visitor.visit("POST")
                #expect(try await visitor.visit().shown == [token])
            }
            #expect(fixture.server.paths == ["/token"])
        }
    }

    @Test(
        "A site that removes or replaces the cookie when it rejects it has rejected the token",
        arguments: [true, false])
    func removedBySite(sendsLists: Bool) async throws {
        for line in ["session=; Max-Age=0; Path=/; Secure", "session=anonymous; Path=/; Secure"] {
            let fixture = try ServiceFixture()
            try await fixture.run { client in
                var visitor = try Visitor(fixture, client)
                visitor.sendsLists = sendsLists
                visitor.refusalField = #",{"name":"Set-Cookie","value":"\#(line)"}"#
                visitor.accepted = ["access-secret-2"]
                #expect(try await visitor.visit().shown == ["", "access-secret", "access-secret-2"])
                #expect(fixture.server.paths == ["/token"])
                visitor.accepted = []
                let visit = try await visitor.visit()
                #expect(visit.end?.code == "login-required" && visit.shown.first == "access-secret-2")
                #expect(fixture.server.paths == ["/token"])
            }
        }
    }

    @Test("The reason for a new login is the one of 'crumb curl': a rejected token, or an ended login")
    func reasons() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            var visitor = try Visitor(fixture, client)
            visitor.accepted = []
            func expectLogin(_ reason: String, after shown: [String]) async throws {
                let visit = try await visitor.visit()
                #expect(visit.shown == shown && visit.action == "log-in" && visit.end?.code == "login-required")
                let detail =
                    "work: \(reason): run 'crumb token login work' (login page of the site: "
                    + "https://www.example.com/login)"
                #expect(visit.end?.object["detail"] as? String == detail, "\(visit.end?.text ?? "")")
                #expect(visit.end?.object["loginURL"] as? String == "https://www.example.com/login")
            }
            let rejected = "the site rejects the renewed token too; a new login is required"
            try await expectLogin(rejected, after: ["", "access-secret", "access-secret-2"])
            try await expectLogin(rejected, after: ["access-secret-2"])
            _ = try await TokenRevoker(fixture.database.tokens, over: fixture.server, now: { ServiceFixture.now })
                .revoke("work")
            try await expectLogin("a new login is required", after: ["access-secret-2"])
            try visitor.removeCookie()
            try await expectLogin("a new login is required", after: [""])
            #expect(fixture.server.paths == ["/token", "/revoke", "/revoke"])
        }
    }
}
