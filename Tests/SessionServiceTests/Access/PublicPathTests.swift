import HTTPTypes
import Hummingbird
import Logging
import SessionStore
import Testing

@testable import SessionService

@Suite("A service behind a proxy, under a path")
struct PublicPathTests {
    private static let publicURL = "https://www.example:8443/tools/crumb"

    /// What a browser that comes by the proxy sends.
    private static let own = [
        "Host": "www.example:8443", "Origin": "https://www.example:8443",
        "Content-Type": "application/x-www-form-urlencoded",
    ]

    private static func serving(_ body: @escaping @Sendable (RunningServer) async throws -> Void) async throws {
        try await RunningServer.with({ $0.publicURL = PublicURL(publicURL) }, body)
    }

    @Test(
        "The public path's prefix is removed from a target, and nothing else",
        arguments: [
            ("/p/v1/jars", "/v1/jars"), ("/p", "/"), ("/p/", "/"), ("/p?a=b", "/?a=b"), ("/p/?a", "/?a"),
            ("/v1/jars", "/v1/jars"), ("/px/v1", "/px/v1"), ("/p%2Fv1", "/p%2Fv1"), ("/", "/"), ("/P/v1", "/P/v1"),
            ("/p/p/x", "/p/x"), ("/p//v1", "//v1"),
        ])
    func targets(target: String, local: String) throws {
        for text in ["https://a.test/p", "https://a.test/p/"] {
            #expect(try #require(PublicURL(text)).withoutPrefix(target) == local)
        }
        #expect(try #require(PublicURL("https://a.test")).withoutPrefix(target) == target)
    }

    @Test(
        "A public URL has only parts that are used, and to which paths can be appended",
        arguments: [
            "https://user@a.test", "https://user:word@a.test/p", "https://@a.test", "https://a.test?",
            "https://a.test/?q",
            "https://a.test#", "https://a.test/p#f", "https://a.test/p/../q", "https://a.test/./p", "https://a.test/..",
            "https://a.test/%2e%2e/p", "https://a.test\\p", "https:\\\\a.test", " https://a.test",
            "https://a.test/p//q",
            "https://a.te\tst", "http://a.test", "ftp://a.test", "a.test",
        ])
    func unusable(text: String) {
        #expect(PublicURL(text) == nil)
        let error = #expect(throws: ServiceStartError.self) {
            try ServiceConfiguration(arguments: ["public.url": [text]])
        }
        #expect(error?.description.contains("word") == false)
    }

    @Test(
        "A public URL is written in canonical form",
        arguments: [
            ("https://a.test", "https://a.test"), ("https://A.test:443/", "https://a.test"),
            ("https://a.test:8443/p.q/~r/", "https://a.test:8443/p.q/~r"), ("http://[::1]:80/x", "http://[::1]/x"),
            ("https://bücher.test", "https://xn--bcher-kva.test"),
        ])
    func usable(text: String, description: String) {
        #expect(PublicURL(text)?.description == description)
    }

    @Test("A public path must not begin like a path of the service")
    func ownSegments() async throws {
        let fixture = try ServiceFixture()
        let router = Router(context: ServiceRequestContext.self)
        fixture.api.addRoutes(to: router)
        HealthRoutes(
            database: fixture.database, state: ServiceState(), health: ServiceHealth(logger: Logger(label: "test")),
            now: { ServiceFixture.now }
        ).add(to: router)
        let admission = Admission(tokens: fixture.database.serviceTokens, limits: ServiceLimits())
        Inspector(database: fixture.database, admission: admission, now: { ServiceFixture.now })
            .addRoutes(to: router)
        let first = Set(router.routes.compactMap { "\($0.path)".split(separator: "/").first.map(String.init) })
        #expect(Set(PublicURL.ownSegments.map(String.init)) == first.union(["metrics"]))
    }

    @Test("The API answers with and without the public path's prefix")
    func api() async throws {
        try await Self.serving { server in
            let fields = ["Host": "www.example:8443", "Authorization": "Bearer \(try server.ownerToken)"]
            try await RawConnection.with(port: server.port) { connection in
                for path in ["/tools/crumb/v1/jars/work", "/v1/jars/work", "/tools/crumb/readyz", "/readyz"] {
                    let status = try await connection.ask("GET", path, fields).status
                    #expect(status == 200, "\(path)")
                }
                for path in ["/tools/v1/jars/work", "/tools/crumbs/v1/jars/work", "/tools/crumb/tools/crumb/v1/jars"] {
                    let status = try await connection.ask("GET", path, fields).status
                    #expect(status == 404, "\(path)")
                }
                let doubled = try await connection.ask("GET", "/tools/crumb//v1/jars", fields)
                #expect(doubled.status == 400)
                // A form of the own pages is none for the API, behind the prefix neither.
                let form = Self.own.merging(["Authorization": fields["Authorization"] ?? ""]) { $1 }
                let refused = try await connection.ask("POST", "/tools/crumb/v1/prune", form, body: "a=b")
                #expect(refused.status == 415)
            }
        }
    }

    @Test(
        "The inspector's pages, links, assets, redirects and cookie have the public path's prefix",
        arguments: ["", "/tools/crumb"])
    func inspector(sent: String) async throws {
        try await Self.serving { server in
            try ServiceFixture.fill(server.database)
            let token = try server.token("visitor", Set(AccessVerb.allCases))
            try await RawConnection.with(port: server.port) { connection in
                let host = ["Host": "www.example:8443"]
                let start = try await connection.ask("GET", "\(sent)/jars/work", host)
                #expect(start.status == 303)
                #expect(start.fields["location"] == "/tools/crumb/sign-in?to=%2Fjars%2Fwork")
                let link = [
                    "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
                ]
                let foreign = try await connection.ask("GET", "\(sent)/jars/work", host.merging(link) { $1 })
                #expect(foreign.status == 403 && foreign.body.contains(#"href="/tools/crumb/jars/work""#))
                let form = try await connection.ask("GET", "\(sent)/sign-in?to=%2Fjars%2Fwork", host)
                #expect(form.body.contains(#"action="/tools/crumb/sign-in""#))
                let signedIn = try await connection.ask(
                    "POST", "\(sent)/sign-in", Self.own, body: "token=\(token)&to=%2Fjars%2Fwork")
                #expect(signedIn.fields["location"] == "/tools/crumb/jars/work")
                let line = try #require(signedIn.fields["set-cookie"])
                #expect(line.hasPrefix("__Secure-crumb-inspector=") && line.contains("; Path=/tools/crumb; HttpOnly"))
                #expect(line.hasSuffix("; SameSite=Strict; Secure"))
                let cookie = host.merging(["Cookie": String(line.prefix { $0 != ";" })]) { $1 }
                for page in ["/", "", "/?name=wor", "/jars/default?url=https://www.example.com/", "/jars/none"] {
                    let answer = try await connection.ask("GET", "\(sent)\(page.isEmpty ? "/" : page)", cookie)
                    for match in answer.body.matches(of: /(?:href|src|action|data-events)="([^"#]*)"/) {
                        #expect(match.output.1.hasPrefix("/tools/crumb/"), "\(page): \(match.output.1)")
                    }
                    #expect(
                        answer.status == (page == "/jars/none" ? 404 : 200) && answer.body.contains("/tools/crumb/"))
                }
                let style = try await connection.ask("GET", "\(sent)/inspector.css", cookie)
                #expect(style.status == 200)
                let out = Self.own.merging(cookie) { $1 }
                let signedOut = try await connection.ask("POST", "\(sent)/sign-out", out, body: "a=b")
                #expect(signedOut.fields["location"] == "/tools/crumb/sign-in")
                #expect(signedOut.fields["set-cookie"]?.contains("Max-Age=0; Path=/tools/crumb;") == true)
            }
        }
    }

    @Test("The client's address is the last one that is not a proxy's, and only proxies are trusted")
    func clientAddress() async throws {
        let rows: [(proxies: [String], publicURL: String?, field: String?, peer: String)] = [
            (["127.0.0.1"], Self.publicURL, "203.0.113.9", "203.0.113.9"),
            (["127.0.0.1"], Self.publicURL, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
            (["127.0.0.1", "203.0.113.9"], Self.publicURL, "198.51.100.1,203.0.113.9", "198.51.100.1"),
            (["127.0.0.1"], Self.publicURL, "2001:db8::1", "2001:db8::1"),
            (["127.0.0.1"], Self.publicURL, nil, "127.0.0.1"),
            (["127.0.0.1"], Self.publicURL, "nonsense", "127.0.0.1"), (["127.0.0.1"], Self.publicURL, "", "127.0.0.1"),
            (["192.0.2.1"], Self.publicURL, "203.0.113.9", "127.0.0.1"),
            ([], Self.publicURL, "203.0.113.9", "127.0.0.1"),
            (["127.0.0.1"], nil, "203.0.113.9", "127.0.0.1"),
        ]
        for row in rows {
            let server = try await RunningServer.with {
                $0.publicURL = row.publicURL.flatMap(PublicURL.init)
                $0.proxies = row.proxies
            } _: { server in
                var fields = ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(try server.ownerToken)"]
                fields["X-Forwarded-For"] = row.field
                try await RawConnection.with(port: server.port) { [fields] connection in
                    let answer = try await connection.ask("GET", "/v1/jars/work/cookies?values=true", fields)
                    #expect(answer.status == 200)
                }
            }
            let audit = try server.auditLog
            #expect(audit.contains("\"\(row.peer)\""), "\(row): \(audit)")
        }
    }
}

@Suite("The inspector's overview of many jars")
struct InspectorOverviewTests {
    @Test("The inspector's overview has pages, and finds jars by a part of their names")
    func pages() async throws {
        try await RunningServer.with { server in
            for number in 100..<350 {
                try server.database.createJar(named: "user-\(number)", now: RunningServer.now)
            }
            func page(_ uri: String) async throws -> (jars: [String], next: String?) {
                let answer = try await RawConnection.with(path: server.socket) { connection in
                    try await connection.ask("GET", uri)
                }
                #expect(answer.status == 200, "\(uri)")
                let next = answer.body.firstMatch(of: /href="([^"]*)" rel="next"/).map {
                    $0.output.1.replacing("&amp;", with: "&")
                }
                return (
                    answer.body.matches(of: /href="\/jars\/([^"]*)"/).map { String($0.output.1) }, next.map(String.init)
                )
            }
            var uri: String? = "/"
            var sizes: [Int] = []
            var names: [String] = []
            while let current = uri, sizes.count < 10 {
                let found = try await page(current)
                sizes.append(found.jars.count)
                names += found.jars
                uri = found.next
            }
            #expect(sizes == [100, 100, 51] && Set(names).count == 251)
            #expect(names == (100..<350).map { "user%2D\($0)" } + ["work"])
            let first = try await page("/?name=SER-1")
            #expect(first.jars.count == 100 && first.next == nil)
            let second = try await page("/?name=R-2&after=user-298")
            #expect(second.jars == ["user%2D299"] && second.next == nil)
            let none = try await page("/?name=%25%3Cb%3E")
            #expect(none.jars.isEmpty)
        }
    }
}
