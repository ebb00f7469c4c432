import Foundation
import Synchronization
import TestSupport
import Testing

/// `crumb curl` at a site that says "not signed in", with a login rule.
@Suite("crumb curl's login fallback")
struct CurlFallbackTests {
    private let home = CrumbHome()
    private let server: AuthorizationServer

    init() throws {
        server = try AuthorizationServer()
    }

    /// A site that takes the tokens named, in a cookie.
    private func site(taking tokens: Set<String>) throws -> LoopbackServer {
        try LoopbackServer { request in
            let cookie = request.text("cookie").first ?? ""
            guard let token = cookie.split(separator: "session=").last, tokens.contains(String(token)) else {
                return LoopbackServer.Response(302, location: "/login", body: "go away\n")
            }
            return LoopbackServer.Response(body: "welcome\n")
        }
    }

    private func importTokens() throws {
        let path = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let imported = try home.start(
            ["token", "import", "work", "--issuer", server.issuer, "--client-id", "app", "--discover"], input: path
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
    }

    private func given(_ site: LoopbackServer) throws -> String {
        let url = "http://127.0.0.1:\(site.port)/"
        try importTokens()
        let rule = try home.crumb(
            "token", "fallback", "set", "app", url, "--profile", "work", "--when-redirect", "/login", "--cookie",
            "session={access_token}; Path=/; HttpOnly")
        #expect(rule.status == 0, "\(rule.messages)")
        return url
    }

    @Test(
        "The login fallback signs in, or the error names the next step",
        arguments: [
            (["access-0"], 0, "welcome\n", 2), (["access-1"], 0, "welcome\n", 3), ([], 43, "go away\n", 3),
        ] as [(Set<String>, Int32, String, Int)])
    func ending(taken: Set<String>, status: Int32, text: String, requests: Int) throws {
        let site = try site(taking: taken)
        let url = try given(site)
        // The first token's cookie is there already where the site no longer takes it.
        let first = try home.crumb("curl", "--", "-s", url)
        let last = first.status == 0 && first.text != "welcome\n" ? try home.crumb("curl", "--", "-s", url) : first
        #expect(last.status == status && last.text == text, "\(last.status) \(last.text) \(last.messages)")
        if status != 0 {
            #expect(last.messages.contains("crumb token login work"), "\(last.messages)")
            #expect(last.messages.contains("\(url)login"), "\(last.messages)")
        }
        #expect(site.requests.count <= requests, "\(site.requests.map(\.target))")
    }

    @Test("A rule whose login was removed names the commands that help")
    func removedLogin() throws {
        let site = try site(taking: [])
        let url = try given(site)
        #expect(try home.crumb("token", "remove", "work").status == 0)
        let dump = home.file("headers")
        let result = try home.crumb("curl", "--", "-s", "-D", dump, "-w", "%{http_code}", url)
        #expect(result.status == 43 && site.requests.count == 1, "\(result)")
        // What the site says is all that there is.
        #expect(result.text == "go away\n302", "\(result)")
        let headers = String(decoding: home.bytes("headers"), as: UTF8.self)
        #expect(headers.hasPrefix("HTTP/1.1 302"), "\(headers)")
        #expect(result.messages.contains("'crumb token login work'"), "\(result.messages)")
        #expect(result.messages.contains("'crumb token fallback list'"), "\(result.messages)")
    }

    /// A rule that presents the token in the Authorization field, and a site that takes some tokens.
    private func bearerSite(taking tokens: Set<String>) throws -> (LoopbackServer, url: String) {
        let site = try LoopbackServer { request in
            let token = request.text("authorization").first?.dropFirst("Bearer ".count) ?? ""
            if tokens.contains(String(token)) { return LoopbackServer.Response(body: "welcome\n") }
            var response = LoopbackServer.Response(401, body: "go away\n")
            response.fields.append(("WWW-Authenticate", Array("Bearer error=\"invalid_token\"".utf8)))
            return response
        }
        let url = "http://127.0.0.1:\(site.port)/"
        try importTokens()
        let rule = try home.crumb("token", "fallback", "set", "app", url, "--profile", "work", "--authorization")
        #expect(rule.status == 0, "\(rule.messages)")
        return (site, url)
    }

    @Test("The token goes with the first request, and one that the site takes is not renewed")
    func once() throws {
        let (site, url) = try bearerSite(taking: ["access-0"])
        for count in 1...3 {
            let result = try home.crumb("curl", "--", "-s", url)
            #expect(result.status == 0 && result.text == "welcome\n", "\(result.messages)")
            #expect(site.requests.count == count)
        }
        #expect(server.forms(at: "/token").isEmpty)
    }

    @Test("The file of -D has the headers of the answer that counts, alone")
    func dumpedHeaders() throws {
        let (site, url) = try bearerSite(taking: ["access-1"])
        let dump = home.file("headers")
        let result = try home.crumb("curl", "--", "-s", "-D", dump, url)
        #expect(result.status == 0 && result.text == "welcome\n" && site.requests.count == 2, "\(result.messages)")
        let text = String(decoding: home.bytes("headers"), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200") && !text.contains("401"), "\(text)")
    }

    @Test("The file of -D has the refusal that is the answer, once")
    func dumpedRefusal() throws {
        let (site, url) = try bearerSite(taking: [])
        let refused = try home.crumb("curl", "--", "-s", "-D", home.file("headers"), url)
        #expect(refused.status == 43 && refused.text == "go away\n" && site.requests.count == 2)
        let headers = String(decoding: home.bytes("headers"), as: UTF8.self)
        #expect(headers.hasPrefix("HTTP/1.1 401") && headers.split(separator: "HTTP/1.1").count == 1, "\(headers)")
    }

    @Test("The file of -D has nothing of a refusal that follows one of curl's own retries")
    func dumpedRetry() throws {
        let count = Mutex(0)
        let site = try LoopbackServer { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 {
                var response = LoopbackServer.Response(503, body: "later\n")
                response.fields.append(("Retry-After", Array("0".utf8)))
                return response
            }
            if request.text("cookie").contains(where: { $0.contains("session=access-0") }) {
                return LoopbackServer.Response(body: "welcome\n")
            }
            var response = LoopbackServer.Response(302, location: "/login", body: "go away\n")
            // More than a pipe gives at once.
            response.fields += (0..<5).map { ("X-Refusal-\($0)", Array(repeating: UInt8(ascii: "x"), count: 30_000)) }
            return response
        }
        let place = try given(site)
        let result = try home.crumb("curl", "--", "-s", "--retry", "2", "-D", home.file("headers"), place)
        #expect(result.status == 0 && result.text.hasSuffix("welcome\n"), "\(result.messages)")
        let headers = String(decoding: home.bytes("headers"), as: UTF8.self)
        #expect(headers.hasPrefix("HTTP/1.1 503") && headers.contains("HTTP/1.1 200"), "\(headers.prefix(1000))")
        #expect(!headers.contains("302") && !headers.contains("X-Refusal"), "\(headers.prefix(1000))")
    }

    @Test("A form that was posted is not posted again for the page that it leads to")
    func postRedirectGet() throws {
        let site = try LoopbackServer { request in
            if request.target == "/form" { return LoopbackServer.Response(303, location: "/done", body: "") }
            let isSignedIn = request.text("cookie").contains { $0.contains("session=access-0") }
            return LoopbackServer.Response(
                isSignedIn ? 200 : 302, location: isSignedIn ? nil : "/login", body: "done\n")
        }
        let url = try given(site)
        let result = try home.crumb("curl", "--", "-s", "-L", "-d", "a=b", "\(url)form")
        #expect(result.status == 0 && result.text == "done\n", "\(result.messages)")
        let requests = site.requests.map { "\($0.method) \($0.target)" }
        #expect(requests == ["POST /form", "GET /done", "GET /done"], "\(requests)")
    }

    @Test("An order that the site answers with its login page is sent once, and the next request is signed in")
    func notRepeated() throws {
        let site = try site(taking: ["access-0"])
        let url = try given(site)
        let order = try home.crumb("curl", "--", "-s", "-d", "a=b", "\(url)order")
        #expect(order.status == 0 && order.text == "go away\n", "\(order.messages)")
        #expect(order.messages.contains("POST") && order.messages.contains("not repeated"), "\(order.messages)")
        let next = try home.crumb("curl", "--", "-s", "-d", "a=b", "\(url)order")
        #expect(next.status == 0 && next.text == "welcome\n" && !next.messages.contains("not repeated"))
        #expect(site.requests.map(\.method) == ["POST", "POST"])
        #expect(server.forms(at: "/token").isEmpty)
    }

    @Test("An order that is not sent again is answered by the site even if no login is possible")
    func notRepeatedWithoutToken() throws {
        let site = try site(taking: [])
        let url = try given(site)
        // The first order delivers the stored token, the second one a renewed token, which cannot be renewed again.
        for _ in 0..<2 { _ = try home.crumb("curl", "--", "-s", "-d", "a=b", "\(url)order") }
        server.endGrants()
        let order = try home.crumb("curl", "--", "-s", "-d", "a=b", "\(url)order")
        #expect(order.status == 43 && order.text == "go away\n", "\(order.status) \(order.messages)")
        #expect(site.requests.map(\.method) == ["POST", "POST", "POST"])
    }

    @Test("A body that can be read only once is not sent again, and that is said")
    func unrepeatable() throws {
        let (site, url) = try bearerSite(taking: [])
        let pipe = home.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let writer = Thread {
            let file = open(pipe, O_WRONLY)
            _ = "x=y".withCString { write(file, $0, 3) }
            close(file)
        }
        writer.start()
        let result = try home.crumb("curl", "--", "-s", "--data-binary", "@\(pipe)", url)
        #expect(result.text == "go away\n" && site.requests.count == 1, "\(result.text)")
        #expect(result.messages.contains("read only once"), "\(result.messages)")
    }

    @Test("A URL that gives no cookies for a token is named")
    func failedExchange() throws {
        let site = try site(taking: [])
        let url = try given(site)
        let rule = try home.crumb(
            "token", "fallback", "set", "app", url, "--profile", "work", "--when-redirect", "/login", "--exchange",
            "\(url)cookies")
        #expect(rule.status == 0, "\(rule.messages)")
        let result = try home.crumb("curl", "--", "-s", url)
        #expect(result.status == 48 && result.messages.contains("\(url)cookies"), "\(result.messages)")
    }

    @Test("A rule's statuses are those that HTTP has", arguments: ["99", "1000", "-1"])
    func statuses(status: String) throws {
        let result = try home.crumb(
            "token", "fallback", "set", "app", "https://app.example/", "--profile", "work", "--authorization",
            "--when-status=\(status)")
        #expect(result.status == 64, "\(result.messages)")
    }
}
