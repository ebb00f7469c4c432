import Foundation
import TestSupport
import Testing

/// `crumb curl --service`: the jar of a service in the place of one in a file.
@Suite("crumb curl with a service")
struct CurlServiceTests {
    private let service: RunningService

    init() throws {
        service = try RunningService(.socket)
    }

    /// What a run shows: the status, standard output, and the reports on standard error.
    private struct Outcome: Equatable {
        let status: Int32
        let text: String
        let messages: String
        /// The requests with their cookies.
        let requests: [String]
    }

    /// A site with a redirect, cookies that are set, replaced, refused and deleted, and a page that shows what it got.
    private static func site() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.target {
            case "/start":
                LoopbackServer.Response(
                    302, setCookie: ["a=1; HttpOnly", "b=2; Path=/next", "__Host-c=3"], location: "/next")
            case "/next": LoopbackServer.Response(setCookie: ["a=4", "b=; Max-Age=0; Path=/next"], body: "next\n")
            default: LoopbackServer.Response(body: "\(request.text("cookie")) \(request.text("x-team"))\n")
            }
        }
    }

    private static func outcomes(
        _ run: ([String]) throws -> RunResult, of commands: [[String]], at site: LoopbackServer
    ) throws -> [Outcome] {
        try commands.map { words in
            let before = site.requests.count
            let result = try run(words)
            let requests = site.requests.dropFirst(before).map { "\($0.method) \($0.target) \($0.text("cookie"))" }
            return Outcome(status: result.status, text: result.text, messages: result.messages, requests: requests)
        }
    }

    @Test("`curl` with a service sends, stores and reports the same as with a file")
    func sameAsFile() throws {
        let (site, home) = (try CurlServiceTests.site(), CrumbHome())
        let url = "http://127.0.0.1:\(site.port)/"
        let commands = [
            ["curl", "--", "-s", "\(url)page"], ["curl", "--json", "-j", "new", "--", "-s", "\(url)page"],
            ["curl", "--json", "--", "-sL", "\(url)start"], ["curl", "--json", "-j", "new", "--", "-s", "\(url)next"],
            ["jars", "fields", "set", "X-Team", "--scope", url], ["curl", "--json", "--", "-s", "\(url)page"],
            ["curl", "--json", "--", "-s", "-b", "own=1; a=mine", "\(url)page"],
            ["curl", "--json", "--", "-s", "-H", "X-Team: red", "\(url)page"],
            ["curl", "--json", "--", "-s", "-d", "x=y", "\(url)page"], ["list", "--json", "--values"],
            ["curl", "--top-level", "https://other.test/", "--", "-s", "\(url)page"],
            ["curl", "-j", "new", "--", "\(url)page", "-sD", "-", "-o", "/dev/null"],
        ]
        let variables = ["CRUMB_FIELD_VALUE": "blue"]
        let onFile = try CurlServiceTests.outcomes(
            { try home.start($0, variables: variables).wait() }, of: commands, at: site)
        let served = try CurlServiceTests.outcomes(
            { try service.ask($0, variables: variables) }, of: commands, at: site)
        for (command, (file, service)) in zip(commands, zip(onFile, served)) where command.first == "curl" {
            #expect(file == service, "\(command)")
        }
        #expect(onFile[2].requests == ["GET /start []", "GET /next [\"b=2; a=1\"]"])
        #expect(onFile[4].status == 0 && onFile[5].text.contains("blue"), "\(onFile[4].messages)")
        #expect(onFile[6].text.contains("own=1; a=mine"))
        #expect(served[1].messages.contains("created") == false && served[3].messages.contains("created jar 'new'"))
    }

    @Test(
        "A request that may act, such as a login, is not sent if the access token may not store the cookies of its response"
    )
    func tokenThatMayNotWrite() throws {
        let (limited, site) = (try RunningService(.network), try CurlServiceTests.site())
        #expect(try limited.ask(["jars", "create", "work"]).status == 0)
        let made = try limited.home.crumb("serve", "token", "create", "reader", "--jar", "work", "--read", "--secrets")
        let token = try limited.home.write(made.text, to: "reader")
        func curl(_ words: String...) throws -> RunResult {
            try limited.ask(
                ["curl", "--jar", "work", "--", "-s"] + words + ["http://127.0.0.1:\(site.port)/start"],
                variables: ["CRUMB_SERVICE_TOKEN_FILE": token])
        }
        let login = try curl("-d", "password=x")
        #expect(login.status == 56 && login.output.isEmpty && site.requests.isEmpty, "\(login.messages)")
        // A request that asks for no change is sent, and the loss of its cookies is reported.
        let page = try curl()
        #expect(page.status == 56 && site.requests.count == 1, "\(page.messages)")
    }

    private func importTokens(_ server: AuthorizationServer) throws {
        let path = try service.home.write(AuthorizationServer.tokens(), to: "tokens")
        let imported = try service.home.start(
            ["token", "import", "work", "--issuer", server.issuer, "--client-id", "app", "--discover"], input: path
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
    }

    @Test(
        "A request ends signed in by a cookie, or with the next step",
        arguments: [
            (["access-0"], 0, "welcome\n", 2), (["access-1"], 0, "welcome\n", 3), ([], 43, "go away\n", 4),
        ] as [(Set<String>, Int32, String, Int)])
    func cookie(taken: Set<String>, status: Int32, text: String, requests: Int) throws {
        let server = try AuthorizationServer()
        let site = try LoopbackServer { request in
            let cookie = request.text("cookie").first ?? ""
            guard let token = cookie.split(separator: "session=").last, taken.contains(String(token)) else {
                return LoopbackServer.Response(302, location: "/login", body: "go away\n")
            }
            return LoopbackServer.Response(body: "welcome\n")
        }
        let url = "http://127.0.0.1:\(site.port)/"
        try importTokens(server)
        let rule = try service.ask([
            "token", "fallback", "set", "app", url, "--profile", "work", "--when-redirect", "/login", "--cookie",
            "session={access_token}; Path=/; HttpOnly",
        ])
        #expect(rule.status == 0, "\(rule.messages)")
        let result = try service.ask(["curl", "--", "-s", url])
        #expect(result.status == status && (status != 0 || result.text == text), "\(result.text) \(result.messages)")
        let advice =
            "work: the site rejects the renewed token too; a new login is required: run 'crumb token login work' "
            + "(login page of the site: \(url)login)"
        if status != 0 { #expect(result.messages.contains(advice), "\(result.messages)") }
        #expect(site.requests.count <= requests, "\(site.requests.map(\.target))")
    }

    @Test("An order that the site answers with its login page is sent once, and the next request is signed in")
    func notRepeated() throws {
        let server = try AuthorizationServer()
        let site = try LoopbackServer { request in
            let isSignedIn = request.text("cookie").contains { $0.contains("session=access-0") }
            return isSignedIn
                ? LoopbackServer.Response(body: "welcome\n")
                : LoopbackServer.Response(302, location: "/login", body: "go away\n")
        }
        let url = "http://127.0.0.1:\(site.port)/"
        try importTokens(server)
        let rule = try service.ask([
            "token", "fallback", "set", "app", url, "--profile", "work", "--when-redirect", "/login", "--cookie",
            "session={access_token}; Path=/; HttpOnly",
        ])
        #expect(rule.status == 0, "\(rule.messages)")
        let order = try service.ask(["curl", "--", "-s", "-d", "a=b", url])
        #expect(order.status == 0 && order.text == "go away\n", "\(order.messages)")
        #expect(order.messages.contains("POST") && order.messages.contains("not repeated"), "\(order.messages)")
        let next = try service.ask(["curl", "--", "-s", "-d", "a=b", url])
        #expect(next.status == 0 && next.text == "welcome\n", "\(next.messages)")
        #expect(site.requests.map(\.method) == ["POST", "POST"])
    }

    @Test(
        "The token goes with the first request, and a refused one is renewed once",
        arguments: ["access-0", "access-1"])
    func authorization(taken: String) throws {
        let server = try AuthorizationServer()
        let site = try LoopbackServer { request in
            let isTaken = request.text("authorization") == ["Bearer \(taken)"]
            if isTaken { return LoopbackServer.Response(body: "welcome\n") }
            var response = LoopbackServer.Response(401, body: "go away\n")
            response.fields.append(("WWW-Authenticate", Array("Bearer error=\"invalid_token\"".utf8)))
            return response
        }
        let url = "http://127.0.0.1:\(site.port)/"
        try importTokens(server)
        let rule = try service.ask(["token", "fallback", "set", "app", url, "--profile", "work", "--authorization"])
        #expect(rule.status == 0, "\(rule.messages)")
        let isFirst = taken == "access-0"
        let result = try service.ask(["curl", "--json", "--", "-s", url])
        #expect(result.status == 0 && result.text == "welcome\n", "\(result.messages)")
        #expect(site.requests.count == (isFirst ? 1 : 2) && server.forms(at: "/token").count == (isFirst ? 0 : 1))
        #expect(!result.messages.contains("access-") && result.messages.contains("bearer-challenge") == !isFirst)
        // Credentials of the user's own take the token's place.
        let own = try service.ask(["curl", "--", "-s", "-H", "Authorization: Bearer mine", url])
        #expect(own.text == "go away\n" && site.requests.last?.text("authorization") == ["Bearer mine"])
    }
}
