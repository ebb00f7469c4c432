import Foundation
import TestSupport
import Testing

@Suite("Jars, databases and places, through the command")
struct JarOptionTests {
    private let home = CrumbHome()

    @Test("A jar knows nothing of another one's cookies")
    func isolation() throws {
        try home.receive("a=1; Path=/")
        try home.receive("a=2; Path=/", "b=3; Path=/", jar: "work")
        #expect(try home.header() == "Cookie: a=1")
        #expect(try home.header(jar: "work") == "Cookie: a=2; b=3")
        #expect(try home.crumb("list", "--json", "--jar", "work").objects().count == 2)
    }

    @Test("A missing jar is exit status 34 for readers, with or without a database")
    func unknown() throws {
        for message in ["\(home.file("crumb.sqlite")): no such database. ", "nowhere: no such jar in "] {
            for command in [
                ["header", "https://example.com/"], ["script", "https://example.com/"], ["list"],
                ["explain", "https://example.com/"],
            ] {
                let result = try home.start(command + ["--jar", "nowhere"]).wait()
                #expect(result.status == 34, "\(command): \(result.messages)")
                #expect(result.messages.hasPrefix("crumb: \(message)") && result.output.isEmpty)
            }
            try home.receive("a=1")
        }
        let status = try home.crumb("status", "--json").objects()
        #expect((status.first?["jars"] as? [Any])?.count == 1)
    }

    @Test("CRUMB_JAR names the jar, -j and --jar outrank it")
    func variable() throws {
        try home.receive("a=1; Path=/")
        try home.receive("a=2; Path=/", jar: "work")
        let url = "https://www.example.com/"
        for (options, jar, header) in [
            ([], "work", "a=2"), (["-j", "default"], "work", "a=1"), (["--jar", "default"], "work", "a=1"),
            (["-j", "work"], "", "a=2"), ([], "", "a=1"),
        ] as [([String], String, String)] {
            let result = try home.start(["header", url] + options, variables: ["CRUMB_JAR": jar]).wait()
            #expect(result.text == "Cookie: \(header)\n", "\(options) \(jar): \(result.messages)")
        }
        #expect(try home.crumb("list", variables: ["CRUMB_JAR": "typo"]).status == 34)
        #expect(try home.crumb("prune", "-j", "work").status == 0)
    }

    @Test(
        "rm, delete, show and ls are other names of remove and list, in each group",
        arguments: [
            ["rm", "a"], ["delete", "a"], ["show"], ["ls"], ["jars", "ls"], ["jars", "show", "default"],
            ["jars", "rm", "default"], ["jars", "delete", "default"], ["session", "show"], ["session", "rm", "before"],
            ["session", "delete", "before"], ["token", "ls"], ["token", "rm", "login"], ["token", "delete", "login"],
            ["token", "show", "login"], ["key", "show"], ["jars", "fields", "show"],
            ["jars", "fields", "rm", "X-A", "--scope", "https://a.example/"],
            ["serve", "token", "ls"], ["serve", "token", "rm", "ci"], ["token", "fallback", "show"],
        ])
    func aliases(words: [String]) throws {
        try home.receive("a=1; Path=/")
        #expect(try home.crumb("session", "save", "before").status == 0)
        #expect(try home.crumb("token", "import", "login", input: "tok-1\n").status == 0)
        #expect(try home.crumb("jars", "fields", "set", "X-A", "--scope", "https://a.example/", input: "v").status == 0)
        #expect(try home.crumb("serve", "token", "create", "ci", "--read").status == 0)
        let result = try home.start(words).wait()
        #expect(result.status == 0, "\(words): \(result.messages)")
    }

    @Test("A name that no jar can have is exit status 36", arguments: ["", "a\nb", String(repeating: "x", count: 101)])
    func names(name: String) throws {
        try home.receive("a=1")
        let capture = try home.write(Capture.har([]), to: "har")
        #expect(try home.crumb("import", "--jar", name, capture).status == 36)
        #expect(try home.crumb("list", "--jar", name).status == 36)
    }

    @Test("--database comes before CRUMB_DATABASE, that before the data folder, that before the home")
    func places() throws {
        let capture = try home.write(Capture.har([Capture.entry("https://www.example.com/", ["a=1"])]), to: "har")
        let data = home.file("data")
        let cases: [(options: [String], variables: [String: String?], made: String)] = [
            (["--database", home.file("1.sqlite")], [:], "1.sqlite"),
            ([], ["CRUMB_DATABASE": home.file("2.sqlite"), "XDG_DATA_HOME": data], "2.sqlite"),
            ([], ["CRUMB_DATABASE": nil, "XDG_DATA_HOME": data], "data/crumb/crumb.sqlite"),
            ([], ["CRUMB_DATABASE": "", "XDG_DATA_HOME": "relative"], ".local/share/crumb/crumb.sqlite"),
        ]
        for (options, variables, made) in cases {
            #expect(!FileManager.default.fileExists(atPath: home.file(made)))
            #expect(try home.start(["import"] + options + [capture], variables: variables).wait().status == 0)
            #expect(FileManager.default.fileExists(atPath: home.file(made)), "\(made)")
        }
        let key = try home.crumb(
            "import", "--database", home.file("5.sqlite"), capture,
            variables: [
                "CRUMB_KEY_FILE": nil, "XDG_CONFIG_HOME": home.file("config"), "XDG_DATA_HOME": home.file("other"),
            ])
        #expect(key.status == 0 && FileManager.default.fileExists(atPath: home.file("config/crumb/key")))
    }

    @Test(
        "A database path is always a file, whatever its name",
        arguments: [":memory:", "file:x?mode=memory", "a%20b", "-x", "ü", "a b"])
    func relative(name: String) throws {
        let capture = try home.write(Capture.har([Capture.entry("https://www.example.com/", ["a=1"])]), to: "har")
        let option = "--database='\(name)'"
        #expect(try home.shell("crumb import \(option) \(capture)").status == 0)
        #expect(try home.shell("crumb header \(option) https://www.example.com/").text == "Cookie: a=1\n")
        #expect(FileManager.default.fileExists(atPath: home.file(name)))
    }

    @Test("Without a home and without a path there is a clear error")
    func homeless() throws {
        let result = try home.crumb("list", variables: ["HOME": nil, "XDG_DATA_HOME": nil, "CRUMB_KEY_FILE": nil])
        #expect(result.status == 23 && result.messages.contains("HOME"))
    }

    @Test(
        "Wrong usage is exit status 64, help and version are 0",
        arguments: [
            ([], 0), (["--help"], 0), (["--version"], 0), (["help", "import"], 0), (["nonsense"], 64), (["import"], 64),
            (["header"], 64), (["header", "a", "b"], 64), (["list", "--nonsense"], 64), (["header", "--database"], 64),
        ] as [([String], Int32)])
    func usage(arguments: [String], status: Int32) throws {
        let result = try home.start(arguments).wait()
        #expect(result.status == status, "\(result.messages)")
        #expect(result.output.isEmpty == (status != 0) && result.messages.isEmpty == (status == 0))
    }

    @Test("A jar named behind curl's first option is an error that says where it belongs")
    func curlOption() throws {
        try home.receive("a=1; Path=/", jar: "web")
        for option in ["-j", "-sj"] {
            let result = try home.crumb("curl", "-s", option, "web", "https://www.example.com/")
            #expect(result.status == 51, "\(result.messages)")
            #expect(
                result.messages.contains(
                    "'-j web' is an option of curl here. Put it first to name the jar: crumb curl -j web"))
        }
        #expect(
            !(try home.crumb("curl", "-s", "-j", "wbe", "https://www.example.com/").messages.contains("Put it first")))
    }
}
