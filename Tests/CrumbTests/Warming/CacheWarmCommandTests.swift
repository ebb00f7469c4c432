import Foundation
import TestSupport
import Testing

@Suite("crumb cache warm", .timeLimit(.minutes(10)))
struct CacheWarmCommandTests {
    private let home = CrumbHome()

    /// A server of a page with a stylesheet, an image and a font.
    private static func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            let (type, text) =
                switch request.target {
                case "/": ("text/html", "<link rel=icon href=/i.png><link rel=stylesheet href=/a.css>")
                case "/a.css": ("text/css", "@font-face{src:url(/f.woff2)} b{background:url(/secret.png)}")
                default: ("application/octet-stream", "x")
                }
            var response = LoopbackServer.Response(request.target == "/none" ? 404 : 200, body: text)
            let control = request.target == "/secret.png" ? "no-store" : "max-age=600"
            response.fields = [("Content-Type", Array(type.utf8)), ("Cache-Control", Array(control.utf8))]
            return response
        }
    }

    @Test("A page is stored with its resources, which answer the next time, and the report says what was not")
    func loads() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        let words = ["cache", "warm", "--jar", "work", "--cache", "10M"]
        let first = try home.start(words + ["\(origin)/", "--json"]).wait()
        #expect(first.status == 0 && first.messages == "{\"note\":\"created jar 'work'\"}\n", "\(first.messages)")
        let report = try #require(try first.objects().first)
        #expect(report["pages"] as? Int == 1 && report["leftOut"] as? Int == 0)
        let outcomes = try #require(report["outcomes"] as? [String: Int])
        #expect(outcomes["stored"] == 4 && outcomes["not-stored"] == 1 && outcomes["fresh"] == 0)
        let responses = try #require(report["responses"] as? [[String: Any]])
        let secret = responses.first { $0["url"] as? String == "\(origin)/secret.png" }
        #expect(secret?["reason"] as? String == "Cache-Control has no-store")
        #expect(responses.first?["destination"] as? String == "document")
        #expect((responses.first?["cacheStatus"] as? String)?.contains("; stored; ") == true)
        let listed = try home.crumb("cache", "list", "--jar", "work", "--json").objects()
        #expect(listed.count == 4)

        let second = try home.start(words + ["\(origin)/"]).wait()
        #expect(second.text.hasPrefix("STATUS  OCTETS  CACHE "), "\(second.text)")
        #expect(second.messages.hasSuffix("3 already fresh, 1 not stored\n"), "\(second.messages)")
        // The page and what must not be stored are requested again.
        #expect(server.requests.count == 7)
        // The client's own requests carry nothing to the server by which the gateway knows it.
        #expect(server.requests.allSatisfy { $0.values("cookie").isEmpty })
    }

    @Test("A page that does not come has an exit status of its own, and the others are loaded")
    func missing() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        let result = try home.crumb(
            "cache", "warm", "--jar", "work", "--cache", "10M", "\(origin)/none", "http://127.0.0.1:1/", "\(origin)/")
        #expect(result.status == 94 && result.messages.contains("2 of 3 pages did not come"), "\(result.messages)")
        #expect(result.text.contains("404 ") && result.text.contains("failed"), "\(result.text)")
        #expect(try home.crumb("cache", "list", "--jar", "work", "--site", "127.0.0.1", "--json").objects().count >= 4)
    }

    @Test("Rotations of the key keep what is stored, also when the former keys are forgotten")
    func rotation() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        func count() throws -> Int { try home.crumb("cache", "list", "--jar", "work", "--json").objects().count }
        #expect(try home.crumb("cache", "warm", "--jar", "work", "--cache", "10M", "\(origin)/").status == 0)
        #expect(try count() == 4)
        for _ in 1...2 { #expect(try home.crumb("key", "rotate").status == 0) }
        #expect(try home.crumb("key", "forget", "--force", "--yes").status == 0)
        #expect(try count() == 4)
        #expect(try home.crumb("cache", "stats", "--jar", "work").text.contains("responses: 4"))
    }

    @Test("A restore of the database removes what is stored: a new jar may get the number of another one")
    func restoration() throws {
        let server = try Self.server()
        #expect(try home.crumb("jars", "create", "first").status == 0)
        #expect(try home.crumb("backup", home.file("copy")).status == 0)
        let page = "http://127.0.0.1:\(server.port)/"
        #expect(try home.crumb("cache", "warm", "--jar", "anna", "--cache", "10M", page).status == 0)
        #expect(try home.crumb("restore", "--force", home.file("copy")).status == 0)
        #expect(try home.crumb("jars", "create", "ben").status == 0)
        #expect(try home.crumb("cache", "list", "--jar", "ben", "--json").objects().isEmpty)
        #expect(try home.crumb("cache", "stats", "--jar", "ben").text.contains("responses of all jars: 0"))
    }

    /// Runs `body` with the address of a gateway for programs.
    private func withGateway(_ words: [String], _ body: (String) throws -> Void) throws {
        // The address of a gateway before must not be taken for this one's.
        try home.write("", to: "output")
        let gateway = try home.start(
            ["gateway", "run", "--jar", "work", "--client", "tool", "--cache", "10M"] + words,
            output: home.file("output"), messages: home.file("messages"))
        let deadline = ContinuousClock.now + .seconds(60)
        while home.bytes("output").last != UInt8(ascii: "\n"), ContinuousClock.now < deadline { usleep(20_000) }
        try body(String(decoding: home.bytes("output").dropLast(), as: UTF8.self))
        gateway.interrupt()
        _ = gateway.wait()
    }

    @Test("What is loaded for browsers answers no program, which is told so; with --client tool, it does")
    func clients() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        let words = ["cache", "warm", "--jar", "work", "--cache", "10M", "\(origin)/f.woff2"]
        #expect(try home.start(words).wait().status == 0)
        try withGateway(["--offline"]) { address in
            let page = try home.shell("curl -si --proxy \(address) \(origin)/f.woff2").text
            #expect(page.hasPrefix("HTTP/1.1 504") && page.contains("stored, but for another audience"), "\(page)")
            #expect(
                page.contains("Cache-Status: crumb; detail=\"offline, stored for another audience\"\r\n"), "\(page)")
            #expect(page.contains("crumb cache warm --client tool"), "\(page)")
            let none = try home.shell("curl -si --proxy \(address) \(origin)/none").text
            #expect(none.contains("Cache-Status: crumb; detail=offline\r\n") && !none.contains("audience"), "\(none)")
        }
        func explained(_ client: String) throws -> [String: Any]? {
            try home.crumb("explain", "--cache", "--jar", "work", "\(origin)/f.woff2", "--client", client, "--json")
                .objects().first
        }
        #expect(try explained("browser")?["outcome"] as? String == "hit")
        let forTools = try explained("tool")
        #expect(forTools?["outcome"] as? String == "forward" && forTools?["response"] == nil)
        let reasons = forTools?["reasons"] as? [[String: Any]]
        #expect(reasons?.compactMap { $0["id"] as? String } == ["other-audience"])
        let others = forTools?["responses"] as? [[String: Any]]
        #expect(others?.count == 1 && others?.first?["client"] as? String == "browser")
        // Its line does not contradict the answer.
        #expect(others?.first?["outcome"] as? String == "forward")
        let reasonsOfOthers = others?.first?["reasons"] as? [[String: Any]]
        #expect(reasonsOfOthers?.compactMap { $0["id"] as? String } == ["other-audience"])

        #expect(try home.start(words + ["--client", "tool"]).wait().status == 0)
        try withGateway(["--offline"]) { address in
            let page = try home.shell("curl -si --proxy \(address) \(origin)/f.woff2").text
            #expect(page.hasPrefix("HTTP/1.1 200") && page.contains("; hit; "), "\(page)")
        }
        let last = try #require(server.requests.last)
        #expect(last.values("accept").map { String(decoding: $0, as: UTF8.self) } == ["*/*"])
        #expect(last.values("accept-language").isEmpty && last.values("sec-fetch-dest").isEmpty)
        #expect(try explained("tool")?["outcome"] as? String == "hit")
    }

    @Test("A page that cannot be stored has an exit status, with the reason, and so has one from before")
    func lost() throws {
        let server = try Self.server()
        let url = "http://127.0.0.1:\(server.port)/f.woff2"
        try Data().write(to: URL(filePath: home.file(".cache")))
        let words = ["cache", "warm", "--jar", "work", "--cache", "10M"]
        let lost = try home.start(words + [url, "--json"]).wait()
        #expect(lost.status == 94 && lost.messages.contains("1 of 1 page did not come, or could not be stored"))
        #expect(lost.messages.contains("nothing can be stored here") && !lost.messages.contains("it is too long"))
        let response = (try lost.objects().first?["responses"] as? [[String: Any]])?.first
        #expect(response?["outcome"] as? String == "not-stored", "\(lost.text)")
        #expect((response?["cacheStatus"] as? String)?.contains("stored") == false, "\(lost.text)")
        try FileManager.default.removeItem(atPath: home.file(".cache"))
        #expect(try home.start(words + [url]).wait().status == 0)
        #expect(try home.crumb("cache", "list", "--jar", "work", "--json").objects().count == 1)
    }

    @Test("A page that does not fit in the cache is an error that names the size")
    func small() throws {
        let server = try Self.server()
        let result = try home.crumb(
            "cache", "warm", "--jar", "work", "--cache", "100", "http://127.0.0.1:\(server.port)/f.woff2")
        #expect(result.status == 94 && result.messages.contains("the cache of 100 octets"), "\(result.messages)")
    }

    @Test("A page at an IP address over https fails with advice to name the host")
    func address() throws {
        let result = try home.crumb("cache", "warm", "--jar", "work", "--cache", "1M", "https://127.0.0.1:1/")
        #expect(result.status == 94 && result.messages.contains("use a URL with the host's name"), "\(result.messages)")
    }

    @Test("Options that do not fit together are refused")
    func usage() throws {
        let url = "http://127.0.0.1/"
        for words in [
            [url], ["--cache", "1M"], ["--cache", "1M", "--offline", url], ["--cache", "1M", "ws://127.0.0.1/"],
            ["--cache", "1M", "--depth", "0", url], ["--cache", "1M", "--engine", "chromium", "--requests", "5", url],
            ["--cache", "1M", "--browser-argument", "--no-sandbox", url],
            ["--cache", "1M", "--client", "tool", "--engine", "chromium", url],
            ["--cache", "1M", "--client", "x", url],
        ] {
            #expect(try home.start(["cache", "warm"] + words).wait().status == 64, "\(words)")
        }
    }
}
