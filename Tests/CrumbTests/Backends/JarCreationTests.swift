import Foundation
import TestSupport
import Testing

@Suite("When a jar comes into being")
struct JarCreationTests {
    private let home = CrumbHome()

    private var jars: [String] {
        get throws { try home.crumb("jars", "--json").objects().compactMap { $0["name"] as? String } }
    }

    private var hasDatabase: Bool { FileManager.default.fileExists(atPath: home.file("crumb.sqlite")) }

    @Test("An import that stores nothing creates no jar, and no database")
    func failedImports() throws {
        let refused = Capture.har([Capture.entry("https://www.example.com/", ["a=1; Domain=other.example"])])
        let captures = [
            try home.write("hello", to: "text"), home.file("missing"),
            try home.write(Capture.har([]), to: "empty.har"), try home.write(refused, to: "refused.har"),
        ]
        for hadDatabase in [false, true] {
            for capture in captures {
                #expect(try home.crumb("import", "--jar", "typo", capture).status != 0, "\(capture)")
            }
            #expect(try home.crumb("set", "--jar", "typo", "https://a.test/", input: "a=1; Domain=b.test").status == 5)
            #expect(hasDatabase == hadDatabase)
            #expect(try jars == (hadDatabase ? ["default"] : []))
            try home.receive("a=1")
        }
    }

    @Test("The first stored cookie creates the jar, and the command reports it")
    func firstCookie() throws {
        let set = try home.crumb("set", "--jar", "anna", "https://www.example.com/", input: "a=1")
        #expect(set.status == 0 && set.messages.hasPrefix("created jar 'anna'\n"))
        let again = try home.crumb("set", "--jar", "anna", "https://www.example.com/", input: "a=2")
        #expect(again.status == 0 && !again.messages.contains("created"))
        let capture = try home.write(Capture.har([Capture.entry("https://www.example.com/", ["b=1"])]), to: "har")
        #expect(try home.crumb("import", "--jar", "ben", capture).messages == "created jar 'ben'\n")
        #expect(try home.crumb("import", "--jar", "cleo", "--quiet", capture).messages.isEmpty)
        #expect(try home.crumb("import", capture).messages.isEmpty)
        let json = try home.crumb("import", "--jar", "dora", "--json", capture)
        #expect(json.messages == "{\"note\":\"created jar 'dora'\"}\n", "\(json.messages)")
        #expect(try home.crumb("import", "--jar", "eve", "--json", "--quiet", capture).messages.isEmpty)
        #expect(try jars == ["anna", "ben", "cleo", "default", "dora", "eve"])
    }

    @Test("A jar that does not exist is an error that names those with similar names")
    func similarNames() throws {
        try home.receive("a=1", jar: "work")
        try home.receive("a=1", jar: "other")
        let created = try home.crumb("set", "--jar", "othr", "https://www.example.com/", input: "a=1")
        #expect(created.messages.hasPrefix("created jar 'othr'; did you mean 'other'?\n"), "\(created.messages)")
        #expect(try home.crumb("jars", "remove", "--now", "othr").status == 0)
        let result = try home.crumb("header", "--jar", "wrok", "https://www.example.com/")
        #expect(result.status == 34)
        #expect(result.messages.contains("wrok: no such jar in ") && result.messages.contains(" Did you mean 'work'? "))
        #expect(!(try home.crumb("list", "--jar", "nowhere")).messages.contains("Did you mean"))
    }

    @Test(
        "Another number or suffix is no slip when a jar is created, and may be one when a jar is not found",
        arguments: [
            ("work", "work2"), ("work1", "work2"), ("work2", "work"), ("work", "work-b"), ("work", "work_b"),
            ("work.b", "work"), ("work1", "work-b"),
        ])
    func variants(name: String, variant: String) throws {
        try home.receive("a=1", jar: name)
        #expect(
            try home.crumb("list", "--jar", variant).messages.contains(" Did you mean '\(name)'? "), "\(variant)")
        let created = try home.crumb("set", "--jar", variant, "https://www.example.com/", input: "a=1")
        #expect(created.messages.hasPrefix("created jar '\(variant)'\n"), "\(created.messages)")
        let slip = try home.crumb("set", "--jar", "wrok", "https://www.example.com/", input: "a=1")
        #expect(slip.messages.hasPrefix("created jar 'wrok'; did you mean "), "\(slip.messages)")
    }

    @Test("Without a database the error says that there is none")
    func noDatabase() throws {
        let missing = "crumb: \(home.file("crumb.sqlite")): no such database. 'crumb import' creates one.\n"
        for command in [
            ["header", "--jar", "anna", "https://www.example.com/"], ["jars", "settings", "anna"],
            ["prune", "--jar", "anna"],
        ] {
            let result = try home.start(command).wait()
            #expect(result.status == 34 && result.messages == missing, "\(command)")
        }
    }

    @Test("`curl` creates a jar with the first cookie that an answer sets")
    func curl() throws {
        let server = try LoopbackServer { request in
            LoopbackServer.Response(setCookie: request.target == "/set" ? ["a=1"] : ["a=1; Domain=other.example"])
        }
        let url = "http://127.0.0.1:\(server.port)"
        let unsent = try home.crumb("curl", "--jar", "typo", "--", "-s", "\(url)/")
        #expect(unsent.status == 0)
        #expect(
            unsent.messages.hasPrefix("jar 'typo' does not exist yet, so no cookies are sent"), "\(unsent.messages)")
        #expect(try !hasDatabase && home.crumb("header", "--jar", "typo", url).status == 34)
        let result = try home.crumb("curl", "--jar", "typo", "--", "-s", "\(url)/set")
        #expect(result.status == 0 && result.messages.contains("created jar 'typo'"))
        // curl's progress meter is one line that it draws again and again.
        let measured = try home.crumb("curl", "--jar", "measured", "\(url)/set")
        #expect(measured.status == 0 && measured.messages.contains("% Total"), "\(measured.messages)")
        let end = measured.messages.split(separator: "\n").suffix(2)
        #expect(end.first == "created jar 'measured'" && end.last?.hasPrefix("crumb: ") == true, "\(measured.messages)")
        #expect(try home.header(url, jar: "typo") == "Cookie: a=1")
    }

    @Test("A dry run prints the report of an import, and stores nothing")
    func dryRun() throws {
        let lines = ["a=1; Path=/", "b=2; Path=/; Domain=other.example", "c=3; Path=/"]
        let har = Capture.har([
            Capture.entry("https://www.example.com/", lines),
            Capture.entry("https://www.example.com/", ["a=4; Path=/"]),
        ])
        let path = try home.write(har, to: "capture.har")
        let trial = try home.crumb("import", "--dry-run", path)
        #expect(trial.status == 0 && trial.text.contains("4 Set-Cookie lines in 2 responses: 2 taken, 1 replaced"))
        #expect(trial.messages == "dry run: nothing was stored\n")
        #expect(!hasDatabase && !FileManager.default.fileExists(atPath: home.file("key")))
        try home.receive("a=0; Path=/")
        let second = try home.crumb("import", "--dry-run", path)
        #expect(second.text.contains("1 taken, 2 replaced"))
        #expect(try home.header() == "Cookie: a=0")
        let real = try home.crumb("import", path)
        #expect(real.status == second.status && real.text == second.text)
        #expect(try home.crumb("import", "--dry-run", path).text.contains("imported before"))
        #expect(try home.crumb("import", "--dry-run", "--jar", "typo", path).status == 0)
        #expect(try jars == ["default"])
    }
}
