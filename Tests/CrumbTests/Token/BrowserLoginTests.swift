import Foundation
import OAuth2Login
import Platform
import TestSupport
import Testing

@testable import CrumbCommands

/// How a login gets to the user's browser, and the browser back.
@Suite("Logins in a browser", .timeLimit(.minutes(10)))
struct BrowserLoginTests {
    private let home = CrumbHome()
    private let server: AuthorizationServer

    init() throws {
        server = try AuthorizationServer()
    }

    /// A login that has said its URL.
    private struct Login {
        let process: RunningProcess
        let messages: TalkPipe
        /// What the URL of the login page asks for.
        let query: [String: String]

        var redirectURI: String { query["redirect_uri"] ?? "" }

        /// The URL that the browser ends at.
        func end(_ uri: String? = nil) -> String { "\(uri ?? redirectURI)?code=c-1&state=\(query["state"] ?? "")" }
    }

    /// A login with what the first one says, and more options.
    private func login(_ options: [String] = [], browser: String) throws -> Login {
        try begin(
            [
                "--client-id", "app", "--account", "me", "--endpoint", "token_endpoint=\(server.issuer)/token",
                "--endpoint", "authorization_endpoint=\(server.issuer)/authorize", "--endpoint",
                "revocation_endpoint=\(server.issuer)/revoke",
            ] + options, browser: browser)
    }

    private func begin(_ options: [String], browser: String) throws -> Login {
        let messages = try TalkPipe(home.file("messages-\(UUID().uuidString)"))
        let process = try home.start(
            ["token", "login", "work"] + options, messages: messages.path, variables: ["BROWSER": browser])
        let line = try #require(messages.line(beginning: "\(server.issuer)/authorize?"))
        let items = URLComponents(string: line)?.queryItems ?? []
        return Login(
            process: process, messages: messages,
            query: Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first }))
    }

    /// A browser that tells the test its arguments.
    private func browser(_ name: String, status: Int = 0) throws -> TalkPipe {
        let words = try TalkPipe(home.file("\(name)-words"), staysOpen: true)
        try home.write(
            "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" end > '\(words.path)'\nexit \(status)\n", to: name, mode: 0o700)
        return words
    }

    /// The status of an answer, and where it leads to.
    private func get(_ url: String, prefix: String = "") throws -> String {
        try home.shell("\(prefix) curl -gsS -o /dev/null -w '%{http_code} %{redirect_url}' '\(url)'").text
    }

    private func expectDone(_ login: Login, at uri: String? = nil) throws {
        #expect(try get(login.end(uri)).hasPrefix("200"))
        #expect(login.process.wait().status == 0)
        #expect(try home.crumb("token", "get", "work").text == "access-0\n")
    }

    // MARK: - The opener

    @Test(
        "BROWSER is a list of commands with the page in its place",
        arguments: [
            ("", []), ("w3m", [["w3m", "PAGE"]]), ("a:b %s", [["a", "PAGE"], ["b", "PAGE"]]),
            ("'/my apps/b' --new=%s &", [["/my apps/b", "--new=PAGE"]]), (":: :&", []),
            ("b --at 1%c2 100%% %%s", [["b", "--at", "1:2", "100%", "%s", "PAGE"]]),
            ("b \"x y\"z '' %d%", [["b", "x yz", "", "%d%", "PAGE"]]), ("b \"%s x", [["b", "PAGE x"]]),
        ])
    func commands(browsers: String, expected: [[String]]) {
        #expect(WebBrowser.commands(opening: "PAGE", browsers: browsers).dropLast() == expected[...])
        #expect(WebBrowser.commands(opening: "PAGE", browsers: browsers).last?.last == "PAGE")
    }

    @Test("The URL is said before any browser opens; the first command that works opens one")
    func opener() throws {
        let words = try browser("my browser")
        let login = try login(browser: "no-such-browser:false %s:'\(home.file("my browser"))' --page %s")
        #expect(words.says("2\n--page\n"))
        let address = try #require(words.line(beginning: "http://127.0.0.1:"))
        #expect(words.says("end") && !address.contains("?"))
        let page = try get(address)
        #expect(page.hasPrefix("302 \(server.issuer)/authorize?") && page.contains(login.query["state"] ?? "none"))
        try expectDone(login)
    }

    @Test("An opener that fails after it has opened a browser does not end the login")
    func failingOpener() throws {
        let (first, second) = (try browser("first", status: 1), try browser("second"))
        let login = try login(browser: "\(home.file("first")):\(home.file("second"))")
        for words in [first, second] {
            let address = try #require(words.line(beginning: "http://127.0.0.1:"))
            #expect(try get(address).hasPrefix("302 \(server.issuer)/authorize?"))
        }
        try expectDone(login)
    }

    @Test("A machine without a browser says the URL at once, and then that none was opened")
    func noBrowser() throws {
        try home.write("#!/bin/sh\nexit 3\n", to: "xdg-open", mode: 0o700)
        try home.write("#!/bin/sh\nexit 3\n", to: "open", mode: 0o700)
        // A login whose opener is still at it says the URL all the same.
        let (words, end) = try (
            TalkPipe(home.file("words"), staysOpen: true), TalkPipe(home.file("end"), staysOpen: true)
        )
        let waiting = try login(browser: "sh -c 'echo > \(words.path); read x < \(end.path)'")
        #expect(words.says("\n"))
        try expectDone(waiting)
        #expect(try home.shell("echo > '\(end.path)'").status == 0)
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        let result = try home.start(
            [
                "token", "login", "other", "--client-id", "app", "--timeout", "1", "--endpoint",
                "token_endpoint=\(server.issuer)/token", "--endpoint",
                "authorization_endpoint=\(server.issuer)/authorize",
            ], variables: ["BROWSER": "false", "PATH": "\(home.path):\(path)"]
        ).wait()
        #expect(result.status == 48 && result.messages.contains("\(server.issuer)/authorize?"), "\(result.messages)")
        #expect(result.messages.contains("no browser could be opened"), "\(result.messages)")
    }

    #if os(Linux)
        @Test("Another user of the machine does not get to the page", .enabled(if: getuid() == 0))
        func anotherUser() throws {
            let words = try browser("mine")
            let login = try login(browser: home.file("mine"))
            let address = try #require(words.line(beginning: "http://127.0.0.1:"))
            let stranger = "setpriv --reuid=54321 --clear-groups"
            for _ in 0..<3 { #expect(try get(address, prefix: stranger) == "403 ") }
            #expect(login.messages.says("uid 54321"))
            #expect(try get(address).hasPrefix("302"))
            try expectDone(login)
        }
    #endif

    @Test(
        "The owner of a connection is the one of that connection alone",
        arguments: [
            ("0100007F:C350", "0100007F:1F90", 1000), ("0100007F:C351", "0100007F:1F90", nil),
            ("0100007F:C350", "0100007F:1F91", nil), ("0100007F:1F90", "0100007F:C350", nil),
        ] as [(String, String, UInt32?)])
    func owner(peer: String, own: String, user: UInt32?) {
        let line =
            "   7: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0 20 4"
        #expect(LoopbackPeer.user(in: line, from: peer, to: own) == user)
        let mapped = line.replacingOccurrences(of: "0100007F", with: "0000000000000000FFFF00000100007F")
        #expect(LoopbackPeer.user(in: mapped, from: peer, to: own) == user)
        #expect(LoopbackPeer.user(in: "  sl  local_address rem_address   st", from: peer, to: own) == nil)
    }

    // MARK: - The page at the end

    /// What a browser shows at a URL.
    private func page(_ url: String) throws -> String { try home.shell("curl -gsS '\(url)'").text }

    @Test("The page says that another account was refused, and why")
    func refusedAccount() throws {
        try expectDone(try login(browser: "true"))
        let other = try begin(["--account", "you"], browser: "true")
        let page = try page(other.end())
        #expect(page.contains("The login failed") && page.contains("--replace-account"), "\(page)")
        #expect(!page.contains("You are logged in"))
        #expect(other.process.wait().status == 36)
        #expect(server.revoked == ["refresh_token", "access_token"])
    }

    @Test("The page says that the database takes no tokens")
    func notStored() throws {
        let login = try login(browser: "true")
        #expect(try home.shell("find '\(home.path)' -name '*.sqlite*' -delete").status == 0)
        let page = try page(login.end())
        let result = login.process.wait()
        #expect(result.status != 0 && !page.contains("You are logged in") && page.contains("failed"), "\(page)")
    }

    @Test("A browser that leaves during the exchange and comes back gets the page of the same login")
    func reload() throws {
        let (asked, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let slow = try LoopbackServer { _ in
            asked.signal()
            gate.wait()
            return LoopbackServer.Response(body: AuthorizationServer.tokens())
        }
        let login = try login(["--endpoint", "token_endpoint=http://127.0.0.1:\(slow.port)/token"], browser: "true")
        func browser(_ name: String) throws -> RunningProcess {
            let messages = try TalkPipe(home.file(name), staysOpen: true)
            let process = try RunningProcess(
                "curl", ["-gsSv", login.end()], environment: home.environment, messages: messages.path,
                scratch: home.path)
            #expect(messages.says("> GET /callback?code=c-1"))
            return process
        }
        let first = try browser("first")
        #expect(asked.wait(timeout: .now() + 240) == .success)
        first.kill()
        #expect(first.wait().text.isEmpty)
        let second = try browser("second")
        gate.signal()
        #expect(second.wait().text.contains("You are logged in"))
        #expect(login.process.wait().status == 0 && slow.requests.count == 1)
        #expect(try home.crumb("token", "get", "work").text == "access-0\n")
    }

    // MARK: - Device codes

    @Test(
        "Only a code is copied to the clipboard, nothing that another window could obey",
        arguments: [
            ("WDJB-MJHT", true), ("123456", true), ("ab-CD-12", true), (String(repeating: "A", count: 32), true),
            (String(repeating: "A", count: 33), false), ("", false), ("AB CD", false), ("rm -rf ~", false),
            ("$(id)", false), ("AB;CD", false), ("AB\nCD", false), ("AB\u{1B}[2J", false), ("ÄB", false), ("٣٤", false),
            ("|sh", false), ("http://a", false),
        ])
    func copiedCode(code: String, isCopied: Bool) {
        let report = DeviceLoginReport(
            verificationURI: "https://id.test/", verificationURIComplete: nil, userCode: code, expires: "")
        #expect(report.copiedCode == (isCopied ? code : nil))
    }

    // MARK: - http://localhost

    @Test(
        "A redirect to localhost is awaited on both loopback addresses",
        arguments: ["127.0.0.1", "[::1]"], [true, false])
    func localhost(address: String, opensBrowser: Bool) throws {
        let words = try browser("mine")
        let login = try login(
            ["--redirect-uri", "http://localhost/callback"] + (opensBrowser ? [] : ["--no-browser"]),
            browser: home.file("mine"))
        #expect(login.redirectURI.hasPrefix("http://localhost:") && login.redirectURI.hasSuffix("/callback"))
        let here = login.redirectURI.replacingOccurrences(of: "localhost", with: address)
        #expect(try get(here + "/other") == "404 ")
        if opensBrowser {
            let page = try #require(words.line(beginning: "http://127.0.0.1:"))
            #expect(try get(page).hasPrefix("302"))
        }
        try expectDone(login, at: here)
        let form = server.forms(at: "/token").last
        #expect(form?.contains("redirect_uri=http%3A%2F%2Flocalhost%3A") == true)
    }

    @Test("A port of localhost that another program has at one of the addresses is refused")
    func takenPort() throws {
        // The other program: a login that waits at ::1.
        let login = try login(["--redirect-uri", "http://[::1]/cb"], browser: "true")
        let port = try #require(login.redirectURI.split(separator: ":").last?.prefix { $0 != "/" })
        let result = try home.crumb(
            "token", "login", "second", "--client-id", "app", "--redirect-uri", "http://localhost:\(port)/cb",
            "--endpoint", "token_endpoint=\(server.issuer)/token", "--endpoint",
            "authorization_endpoint=\(server.issuer)/authorize")
        #expect(result.status == 48 && result.messages.contains("localhost:\(port)"), "\(result.messages)")
        try expectDone(login)
    }

    @Test(
        "A redirect URI with another host is rejected, and the error names the possible ones",
        arguments: [
            "http://localhost.example/cb", "http://127.0.0.2/cb", "https://localhost/cb", "http://localhost:x/",
        ])
    func otherHosts(uri: String) throws {
        let result = try home.crumb(
            "token", "login", "work", "--client-id", "app", "--redirect-uri", uri, "--endpoint",
            "token_endpoint=\(server.issuer)/token", "--endpoint",
            "authorization_endpoint=\(server.issuer)/authorize")
        #expect(result.status == 47 && result.messages.contains("http://localhost/path"), "\(result.messages)")
    }
}
