import Foundation
import SessionOperations
import TestSupport
import Testing

/// What the command makes of how servers answer, or do not: below what they say.
@Suite("crumb token and the connection to a server")
struct TokenConnectionTests {
    private let home = CrumbHome()

    /// `{"access_token":"access-9","refresh_token":"refresh-9","expires_in":3600}`, compressed.
    private static let compressed = Data(
        base64Encoded:
            "H4sIAAAAAAACA6tWSkxOTi0uji/Jz07NU7KCcnUtlXSUilLTilKLM+BSUD5YLrWiIBPIic8EShibGRjUAgBIftLMSQAAAA=="
    ).map { Array($0) }

    /// A profile `work` whose tokens are refreshed at `endpoint`, and ended there.
    private func given(_ endpoint: String) throws {
        let tokens = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let result = try home.start(
            [
                "token", "import", "work", "--client-id", "app", "--endpoint", "token_endpoint=\(endpoint)",
                "--endpoint", "revocation_endpoint=\(endpoint)",
            ], input: tokens
        ).wait()
        #expect(result.status == 0, "\(result.messages)")
    }

    /// A server that answers in an encoding.
    private func server(_ encoding: String, _ body: [UInt8]) throws -> LoopbackServer {
        try LoopbackServer { _ in
            var response = LoopbackServer.Response(body: "")
            response.fields.append(("Content-Encoding", Array(encoding.utf8)))
            response.body = body
            return response
        }
    }

    // The checksum and the size are the last eight bytes.
    @Test("A refresh token in a compressed reply is kept, also where the reply breaks off", arguments: [0, 8, 4])
    func compressed(missing: Int) throws {
        let body = try #require(TokenConnectionTests.compressed?.dropLast(missing))
        let server = try server("gzip", Array(body))
        try given("http://127.0.0.1:\(server.port)/token")
        let refreshed = try home.crumb("token", "refresh", "work")
        #expect(refreshed.status == 0, "\(refreshed.messages)")
        #expect(server.requests.first?.text("accept-encoding") == ["identity"])
        #expect(try home.crumb("token", "get", "work").text == "access-9\n")
        let kept = try home.crumb("token", "export", "--format", "json", "work").text
        #expect(kept.contains(#""refresh_token":"refresh-9""#), "\(kept)")
    }

    @Test("A compressed reply that is huge is an oversized one")
    func bomb() throws {
        // As many zeros as the largest reply has bytes, several times over: `gzip` makes a thousandth of them.
        let path = home.file("bomb.gz")
        #expect(try home.shell("head -c 30000000 /dev/zero | gzip -9 > bomb.gz").status == 0)
        let body = [UInt8](FileManager.default.contents(atPath: path) ?? Data())
        #expect(!body.isEmpty && body.count < 100_000)
        let server = try server("gzip", body)
        try given("http://127.0.0.1:\(server.port)/token")
        let refreshed = try home.crumb("token", "refresh", "work")
        #expect(refreshed.status == 46 && refreshed.messages.contains("larger than"), "\(refreshed.messages)")
    }

    @Test("Without a listener, or with a wrong one, the error is a clear sentence")
    func nobody() throws {
        try given("http://127.0.0.1:1/token")
        let refused = try home.crumb("token", "refresh", "work")
        #expect(refused.status == 45 && refused.messages.contains("connection refused"), "\(refused.messages)")
        let socket = try home.crumb("list", "--service", "unix:\(home.file("none.sock"))")
        #expect(socket.status == 55 && socket.messages.contains("the socket does not exist"), "\(socket.messages)")
        let name = try home.crumb(
            "token", "login", "x", "--issuer", "https://nobody.invalid", "--client-id", "a", "--client-credentials")
        #expect(name.status == 45 && name.messages.contains("name cannot be resolved"), "\(name.messages)")
    }

    @Test("The answer to another login is refused, told once, and the login goes on")
    func otherLogin() throws {
        let process = try home.start(
            [
                "token", "login", "work", "--no-browser", "--client-id", "app", "--endpoint",
                "authorization_endpoint=http://127.0.0.1:1/go", "--endpoint", "token_endpoint=http://127.0.0.1:1/token",
            ], prefix: ["/bin/sh", "-c", "exec \"$0\" \"$@\" 2>'\(home.file("messages"))'"])
        defer { process.kill() }
        func messages() -> String { String(decoding: home.bytes("messages"), as: UTF8.self) }
        for _ in 0..<600 where !messages().contains("state=") || !messages().hasSuffix("\n") { usleep(50_000) }
        let url = try #require(messages().split(separator: "\n").first { $0.contains("state=") })
        let items = URLComponents(string: String(url))?.queryItems ?? []
        let callback = try #require(items.first { $0.name == "redirect_uri" }?.value)
        let state = try #require(items.first { $0.name == "state" }?.value)
        func visit(_ query: String) throws -> String {
            try home.shell("curl -s -o page -w '%{http_code}' '\(callback)?\(query)'").text
        }
        for _ in 0..<3 { #expect(try visit("code=stolen&state=wrong") == "400") }
        #expect(home.bytes("page").isEmpty == false)
        let warning = "crumb: a browser returned the response to another login (its state is different)"
        #expect(messages().components(separatedBy: warning).count == 2, "\(messages())")
        #expect(!messages().contains("stolen"))
        _ = try visit("error=access_denied&state=\(state)")
        #expect(process.wait().status == 48, "\(messages())")
    }

    @Test("A first login without a server is rejected with the option that names one, and nothing is created")
    func noServer() throws {
        let result = try home.crumb("token", "login", "work", "--client-id", "app")
        #expect(result.status == 47 && result.messages.contains("(--issuer)"), "\(result.messages)")
        for name in ["crumb.sqlite", "key"] { #expect(!FileManager.default.fileExists(atPath: home.file(name))) }
    }

    @Test("With --json, the page to log in on is an object on standard output, and all messages are objects")
    func page() throws {
        let result = try home.crumb(
            "token", "login", "work", "--no-browser", "--json", "--timeout", "1", "--client-id", "app", "--endpoint",
            "authorization_endpoint=http://127.0.0.1:1/go", "--endpoint", "token_endpoint=http://127.0.0.1:1/token")
        #expect(result.status == 48, "\(result.messages)")
        let page = try #require(try result.objects().first?["authorizationURL"] as? String)
        #expect(page.hasPrefix("http://127.0.0.1:1/go?"))
        let messages = result.messages.split(separator: "\n")
        #expect(messages.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") }, "\(result.messages)")
    }

    @Test("If its output is closed, the network program prints no message of Foundation")
    func closedPipe() throws {
        let server = try server("gzip", try #require(TokenConnectionTests.compressed))
        try given("http://127.0.0.1:\(server.port)/token")
        let result = try home.shell("(crumb token refresh work --json; echo $? > status) | true")
        #expect(result.messages.isEmpty, "\(result.messages)")
        #expect(home.bytes("status") == Array("\(FailureKind.outputFailed.exitStatus)\n".utf8))
    }

    @Test("The program with the network has the same commands, under the name of crumb")
    func sameCommands() throws {
        let (help, other) = (try home.shell("crumb token --help"), try home.shell("crumb-network token --help"))
        #expect(help.status == 0 && help.text == other.text && help.text.contains("USAGE: crumb token"))
        let wrong = try home.shell("crumb-network token refresh --nonsense")
        #expect(wrong.status == 64 && wrong.messages.contains("Usage: crumb token refresh"), "\(wrong.messages)")
    }

    @Test("A program beside crumb that has no network either is refused, not started for ever")
    func replacedByItself() throws {
        let made = try home.shell(
            "mkdir alone && cp \"$(command -v crumb)\" alone/crumb && ln alone/crumb alone/crumb-network")
        #expect(made.status == 0, "\(made.messages)")
        let result = try home.shell("alone/crumb token refresh work")
        #expect(result.status == 53 && result.messages.contains("another version of crumb"), "\(result.messages)")
        let none = try home.shell("rm alone/crumb-network && PATH=/usr/bin:/bin alone/crumb token refresh work")
        #expect(none.status == 53 && none.messages.contains("neither beside crumb nor on PATH"), "\(none.messages)")
    }

    @Test("Input read only once reaches the network program: secrets in the environment, keys and tokens in pipes")
    func readOnce() throws {
        let key = Data((0..<32).map { UInt8($0) }).base64EncodedString()
        let tokens = try home.write(AuthorizationServer.tokens(expired: true), to: "tokens")
        let server = try server("identity", Array(#"{"access_token":"access-9","expires_in":3600}"#.utf8))
        let variables = "CRUMB_KEY=\(key) CRUMB_CLIENT_SECRET=hush"
        let options = "--client-id app --endpoint token_endpoint=http://127.0.0.1:\(server.port)/token"
        let imported = try home.shell("\(variables) crumb token import work \(options) < '\(tokens)'")
        #expect(imported.status == 0, "\(imported.messages)")
        let result = try home.shell("\(variables) crumb token get work")
        #expect(result.text == "access-9\n", "\(result.messages)")
        let form = String(decoding: server.requests.first?.body ?? [], as: UTF8.self)
        #expect(form.contains("refresh_token="))
        let environment = try home.shell("\(variables) crumb token exec work -- env")
        #expect(environment.status == 0 && environment.text.contains("ACCESS_TOKEN=access-9"))
        #expect(!environment.text.contains(key) && !environment.text.contains("hush"))
        #expect(!environment.text.contains("_CRUMB"))
    }

    @Test("A redirect is told as one, and nothing secret follows it")
    func redirected() throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(307, location: "/elsewhere") }
        try given("http://127.0.0.1:\(server.port)/token")
        let result = try home.crumb("token", "refresh", "work")
        #expect(result.status == 46 && result.messages.contains("redirects the request"), "\(result.messages)")
        #expect(server.requests.map(\.target) == ["/token"])
    }

    @Test("A logout that the server rejects prints that nothing was removed, and the next step")
    func logout() throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(400, body: #"{"error":"unsupported_token_type"}"#)
        }
        try given("http://127.0.0.1:\(server.port)/token")
        let result = try home.crumb("token", "logout", "work")
        #expect(result.status == 44, "\(result.messages)")
        for part in ["work: the login was not removed", "unsupported_token_type", "--force"] {
            #expect(result.messages.contains(part), "\(result.messages)")
        }
        #expect(try home.crumb("token", "get", "work").status == 0)
    }

    @Test("Control characters in a server's text are escaped on the terminal")
    func terminal() throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(
                body: #"{"active":true,"username":"\u001b]0;title\u0007me\nactive: no","sub":"a\rb"}"#)
        }
        let tokens = try home.write(AuthorizationServer.tokens(), to: "tokens")
        let imported = try home.start(
            [
                "token", "import", "work", "--client-id", "app", "--account", "me\u{1B}[2J\nother",
                "--endpoint", "introspection_endpoint=http://127.0.0.1:\(server.port)/",
            ], input: tokens
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
        for command in [["introspect", "work"], ["list"], ["status", "work"]] {
            let result = try home.start(["token"] + command).wait()
            let isPlain = result.text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A }
            #expect(result.status == 0 && isPlain, "\(result.text)")
            #expect(!result.text.contains("\nactive: no") && !result.text.contains("\nother"), "\(result.text)")
        }
    }
}
