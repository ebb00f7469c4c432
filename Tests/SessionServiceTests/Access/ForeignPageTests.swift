import SessionStore
import Testing

@testable import SessionService

@Suite("Requests from other sites' pages in browsers, and requests from tools")
struct ForeignPageTests {
    private static let decorate = "/v1/jars/work/decorate"
    private static let callback = "/v1/logins/callback?state=x"

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let method: String
        let path: String
        let fields: [String: String]
        /// How it is answered with a good token, which is for everything.
        let status: Int

        init(_ name: String, _ method: String, _ fields: [String: String], _ status: Int) {
            self.init(name, method, ForeignPageTests.decorate, fields, status)
        }

        init(_ name: String, _ method: String, _ path: String, _ fields: [String: String], _ status: Int) {
            self.name = name
            self.method = method
            self.path = path
            self.fields = fields
            self.status = status
        }

        var testDescription: String { "\(name): \(method) \(path)" }
    }

    private static let upgrade = [
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ]

    private static let rows: [Row] = [
        Row("a tool", "POST", [:], 200),
        // The host that is asked for
        Row("rebinding", "POST", ["Host": "evil.test:PORT"], 421),
        Row("rebinding without a port", "POST", ["Host": "evil.test"], 421),
        Row("another port's name", "POST", ["Host": "localhost:1"], 421),
        Row("a name that is allowed", "POST", ["Host": "crumb.example"], 200),
        Row("rebinding", "GET", "/v1/jars", ["Host": "evil.test:PORT"], 421),
        Row("rebinding", "GET", "/", ["Host": "evil.test:PORT"], 421),
        Row("rebinding", "GET", "/healthz", ["Host": "evil.test:PORT"], 421),
        Row("rebinding", "GET", callback, ["Host": "evil.test:PORT"], 421),
        // Scripts
        Row("a foreign page's script", "POST", ["Origin": "https://evil.test"], 403),
        Row("a sandboxed page", "POST", ["Origin": "null"], 403),
        Row("the same name on another port", "POST", ["Origin": "http://localhost:1"], 403),
        Row("the same name with TLS", "POST", ["Origin": "https://localhost:PORT"], 403),
        Row("an own page's script", "POST", ["Origin": "http://localhost:PORT"], 200),
        Row("a foreign page's script", "GET", "/v1/jars", ["Origin": "https://evil.test"], 403),
        Row("a foreign page's script", "HEAD", "/v1/jars", ["Origin": "https://evil.test"], 403),
        Row("a foreign page's script", "DELETE", "/v1/jars/work", ["Origin": "https://evil.test"], 403),
        Row("a foreign page's script", "PATCH", "/v1/jars/work", ["Origin": "https://evil.test"], 403),
        Row("a foreign page's script", "GET", "/metrics", ["Origin": "https://evil.test"], 403),
        Row("a foreign page's events", "GET", "/v1/jars/work/events", ["Origin": "https://evil.test"], 403),
        Row(
            "a CORS preflight", "OPTIONS",
            ["Origin": "https://evil.test", "Access-Control-Request-Method": "POST"], 403),
        // Links, pictures, frames
        Row("a link on a foreign page", "POST", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("a page on another port", "POST", ["Sec-Fetch-Site": "same-site"], 403),
        Row("an own page", "POST", ["Sec-Fetch-Site": "same-origin"], 200),
        Row("a picture on a foreign page", "GET", "/v1/jars", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("a picture on another port's page", "GET", "/v1/jars", ["Sec-Fetch-Site": "same-site"], 403),
        Row("an address that was typed in", "GET", "/v1/jars", ["Sec-Fetch-Site": "none"], 200),
        Row("an own page", "GET", "/v1/jars", ["Sec-Fetch-Site": "same-origin"], 200),
        Row("a value that nobody knows", "GET", "/v1/jars", ["Sec-Fetch-Site": "Same-Origin"], 403),
        Row("a picture on a foreign page", "HEAD", "/v1/jars", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("a tool", "HEAD", "/v1/jars", [:], 200),
        Row("a link on a foreign page", "GET", "/", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("a frame of a foreign page", "GET", "/jars/work", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("a foreign page's events", "GET", "/jars/work/changes", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("a link on a foreign page", "GET", "/v1/jars/work/events", ["Sec-Fetch-Site": "cross-site"], 403),
        // The browser that comes back from a login is sent by another site, to this path, by GET.
        Row("a browser that comes back", "GET", callback, ["Sec-Fetch-Site": "cross-site"], 400),
        Row("a browser that comes back by script", "GET", callback, ["Origin": "https://evil.test"], 403),
        Row("a form that comes back", "POST", "/v1/logins/callback", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("a look at the way back", "HEAD", callback, ["Sec-Fetch-Site": "cross-site"], 403),
        Row("nearly the way back", "GET", "/v1/logins/callback/?state=x", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("nearly the way back", "GET", "/v1/logins/%63allback?state=x", ["Sec-Fetch-Site": "cross-site"], 403),
        Row("past the way back", "GET", "/v1/logins/callback/../../jars", ["Sec-Fetch-Site": "cross-site"], 403),
        // Forms
        Row("a form", "POST", ["Content-Type": "application/x-www-form-urlencoded"], 415),
        Row("a form with files", "POST", ["Content-Type": "multipart/form-data; boundary=x"], 415),
        Row("a form of plain text", "POST", ["Content-Type": "text/plain"], 415),
        Row("a form that shouts", "POST", ["Content-Type": " TEXT/Plain ; charset=x"], 415),
        Row("two types", "POST", ["Content-Type": "text/plain, application/json"], 415),
        Row(
            "a form of an own page", "POST",
            ["Content-Type": "application/x-www-form-urlencoded", "Origin": "http://localhost:PORT"], 415),
        Row(
            "a form for the inspector", "POST", "/jars/work/reveal",
            ["Content-Type": "application/x-www-form-urlencoded"], 415),
        Row(
            "a foreign page's form for the inspector", "POST", "/sign-in",
            ["Content-Type": "application/x-www-form-urlencoded", "Origin": "https://evil.test"], 403),
        Row("an encoded body", "POST", ["Content-Encoding": "gzip"], 415),
        // Connections that would be something else than HTTP afterwards
        Row("a foreign page's socket", "GET", "/v1/jars", upgrade.merging(["Origin": "https://evil.test"]) { $1 }, 403),
        Row(
            "a foreign page's socket", "GET", "/v1/jars/work/events",
            upgrade.merging(["Sec-Fetch-Site": "cross-site"]) { $1 }, 403),
        Row("a socket of nobody's page", "GET", "/v1/jars", upgrade, 200),
        Row(
            "another protocol", "GET", "/v1/jars",
            ["Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQAoAAAAAIAAAAA"],
            200),
        // Proofs
        Row("no scheme", "POST", ["Authorization": "TOKEN"], 401),
        Row("another scheme", "POST", ["Authorization": "Basic TOKEN"], 401),
        Row("a token with more behind", "POST", ["Authorization": "Bearer TOKENx"], 401),
        Row("two tokens", "POST", ["Authorization": "Bearer TOKEN TOKEN"], 401),
        Row("two spaces", "POST", ["Authorization": "Bearer  TOKEN"], 200),
        Row("a scheme in lower case", "POST", ["Authorization": "bearer TOKEN"], 200),
    ]

    @Test(
        "Requests of pages and tools over TCP get the status in the table, with a token for everything", arguments: rows
    )
    func places(row: Row) async throws {
        try await RunningServer.with {
            $0.hosts = ["crumb.example"]
        } _: { server in
            let token = try server.token("t", Set(AccessVerb.allCases))
            var fields = ["Host": "localhost:PORT", "Authorization": "Bearer TOKEN"]
            fields.merge(row.fields) { $1 }
            let sent = fields.mapValues {
                $0.replacing("PORT", with: "\(server.port)").replacing("TOKEN", with: token)
            }
            let body =
                ["GET", "HEAD", "DELETE", "OPTIONS"].contains(row.method)
                ? nil : #"{"url": "https://www.example.com/"}"#
            try await RawConnection.with(port: server.port) { connection in
                let answer = try await connection.ask(row.method, row.path, sent, body: body)
                #expect(answer.status == row.status, "\(answer.body)")
                #expect(!answer.fields.keys.contains { $0.hasPrefix("access-control") || $0 == "upgrade" })
                #expect(answer.status == 200 || !answer.body.contains("c00kie-secret"))
            }
        }
    }

    @Test(
        "A foreign page is rejected on the socket, too",
        arguments: [("POST", decorate), ("GET", "/v1/jars")])
    func socket(method: String, path: String) async throws {
        try await RunningServer.with { server in
            try await RawConnection.with(path: server.socket) { connection in
                for fields in [["Origin": "https://evil.test"], ["Sec-Fetch-Site": "cross-site"]] {
                    let body = method == "POST" ? #"{"url": "https://www.example.com/"}"# : nil
                    let status1 = try await connection.ask(method, path, fields, body: body).status
                    #expect(status1 == 403)
                }
            }
        }
    }

    @Test("A link on a foreign page to the inspector shows a page that leads on, and nothing of the jars")
    func links() async throws {
        let navigation = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"]
        try await RunningServer.with { server in
            let fields = ["Host": "localhost:\(server.port)"].merging(navigation) { $1 }
            try await RawConnection.with(port: server.port) { connection in
                let pages = [
                    ("/", "/"), ("/jars/work", "/jars/work"),
                    ("/jars/work?url=%22%3Cb%3E&script=true", "&amp;script&#61;true"),
                ]
                for (path, link) in pages {
                    let answer = try await connection.ask("GET", path, fields)
                    #expect(answer.status == 403 && answer.fields["content-type"]?.hasPrefix("text/html") == true)
                    #expect(answer.fields["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
                    #expect(answer.body.contains("A page of another site opened this address"), "\(answer.body)")
                    #expect(
                        answer.body.contains("href=\"\(link)") || answer.body.contains("script=true\""),
                        "\(answer.body)")
                    #expect(!answer.body.contains("c00kie") && !answer.body.contains("<b>"))
                    // The link of that page.
                    let own = fields.merging(["Sec-Fetch-Site": "same-origin"]) { $1 }
                    let page = try await connection.ask("GET", path, own)
                    #expect(page.status == 303 && page.fields["location"]?.hasPrefix("/sign-in?to=") == true)
                }
                // What is no page in a tab of its own is refused as before.
                for (method, path, changes) in [
                    ("GET", "/v1/jars", [:]), ("GET", "/metrics", [:]), ("POST", "/sign-in", [:]),
                    ("GET", "/", ["Sec-Fetch-Dest": "iframe"]), ("GET", "/", ["Sec-Fetch-Mode": "no-cors"]),
                    ("GET", "/", ["Origin": "https://evil.test"]),
                ] {
                    let asked = fields.merging(changes) { $1 }
                    let answer = try await connection.ask(method, path, asked)
                    #expect(answer.status == 403, "\(path)")
                    let isPage = answer.fields["content-type"]?.hasPrefix("text/html") == true
                    #expect(isPage == (changes["Origin"] != nil), "\(method) \(path)")
                }
            }
        }
    }
}
