import Foundation
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

    private func given(_ site: LoopbackServer) throws -> String {
        let url = "http://127.0.0.1:\(site.port)/"
        let path = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let imported = try home.start(
            ["token", "import", "work", "--issuer", server.issuer, "--client-id", "app", "--discover"], input: path
        ).wait()
        #expect(imported.status == 0, "\(imported.talk)")
        let rule = try home.crumb(
            "token", "fallback", "set", "app", url, "--profile", "work", "--when-redirect", "/login", "--cookie",
            "session={access_token}; Path=/; HttpOnly")
        #expect(rule.status == 0, "\(rule.talk)")
        return url
    }

    @Test(
        "It ends signed in, or with what to do",
        arguments: [
            (["access-0"], 0, "welcome\n", 2), (["access-1"], 0, "welcome\n", 3), ([], 43, "go away\n", 3),
        ] as [(Set<String>, Int32, String, Int)])
    func ending(taken: Set<String>, status: Int32, text: String, requests: Int) throws {
        let site = try site(taking: taken)
        let url = try given(site)
        // The first token's cookie is there already where the site no longer takes it.
        let first = try home.crumb("curl", "--", "-s", url)
        let last = first.status == 0 && first.text != "welcome\n" ? try home.crumb("curl", "--", "-s", url) : first
        #expect(last.status == status && last.text == text, "\(last.status) \(last.text) \(last.talk)")
        if status != 0 {
            #expect(last.talk.contains("crumb token login work"), "\(last.talk)")
            #expect(last.talk.contains("\(url)login"), "\(last.talk)")
        }
        #expect(site.requests.count <= requests, "\(site.requests.map(\.target))")
    }

    @Test("A rule's statuses are those that HTTP has", arguments: ["99", "1000", "-1"])
    func statuses(status: String) throws {
        let result = try home.crumb(
            "token", "fallback", "set", "app", "https://app.example/", "--profile", "work", "--authorization",
            "--when-status=\(status)")
        #expect(result.status == 64, "\(result.talk)")
    }
}
