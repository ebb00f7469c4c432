import Foundation
import TestSupport
import Testing

@Suite("Gateways of crumb serve")
struct ServiceGatewayTests {
    @Test(
        "A gateway of a service decrypts with the stored authority, and its requests and page events are followed until it ends"
    )
    func story() throws {
        let service = try RunningService(.socket) { home in
            try home.makeCertificate(for: "localhost", names: "DNS:localhost")
            #expect(try home.crumb("gateway", "ca", "create", "--host", "localhost").status == 0)
            try home.write("sid=v4lue; Secure; HttpOnly; Path=/\n", to: "lines")
            let set = try home.start(
                ["set", "--jar", "work", "https://localhost/"], input: home.file("lines")
            ).wait()
            #expect(set.status == 0, "\(set.messages)")
            return ["--ca-file", home.file("ca.pem")]
        }
        let home = service.home
        let socket = service.address.dropFirst("unix:".count)
        func ask(_ method: String, _ path: String, _ rest: String = "") throws -> RunResult {
            try home.shell("curl -sS --unix-socket \(socket) -X \(method) \(rest) http://crumb/v1/gateways/\(path)")
        }
        /// Stops a gateway, and returns its events from the first one on.
        func events(_ name: String) throws -> String {
            let follower = try RunningProcess(
                "curl", ["-sSN", "--unix-socket", String(socket), "http://crumb/v1/gateways/\(name)/events?after=0"],
                environment: home.environment, output: home.file("\(name).events"), scratch: home.path)
            let deadline = ContinuousClock.now + .seconds(60)
            while home.bytes("\(name).events").isEmpty, ContinuousClock.now < deadline { usleep(20_000) }
            let stopped = try ask("DELETE", name, "-w '%{http_code}'")
            #expect(stopped.text == "204", "\(stopped.text)")
            #expect(follower.wait().status == 0)
            return String(decoding: home.bytes("\(name).events"), as: UTF8.self)
        }
        let started = try ask(
            "PUT", "shop", #"-H 'Content-Type: application/json' -d '{"jar":"work","intercept":["localhost"]}'"#)
        let report = try #require(try started.objects().first, "\(started.messages)")
        let listening = try #require((report["addresses"] as? [[String: Any]])?.first, "\(started.text)")
        let address = try #require(listening["address"] as? String)
        let path = try #require(listening["eventsPath"] as? String)
        try home.write(try #require(report["certificate"] as? String).utf8, to: "authority.pem")
        let (server, port) = try home.startTLSServer()
        defer {
            server.kill()
            _ = server.wait()
        }
        let ready = try home.shell(
            "for i in $(seq 600); do bash -c ': < /dev/tcp/localhost/\(port)' 2>/dev/null && exit; sleep 0.05; done; exit 1"
        )
        #expect(ready.status == 0)
        let curl =
            "curl -sS -o answer -w '%{http_code}' --proxy \(address) "
            + "--cacert authority.pem"
        let page = try home.shell(
            "\(curl) -c cookies -H 'Sec-Fetch-Site: none' -H 'Sec-Fetch-Dest: document' -H 'Sec-Fetch-Mode: navigate' "
                + "'https://localhost:\(port)/cart?token=1'")
        #expect(page.text == "200", "\(page.text) \(page.messages)")
        func event(_ rest: String) throws -> String {
            try home.shell("\(curl) \(rest) -d hello 'https://localhost:\(port)\(path)?a=1'").text
        }
        let own = "-b cookies -H 'Sec-Fetch-Site: same-origin'"
        #expect(try event(own) == "204")
        // Without the witnesses, a page of any site may have sent it.
        #expect(try event("-H 'Sec-Fetch-Site: same-origin'") == "403")
        // A frame of another site in a page of this one, as WebKit sends it.
        #expect(try event("-b cookies -H 'Sec-Fetch-Site: cross-site'") == "403")
        #expect(String(decoding: home.bytes("answer"), as: UTF8.self).contains("page of the site itself"))
        #expect(try event("\(own) -X PUT") == "405")
        try home.write([UInt8](repeating: UInt8(ascii: "x"), count: 20_000), to: "long")
        #expect(try event("\(own) --data @long") == "413")

        let list = try ask("GET", "shop/requests")
        let requests = try #require(try list.objects().first?["requests"] as? [[String: Any]], "\(list.text)")
        #expect(requests.compactMap { $0["status"] as? Int } == [200, 403, 403, 405, 413], "\(list.text)")
        #expect(requests.first?["url"] as? String == "https://localhost:\(port)/cart")
        #expect(requests.first?["cookiesSent"] as? [String] == ["sid"])
        #expect(!list.text.contains(path) && !list.text.contains("v4lue"))
        let passed = try events("shop")
        #expect(
            passed.contains("event: page\ndata: {\"data\":\"hello\",\"origin\":\"https://localhost:\(port)\""),
            "\(passed)")
        #expect(passed.contains("event: request\n") && !passed.contains("v4lue"))
        #expect(try home.shell("curl -sS --max-time 5 --proxy \(address) http://localhost:\(port)/").status == 7)

        // The same for a site that is offered at an address.
        let offered = try ask(
            "PUT", "offered",
            "-H 'Content-Type: application/json' -d '{\"jar\":\"work\",\"upstreams\":[{\"url\":\"https://localhost:\(port)\"}]}'"
        )
        let place = try #require(
            (try offered.objects().first?["addresses"] as? [[String: Any]])?.first, "\(offered.text)")
        let site = "http://\(try #require(place["address"] as? String))"
        let offeredPath = try #require(place["eventsPath"] as? String)
        let request = "curl -sS -o answer -w '%{http_code}' --noproxy '*'"
        let opened = try home.shell(
            "\(request) -c offered -H 'Sec-Fetch-Site: none' -H 'Sec-Fetch-Dest: document' "
                + "-H 'Sec-Fetch-Mode: navigate' \(site)/")
        #expect(opened.text == "200", "\(opened.text) \(opened.messages)")
        let sent = try home.shell(
            "\(request) -b offered -H 'Sec-Fetch-Site: same-origin' -H 'Origin: \(site)' -d hello '\(site)\(offeredPath)'"
        )
        #expect(sent.text == "204", "\(sent.text) \(sent.messages)")
        let ofSite = try events("offered")
        #expect(
            ofSite.contains("event: page\ndata: {\"data\":\"hello\",\"origin\":\"https://localhost:\(port)\""),
            "\(ofSite)")
    }

    @Test("The gateways of a service answer from the packages of the jar, also from those that are added later")
    func packages() throws {
        func add(_ version: String, _ home: CrumbHome) throws {
            try home.write("script \(version)", to: "dist/app.js")
            for words in [
                ["build", home.file("dist"), "--base", "http://shop.invalid/", "--name", "shop", "--version", version]
                    + ["-o", home.file("\(version).zip")],
                ["add", "--jar", "work", home.file("\(version).zip")],
            ] {
                let result = try home.start(["gateway", "package"] + words).wait()
                #expect(result.status == 0, "\(result.messages)")
            }
        }
        let service = try RunningService(.socket) { home in
            try FileManager.default.createDirectory(atPath: home.file("dist"), withIntermediateDirectories: true)
            try add("1.0.0", home)
            return []
        }
        func start(_ words: String...) throws -> Substring {
            let words = ["gateway", "start"] + words + ["--jar", "work", "--client", "tool"]
            let started = try service.ask(words)
            #expect(started.status == 0, "\(started.messages)")
            return started.text.dropLast()
        }
        func answer(at address: Substring) throws -> String {
            try service.home.shell("curl -sS -w ' %{http_code}' --proxy \(address) http://shop.invalid/app.js").text
        }
        let address = try start("shop")
        #expect(try answer(at: address) == "script 1.0.0 200")
        try add("1.1.0", service.home)
        #expect(try answer(at: address) == "script 1.1.0 200")
        #expect(try answer(at: start("plain", "--no-packages")).hasSuffix(" 502"))
    }

    @Test("The command starts, lists and stops the gateways of a service")
    func command() throws {
        let service = try RunningService(.socket) { home in
            _ = try home.crumb("jars", "create", "work")
            return []
        }
        func gateway(_ words: String...) throws -> RunResult {
            try service.ask(["gateway"] + words)
        }
        #expect(try gateway("list").messages.contains("runs no gateway"))
        let missing = try gateway("start", "shop", "--jar", "wrk")
        #expect(missing.status == 34 && missing.messages.contains("Did you mean 'work'?"), "\(missing.messages)")
        let started = try gateway("start", "shop", "--jar", "work", "--client", "tool")
        #expect(try gateway("requests", "shop").messages == "no request has passed through shop yet\n")
        #expect(started.status == 0 && started.text.hasPrefix("127.0.0.1:"), "\(started.messages)")
        // The same settings again: the same gateway.
        #expect(try gateway("start", "shop", "--jar", "work", "--client", "tool").text == started.text)
        let other = try gateway("start", "shop", "--jar", "work")
        let message =
            "crumb: shop: a gateway of this name runs with other settings; stop it first with 'crumb gateway stop', or "
            + "choose another name\n"
        #expect(other.status == 88 && other.messages == message, "\(other.messages)")
        let address = started.text.dropLast()
        #expect(try service.home.shell("curl -sS -o page --proxy \(address) http://127.0.0.1:9/gone").status == 0)
        let list = try gateway("list", "--json").objects()
        #expect(
            list.count == 1 && list.first?["name"] as? String == "shop" && list.first?["client"] as? String == "tool")
        let table = try gateway("ls").text
        #expect(table.contains("shop") && table.contains(address), "\(table)")
        let requests = try gateway("requests", "shop")
        #expect(requests.text.hasPrefix("GET http://127.0.0.1:9/gone 502"), "\(requests.text)")
        #expect(try gateway("requests", "shop", "--json").objects().count == 1)
        #expect(try gateway("requests", "shop", "--after", "1").text.isEmpty)
        try service.home.write("keep https://a.example/\r\n# fonts\r\nkeep\r\n", to: "rules")
        let rules = service.home.file("rules")
        let invalid = try gateway("start", "cached", "--jar", "work", "--cache", "1M", "--rules", rules)
        #expect(invalid.status == 77 && invalid.messages.contains("rules: line 3: a rule is"), "\(invalid.messages)")
        #expect(try gateway("start", "cached", "--jar", "work", "--offline").status == 64)
        try service.home.write("keep https://a.example/\r\n# fonts\r\n", to: "rules")
        let cached = try gateway(
            "start", "cached", "--jar", "work", "--client", "tool", "--cache", "1M", "--rules", rules, "--offline",
            "--json")
        let cache = try cached.objects().first?["cache"] as? [String: Any]
        #expect(cache?["size"] as? Int == 1 << 20 && cache?["offline"] as? Bool == true, "\(cached.text)")
        #expect((cache?["rules"] as? [String])?.prefix(2) == ["keep https://a.example/", "# fonts"])
        #expect(try gateway("list").text.contains(" 1M, keep https://a.example/, offline "))
        #expect(try gateway("stop", "cached").status == 0)
        #expect(try gateway("stop", "shop").status == 0)
        for words in [["stop", "shop"], ["requests", "shop"]] {
            let unknown = try service.ask(["gateway"] + words)
            let message = "crumb: shop: no gateway of this name runs; 'crumb gateway list' lists the gateways\n"
            #expect(unknown.status == 81 && unknown.messages == message, "\(unknown.messages)")
        }
    }

    @Test("A gateway of a service with users serves each with the own jar, and lists them without their secrets")
    func users() throws {
        let service = try RunningService(.socket) { home in
            for jar in ["work", "home"] { _ = try home.crumb("jars", "create", jar) }
            return []
        }
        let file = service.home.file("users.json")
        let secrets = try [("anna", "work"), ("ben", "home")].map { name, jar in
            let added = try service.home.crumb("gateway", "user", "add", name, "--jar", jar, "--users", file)
            return String(added.text.dropLast())
        }
        func gateway(_ words: String...) throws -> RunResult {
            try service.ask(["gateway"] + words)
        }
        let started = try gateway("start", "both", "--users", file, "--client", "tool")
        #expect(started.status == 0 && started.text.hasPrefix("127.0.0.1:"), "\(started.messages)")
        #expect(try gateway("start", "both", "--users", file, "--client", "tool").text == started.text)
        #expect(try gateway("start", "both", "--users", file, "--jar", "work").status == 64)
        let address = started.text.dropLast()
        for (name, secret) in zip(["anna", "ben", "eve"], secrets + [secrets[0]]) {
            try service.home.write("proxy-user = \"\(name):\(secret)\"\n", to: "curlrc")
            let status = try service.home.shell(
                "curl -sS -K curlrc -o page -w '%{http_code}' --proxy \(address) http://127.0.0.1:9/gone")
            #expect(status.text == (name == "eve" ? "407" : "502"), "\(status.messages)")
        }
        let requests = try gateway("requests", "both")
        let lines = requests.text.split(separator: "\n")
        #expect(lines.count == 3, "\(requests.text)")
        for (line, part) in zip(lines, ["502 user: anna ", "502 user: ben ", "407 refused: http_request_denied"]) {
            #expect(line.contains("/gone \(part)"), "\(line)")
        }
        let table = try gateway("list").text
        #expect(table.contains("home, work"), "\(table)")
        let object = try #require(try gateway("list", "--json").objects().first)
        let users = try #require(object["users"] as? [[String: String]])
        #expect(users == [["name": "anna", "jar": "work"], ["name": "ben", "jar": "home"]])
        #expect(object["jar"] == nil)
        #expect(try gateway("stop", "both").status == 0)
        let missing = try service.home.crumb("gateway", "user", "add", "cleo", "--jar", "none", "--users", file)
        #expect(missing.status == 0)
        #expect(try gateway("start", "both", "--users", file).status == 34)
    }

    @Test("The file for the authority's certificate is written once, and no other certificate is overwritten")
    func authorityFile() throws {
        let service = try RunningService(.socket) { home in
            _ = try home.crumb("jars", "create", "work")
            #expect(try home.crumb("gateway", "ca", "create", "--host", "localhost").status == 0)
            try home.makeCertificate(for: "localhost", names: "DNS:localhost")
            return []
        }
        let home = service.home
        func start(_ name: String, _ file: String) throws -> RunResult {
            try service.ask(
                [
                    "gateway", "start", name, "--jar", "work", "--intercept", "localhost", "--authority-file",
                    home.file(file),
                ])
        }
        for name in ["first", "first", "second"] {
            let result = try start(name, "authority.pem")
            #expect(result.status == 0, "\(result.messages)")
        }
        let other = home.bytes("ca.pem")
        let refused = try start("third", "ca.pem")
        #expect(refused.status == 28 && refused.messages.contains("The gateway 'third' runs"), "\(refused.messages)")
        #expect(home.bytes("ca.pem") == other)
    }

    @Test("Without a service, the command says how to name one")
    func noService() throws {
        let result = try CrumbHome().crumb("gateway", "list")
        #expect(result.status == 64 && result.messages.contains("--service"), "\(result.messages)")
    }
}
