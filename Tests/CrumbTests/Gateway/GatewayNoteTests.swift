import Foundation
import TestSupport
import Testing

/// A login over https, by a program that runs beside a gateway.
@Suite("Notes on a session that was not used, or not kept", .timeLimit(.minutes(10)))
struct GatewayNoteTests {
    private let home = CrumbHome()

    /// Runs `body` while a server of `localhost` answers `/login` with a cookie.
    private func withServer(_ body: (_ port: Int) throws -> Void) throws {
        try home.makeCertificate(for: "localhost", names: "DNS:localhost")
        let answer = "HTTP/1.0 200 OK\r\nSet-Cookie: sid=31d4; Secure; HttpOnly; Max-Age=9999\r\n\r\nwelcome\n"
        try home.write(answer, to: "login")
        let port = try RunningService.freePort()
        let words = [
            "-c", "cd \"$0\" && exec \"$@\"", home.path, "openssl", "s_server", "-accept", "\(port)", "-cert",
            "host.pem",
            "-key", "host.key", "-HTTP", "-quiet",
        ]
        let server = try RunningProcess("/bin/sh", words, environment: home.environment, scratch: home.path)
        defer {
            server.kill()
            _ = server.wait()
        }
        let probe =
            "curl -s --retry 20 --retry-connrefused --retry-delay 1 --cacert ca.pem https://localhost:\(port)/login"
        #expect(try home.shell(probe).text == "welcome\n")
        try body(Int(port))
    }

    /// `crumb run` with the server's authority.
    private func run(_ words: String..., jar: String = "new", quiet: Bool = false) throws -> RunResult {
        let options = ["run", "--jar", jar, "--ca-file", home.file("ca.pem")] + (quiet ? ["--quiet"] : [])
        return try home.start(options + words).wait()
    }

    private func names(jar: String = "new") throws -> [String] {
        try home.crumb("list", "--jar", jar, "--json").objects().compactMap { $0["name"] as? String }
    }

    @Test("A login with an empty jar ends in the jar, if the URL is an argument of the command")
    func signsIn() throws {
        try withServer { port in
            let url = "https://localhost:\(port)/login"
            let result = try run("curl", "-sS", url)
            #expect(result.text == "welcome\n" && result.messages == "created jar 'new'\n", "\(result.messages)")
            #expect(try names() == ["sid"])
            let bypassed = try run(
                "--bypass", "localhost", "curl", "-sS", "--cacert", home.file("ca.pem"), url, jar: "other")
            #expect(bypassed.text == "welcome\n" && !bypassed.messages.contains("unread"), "\(bypassed.messages)")
            #expect(try names(jar: "other").isEmpty)
        }
    }

    @Test("Otherwise a note says what to add, and with that the session is in the jar")
    func unread() throws {
        try withServer { port in
            let script = "curl -sS --cacert \(home.file("ca.pem")) https://localhost:\(port)/login"
            let lost = try run("sh", "-c", script)
            #expect(lost.status == 0 && lost.text == "welcome\n")
            let note = "https requests to localhost passed unread, without the cookies of jar 'new'"
            #expect(lost.messages.contains("note: \(note)"), "\(lost.messages)")
            #expect(lost.messages.hasSuffix("add --intercept localhost\n"))
            #expect(try run("sh", "-c", script, quiet: true).messages.isEmpty)
            let kept = try run("--intercept", "localhost", "sh", "-c", "curl -sS https://localhost:\(port)/login")
            #expect(kept.text == "welcome\n" && kept.messages.isEmpty, "\(kept.messages)")
            #expect(try names() == ["sid"])
            // A host that is none of the jar's is no loss.
            try home.receive("a=1", jar: "shop")
            #expect(try run("sh", "-c", script, jar: "shop").messages.isEmpty)
        }
    }

    @Test("A program that does not trust the gateway is named with its host, unless it trusts it in the end")
    func distrust() throws {
        try withServer { port in
            let url = "https://localhost:\(port)/login"
            let proxy = "${https_proxy#http://}"
            // A program that looks at the certificate after the handshake.
            let pinned = "curl -s --cacert \(home.file("ca.pem")) \(url)"
            let checked = "openssl s_client -proxy \(proxy) -connect localhost:\(port) -servername localhost </dev/null"
            let rejected = [pinned, pinned + " --tls-max 1.2"]
            for script in rejected + [checked] {
                let result = try run("--intercept", "localhost", "sh", "-c", "\(script) >/dev/null 2>&1 || true")
                #expect(
                    result.messages.contains("did not trust the gateway's certificate for localhost"),
                    "\(script): \(result.messages)")
                #expect(result.messages.contains("add --bypass localhost"), "\(result.messages)")
            }
            let both = try run("--intercept", "localhost", "sh", "-c", "\(pinned); curl -sS \(url)")
            #expect(both.text == "welcome\n" && both.messages.isEmpty, "\(both.messages)")
        }
    }

    @Test(
        "Servers whose requests pass unread are trusted as without a gateway, whichever variable names the authority",
        arguments: [
            "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT",
            "GIT_SSL_CAINFO",
            "AWS_CA_BUNDLE",
        ])
    func trustOfVariables(name: String) throws {
        try home.makeCertificate(for: "localhost", names: "DNS:localhost")
        // The file is named twice, and has a key that must not be copied.
        let authority = try home.shell("openssl x509 -in ca.pem").text
        try home.write(try home.shell("cat host.key ca.pem").text, to: "bundle.pem")
        let result = try home.crumb(
            "run", "--quiet", "--ca-file", home.file("bundle.pem"), "sh", "-c", "cat \"$\(name)\"",
            variables: [name: home.file("bundle.pem")])
        #expect(result.status == 0, "\(result.messages)")
        #expect(result.text.components(separatedBy: authority).count == 2)
        #expect(!result.text.contains("PRIVATE KEY"))
    }

    @Test("Variables may name several files, one that is missing, and a folder")
    func trustOfFolders() throws {
        try home.makeCertificate(for: "localhost", names: "DNS:localhost")
        let result = try home.shell("mkdir folder && cp ca.pem folder/0 && openssl x509 -in host.pem -out other.pem")
        #expect(result.status == 0)
        let variables: [String: String?] = [
            "REQUESTS_CA_BUNDLE": home.file("folder"), "PIP_CERT": home.file("missing"),
            "AWS_CA_BUNDLE": home.file("other.pem"),
        ]
        let bundle = try home.crumb("run", "--quiet", "sh", "-c", "cat $CURL_CA_BUNDLE", variables: variables).text
        for name in ["ca.pem", "other.pem"] {
            let certificate = try home.shell("openssl x509 -in \(name)").text
            #expect(certificate.contains("BEGIN CERTIFICATE") && bundle.contains(certificate), "\(name)")
        }
    }

    @Test("A server whose certificate is not trusted is named with the option that helps")
    func serverDistrusted() throws {
        try withServer { port in
            let result = try home.crumb("run", "--jar", "new", "curl", "-s", "https://localhost:\(port)/login")
            #expect(
                result.messages.contains(
                    "the certificate of localhost is not trusted: name its authority with --ca-file"))
        }
    }

    @Test("A command that sends no request through the gateway is told how it would, once, unless it is quiet")
    func noRequest() throws {
        let result = try home.crumb("run", "true")
        #expect(result.status == 0 && result.messages.hasPrefix("note: no request of true passed through the gateway."))
        #expect(result.messages.split(separator: "\n").count == 1)
        #expect(try home.crumb("run", "--quiet", "true").messages.isEmpty)
        #expect(try home.crumb("run", "false").status == 1)
    }

    @Test("The command needs no '--', and its own options stay its own")
    func noTerminator() throws {
        let script = "printf '%s ' \"$@\""
        for words in [["sh"], ["--", "sh"]] {
            let result = try home.start(
                ["run", "--quiet"] + words + ["-c", script, "0", "--jar", "-j", "--", "--help"]
            ).wait()
            #expect(result.text == "--jar -j -- --help ", "\(result.text) \(result.messages)")
        }
        let mistyped = try home.crumb("run", "--jra", "work", "true")
        #expect(mistyped.status == 64 && mistyped.messages.contains("Unknown option '--jra'"), "\(mistyped.messages)")
        #expect(try home.crumb("run").status == 64 && home.crumb("run", "--").status == 64)
        #expect(try home.crumb("run", "-h").text.contains("--intercept"))
    }

    @Test("A jar that is created by a misspelled name is named with the one that may be meant")
    func similarJar() throws {
        try home.receive("a=1", jar: "work")
        let result = try home.crumb("run", "--jar", "wrok", "true")
        #expect(result.messages.hasPrefix("created jar 'wrok'; did you mean 'work'?\n"), "\(result.messages)")
        #expect(try home.crumb("run", "--jar", "other", "true").messages.hasPrefix("created jar 'other'\n"))
    }

    @Test("With --json, each line of the log is an object")
    func log() throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(setCookie: ["a=1", "b=2; Domain=shop.example"])
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let result = try home.crumb("run", "--log", "--json", "curl", "-s", url)
        let line = Data(result.messages.split(separator: "\n").first.map { Array($0.utf8) } ?? [])
        let object = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
        #expect(object["url"] as? String == url && object["cookiesStored"] as? [String] == ["a"])
        let rejected = try #require(object["cookiesRejected"] as? [[String: Any]])
        #expect(rejected.map { $0["name"] as? String } == ["b"])
        #expect(rejected.first?["reasons"] as? [String] == ["domain-mismatch"])
        // A note is one too.
        let idle = try home.crumb("run", "--json", "true").messages
        #expect(idle.hasPrefix(#"{"note":"no request of true passed through the gateway."#), "\(idle)")
        #expect(try JSONSerialization.jsonObject(with: Data(idle.utf8)) is [String: String], "\(idle)")
        let text = try home.crumb("run", "--log", "curl", "-s", url)
        #expect(
            text.messages == "GET \(url) 200 sent: a stored: a rejected: b (domain-mismatch)\n",
            "\(text.messages)")
    }

    @Test("A proxy says that https passes unread, and that a program needs another kind of gateway")
    func proxy() throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(setCookie: ["a=1"]) }
        try home.receive("a=1", from: "https://www.shop.example/", jar: "work")
        let gateway = try home.start(
            ["gateway", "run", "--jar", "work", "--log"], output: home.file("output"), messages: home.file("messages"))
        let deadline = ContinuousClock.now + .seconds(60)
        while home.bytes("output").last != UInt8(ascii: "\n"), ContinuousClock.now < deadline { usleep(20_000) }
        let address = String(decoding: home.bytes("output").dropLast(), as: UTF8.self)
        let curl = "curl -si --proxy \(address) http://127.0.0.1:\(server.port)/"
        let answers = try (0..<2).map { _ in try home.shell(curl).text }
        gateway.interrupt()
        let messages = gateway.wait().messages
        #expect(messages.contains("note: https requests to shop.example, of jar 'work', pass unread"), "\(messages)")
        #expect(messages.contains("'crumb gateway ca create'") && messages.contains("--intercept"))
        #expect(messages.components(separatedBy: "is no browser").count == 2 && messages.contains("use --client tool"))
        #expect(answers.allSatisfy { $0.contains("Proxy-Status: crumb; details=\"curl/") }, "\(answers)")
        let lines = String(decoding: home.bytes("output"), as: UTF8.self).split(separator: "\n").dropFirst()
        #expect(
            lines.count == 2 && lines.allSatisfy { $0.hasSuffix("hint: use --client tool for programs") }, "\(lines)")
    }
}
