import CookieModel
import HTTPTypes
import Hummingbird
import SessionStore
import Testing

@testable import SessionService

@Suite("Access to the inspector's pages")
struct InspectorAccessTests {
    /// A page, and what a caller has to be allowed to do to get it.
    private static let pages: [String: AccessVerb?] = [
        "GET /": nil, "GET /inspector.css": nil, "GET /inspector.js": nil, "GET /sign-in": nil, "POST /sign-in": nil,
        "POST /sign-out": nil, "GET /jars/{jar}": .read, "GET /jars/{jar}/changes": .read,
        "GET /jars/{jar}/cache": .read, "POST /jars/{jar}/cache/purge": .write,
        "POST /jars/{jar}/reveal": .secrets, "GET /gateways/{name}": .read, "GET /gateways/{name}/events": .read,
    ]

    /// A visitor who has signed in with a token.
    private struct Visitor: Sendable {
        let fields: [String: String]

        init(_ server: RunningServer, _ token: String) async throws {
            let host = "localhost:\(server.port)"
            let own = ["Host": host, "Origin": "http://\(host)", "Content-Type": "application/x-www-form-urlencoded"]
            let answer = try await RawConnection.with(port: server.port) { connection in
                try await connection.ask("POST", "/sign-in", own, body: "token=\(token)")
            }
            let cookie = try #require(answer.fields["set-cookie"]?.split(separator: ";").first)
            fields = own.merging(["Cookie": String(cookie)]) { $1 }
        }

        func ask(_ connection: RawConnection, _ page: String, body: String? = nil) async throws -> RawConnection.Answer
        {
            let parts = page.split(separator: " ").map(String.init)
            var fields = fields
            if parts[0] == "GET" { fields["Content-Type"] = nil }
            return try await connection.ask(parts[0], parts[1], fields, body: body)
        }
    }

    @Test("The table of pages has every page of the inspector")
    func complete() async throws {
        let database = try ServiceFixture().database
        let router = Router(context: ServiceRequestContext.self)
        Inspector(
            database: database, admission: Admission(tokens: database.serviceTokens, limits: ServiceLimits()),
            now: { ServiceFixture.now }
        ).addRoutes(to: router)
        #expect(Set(router.routes.map { "\($0.method) \($0.path)" }) == Set(Self.pages.keys))
    }

    private static let grants: [AccessGrant] = [
        .everything, AccessGrant(verbs: [.read]), AccessGrant(verbs: [.write]), AccessGrant(verbs: [.secrets]),
        AccessGrant(verbs: [.read], jars: .named(["default"])),
        AccessGrant(verbs: [.secrets], jars: .named(["default"])),
        AccessGrant(verbs: Set(AccessVerb.allCases), jars: .named(["default"])), AccessGrant(verbs: []),
    ]

    @Test("An inspector page shows only the data that the token covers", arguments: grants)
    func pages(grant: AccessGrant) async throws {
        let server = try await RunningServer.with { server in
            try ServiceFixture.fill(server.database)
            let token = try server.token("visitor", grant.verbs, jars: grant.jars)
            let visitor = try await Visitor(server, token)
            let mayRead = grant.verbs.contains(.read)
            try await RawConnection.with(port: server.port) { connection in
                let overview = try await visitor.ask(connection, "GET /")
                #expect(overview.status == 200 && overview.body.contains("visitor"))
                for jar in ["default", "other"] {
                    #expect(overview.body.contains("/jars/\(jar)") == (mayRead && grant.covers(jar: jar)))
                    let page = try await visitor.ask(connection, "GET /jars/\(jar)?url=https://www.example.com/")
                    #expect(page.status == (!grant.covers(jar: jar) ? 404 : mayRead ? 200 : 403))
                    #expect(page.body.contains("deep") == (page.status == 200))
                    #expect(
                        page.body.contains(#"action="/jars/\#(jar)/reveal""#)
                            == (page.status == 200 && grant.verbs.contains(.secrets)))
                    #expect(!page.body.contains("cookie-secret"))

                    let key = CookieKey(try Self.cookie(in: jar, of: server)).text
                    let value = try await visitor.ask(
                        connection, "POST /jars/\(jar)/reveal", body: "cookie=\(Self.encoded(key))")
                    let maySee = grant.covers(jar: jar) && grant.verbs.contains(.secrets)
                    #expect(value.status == (!grant.covers(jar: jar) ? 404 : maySee ? 200 : 403), "\(value.body)")
                    #expect(value.body.contains("cookie-secret") == maySee)
                }
                // Tokens belong to no jar.
                #expect(overview.body.contains("https://id.test") == (mayRead && grant.coversAll))
                #expect(!overview.body.contains("access-secret"))
                let missing = try await visitor.ask(connection, "GET /jars/none").status
                #expect(missing == (grant.coversAll && !mayRead ? 403 : 404))
            }
            for jar in ["default", "other"] where !(mayRead && grant.covers(jar: jar)) {
                try await RawConnection.with(port: server.port) { connection in
                    let events = try await visitor.ask(connection, "GET /jars/\(jar)/changes")
                    #expect(events.status == (grant.covers(jar: jar) ? 403 : 404))
                }
            }
        }
        let taken = try server.auditLog.split(separator: "\n").filter { $0.contains("reveal") }
        let seen = ["default", "other"].filter { grant.verbs.contains(.secrets) && grant.covers(jar: $0) }
        #expect(taken.count == seen.count)
        for jar in seen { #expect(taken.contains { $0.contains(#""jar":"\#(jar)""#) }) }
    }

    @Test("The inspector shows only the sign-in page before signing in")
    func nobody() async throws {
        try await RunningServer.with { server in
            try ServiceFixture.fill(server.database)
            let host = "localhost:\(server.port)"
            for (page, verb) in Self.pages {
                let parts = page.replacing("{jar}", with: "default").replacing("{name}", with: "shop").split(
                    separator: " "
                ).map(String.init)
                var fields = ["Host": host, "Cookie": "crumb-inspector=guess"]
                if parts[0] == "POST" {
                    fields["Origin"] = "http://\(host)"
                    fields["Content-Type"] = "application/x-www-form-urlencoded"
                }
                let body = parts[0] == "POST" ? "token=x&cookie=x" : nil
                try await RawConnection.with(port: server.port) { [fields] connection in
                    let answer = try await connection.ask(parts[0], parts[1], fields, body: body)
                    if verb != nil || page == "GET /" {
                        #expect(answer.status != 200, "\(page)")
                    }
                    #expect(!answer.body.contains("deep") && !answer.body.contains("/jars/default"))
                }
            }
        }
    }

    @Test("The inspector shows a gateway's log to readers of its jar, with markup as text")
    func gateway() async throws {
        let gateways = PretendedGateways()
        try await RunningServer.with(runningGateway: { try await gateways.run($0) }) { server in
            try ServiceFixture.fill(server.database)
            let owner = try server.ownerToken
            try await RawConnection.with(port: server.port) { connection in
                let fields = [
                    "Host": "localhost:\(server.port)", "Authorization": "Bearer \(owner)",
                    "Content-Type": "application/json",
                ]
                let started = try await connection.ask(
                    "PUT", "/v1/gateways/shop", fields, body: #"{"jar":"default"}"#)
                #expect(started.status == 201, "\(started.body)")
                gateways.pass("https://www.example.com/<b>", stored: ["<i>cart</i>"])
                gateways.pass("https://none.test/", failure: "dns_error")
                for (name, verbs, jars, status) in [
                    ("all", Set(AccessVerb.allCases), AccessGrant.Jars.all, 200),
                    ("own", [.read], .named(["default"]), 200), ("other", [.read], .named(["other"]), 404),
                    ("blind", [.write], .named(["default"]), 403),
                ] as [(String, Set<AccessVerb>, AccessGrant.Jars, Int)] {
                    let visitor = try await Visitor(server, try server.token(name, verbs, jars: jars))
                    let page = try await visitor.ask(connection, "GET /gateways/shop")
                    #expect(page.status == status, "\(name)")
                    let overview = try await visitor.ask(connection, "GET /").body
                    #expect(overview.contains(#"href="/gateways/shop""#) == (status == 200), "\(name)")
                    guard status == 200 else {
                        let events = try await visitor.ask(connection, "GET /gateways/shop/events")
                        #expect(events.status == status)
                        continue
                    }
                    #expect(page.body.contains("same-site") && page.body.contains("witness"))
                    #expect(page.body.contains("&lt;i&gt;cart&lt;/i&gt;") && !page.body.contains("<i>"))
                    #expect(page.body.contains("dns_error") && page.body.contains("/events?after=2"))
                }
            }
        }
    }

    @Test("A revoked token ends its inspector session, even on an open connection")
    func revoked() async throws {
        try await RunningServer.with { server in
            try ServiceFixture.fill(server.database)
            let visitor = try await Visitor(server, try server.token("visitor", Set(AccessVerb.allCases)))
            let other = try await Visitor(server, try server.token("other", Set(AccessVerb.allCases)))
            let key = Self.encoded(CookieKey(try Self.cookie(in: "default", of: server)).text)
            try await RawConnection.with(port: server.port) { connection in
                let status2 = try await visitor.ask(connection, "GET /jars/default").status
                #expect(status2 == 200)
                let status3 = try await other.ask(connection, "GET /jars/default").status
                #expect(status3 == 200)
                #expect(try server.database.serviceTokens.revoke(named: "visitor", now: RunningServer.now))
                for page in ["GET /", "GET /jars/default"] {
                    let answer = try await visitor.ask(connection, page)
                    #expect(answer.status == 303 && answer.fields["location"]?.hasPrefix("/sign-in") == true)
                }
                let value = try await visitor.ask(connection, "POST /jars/default/reveal", body: "cookie=\(key)")
                #expect(value.status == 303 && !value.body.contains("cookie-secret"))
                // A token of the same name is another token.
                _ = try server.token("visitor", Set(AccessVerb.allCases))
                let status4 = try await visitor.ask(connection, "GET /jars/default").status
                #expect(status4 == 303)
                let status5 = try await other.ask(connection, "GET /jars/default").status
                #expect(status5 == 200)
            }
            try await RawConnection.with(port: server.port) { connection in
                let status6 = try await visitor.ask(connection, "GET /jars/default/changes").status
                #expect(status6 != 200)
            }
        }
    }

    @Test("Signing out of the inspector takes effect on the server, not only in the browser")
    func signedOut() async throws {
        try await RunningServer.with { server in
            let visitor = try await Visitor(server, try server.token("visitor", [.read]))
            try await RawConnection.with(port: server.port) { connection in
                let status7 = try await visitor.ask(connection, "GET /").status
                #expect(status7 == 200)
                let status8 = try await visitor.ask(connection, "POST /sign-out", body: "a=b").status
                #expect(status8 == 303)
                let status9 = try await visitor.ask(connection, "GET /").status
                #expect(status9 == 303)
            }
        }
    }

    private static func cookie(in jar: String, of server: RunningServer) throws -> CookieModel.Cookie.ID {
        let cookies = try server.database.jar(named: jar, now: RunningServer.now).cookies().readable
        return try #require(cookies.first { $0.name.description == "deep" }?.id)
    }

    private static func encoded(_ text: String) -> String {
        text.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }
}
