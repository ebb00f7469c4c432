import Foundation
import TestSupport
import Testing

@Suite("crumb jars")
struct JarsCommandTests {
    private let home = CrumbHome()

    private func counts() throws -> [String: Int] {
        try home.crumb("jars", "--json").objects().reduce(into: [:]) { counts, jar in
            if let name = jar["name"] as? String { counts[name] = jar["cookies"] as? Int }
        }
    }

    @Test("Jars are listed, as a table and as JSON, and nothing is made by that")
    func list() throws {
        let empty = try home.crumb("jars")
        #expect(empty.status == 0 && empty.output.isEmpty && empty.messages.hasPrefix("no jars yet"))
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
        try home.receive("a=1; Path=/", "b=1; Path=/; Max-Age=100", jar: "work")
        #expect(try home.crumb("session", "save", "s", "--jar", "work").status == 0)
        let rows = try home.crumb("jars", "list").text.split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        #expect(rows.count == 2 && rows[0].prefix(5) == ["JAR", "COOKIES", "SESSION", "SAVED", "PROFILE"])
        #expect(rows[1].prefix(5) == ["work", "2", "1", "1", "rfc6265bis"])
        let object = try #require(try home.crumb("jars", "--json").objects().first)
        #expect(object["savedSessions"] as? Int == 1 && object["nextExpiry"] is String)
        #expect((object["limits"] as? [String: Any])?["total-cookies"] is NSNull)
    }

    @Test("A jar is made with a profile and limits, renamed, copied, merged, cleared and removed")
    func life() throws {
        let made = try home.crumb(
            "jars", "create", "one", "--profile", "browser", "--limit", "total-cookies=9", "--limit",
            "request-octets=none", "--json")
        let object = try #require(try made.objects().first)
        #expect(made.status == 0 && object["profile"] as? String == "browser")
        #expect((object["limits"] as? [String: Any])?["total-cookies"] as? Int == 9)
        try home.receive("a=1; Path=/", "b=1; Path=/", jar: "one")
        #expect(try home.crumb("jars", "rename", "one", "two").messages == "jar 'one' is now 'two'\n")
        #expect(
            try home.crumb("jars", "copy", "two", "three").messages == "copied 2 cookies from jar 'two' to 'three'\n")
        #expect(try home.header(jar: "three") == "Cookie: a=1; b=1")
        try home.receive("a=2; Path=/", "c=2; Path=/", jar: "three")
        let merge = try #require(try home.crumb("jars", "merge", "three", "two", "--json").objects().first)
        #expect(merge["added"] as? Int == 1 && (merge["evicted"] as? [Any])?.isEmpty == true)
        #expect(try counts() == ["two": 3, "three": 3])
        let undo = "to undo this within a day: crumb jars restore "
        #expect(
            try home.crumb("jars", "clear", "three").messages == "removed 3 cookies from jar 'three'\n\(undo)three\n")
        #expect(
            try home.crumb("jars", "remove", "two").messages
                == "removed jar 'two' with 3 cookies and 0 saved sessions\n\(undo)two\n")
        #expect(try counts() == ["three": 0])
        #expect(try home.crumb("jars", "remove", "three", "--json", "--quiet").objects().first?["cookies"] as? Int == 0)
        #expect(try counts().isEmpty)
    }

    @Test("The sites of all jars are listed with their jars, as a table and as JSON")
    func sites() throws {
        let empty = try home.crumb("sites")
        #expect(empty.status == 0 && empty.output.isEmpty && empty.messages == "no cookies in any jar\n")
        try home.receive("a=1; Path=/", "b=1; Path=/; Max-Age=100", jar: "work")
        try home.receive("a=1; Path=/", jar: "home")
        let rows = try home.crumb("sites").text.split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        #expect(rows.count == 3 && rows[0].prefix(3) == ["SITE", "JAR", "COOKIES"])
        #expect(rows[1].prefix(3) == ["example.com", "work", "2"])
        #expect(rows[2].prefix(4) == ["example.com", "home", "1", "-"])
        let objects = try home.crumb("sites", "--jar", "work", "--json").objects()
        #expect(objects.count == 1 && objects[0]["cookies"] as? Int == 2 && objects[0]["nextExpiry"] is String)
        let none = try home.crumb("sites", "--jar", "wrok")
        #expect(none.status == 34 && none.messages.contains("Did you mean 'work'?"), "\(none.messages)")
    }

    @Test("A jar is not merged into itself")
    func mergeIntoItself() throws {
        try home.receive("a=1")
        let result = try home.crumb("jars", "merge", "default", "default")
        #expect(result.status == 36 && result.messages.contains("jar 'default': cannot be merged into itself"))
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("A merge names the cookies that the limits evict")
    func evicted() throws {
        #expect(try home.crumb("jars", "create", "small", "--limit", "domain-cookies=1").status == 0)
        try home.receive("old=secret; Path=/", jar: "small")
        try home.receive("new=1; Path=/")
        let result = try home.crumb("jars", "merge", "default", "small")
        #expect(result.status == 0 && result.messages.contains("1 added") && result.messages.contains("1 evicted"))
        #expect(
            result.messages.contains("evicted old  www.example.com/: ") && result.messages.contains("(domain-limit)"))
        #expect(!result.messages.contains("secret"))
    }

    @Test("Settings are shown, and changed one by one")
    func settings() throws {
        try home.receive("a=1")
        let shown = try home.crumb("jars", "settings", "default")
        #expect(shown.status == 0 && shown.text.contains("domain-cookies     180\ntotal-cookies      none\n"))
        let changed = try home.crumb(
            "jars", "settings", "default", "--limit", "none", "--limit", "total-cookies=5", "--json")
        let object = try #require(try changed.objects().first)
        let limits = try #require(object["limits"] as? [String: Any])
        #expect(limits.count == 6 && limits["total-cookies"] as? Int == 5 && limits["domain-cookies"] is NSNull)
        #expect(object["profile"] as? String == "rfc6265bis")
        #expect(try home.crumb("jars", "settings", "default", "--profile", "browser").text.contains("browser"))
        #expect(try home.crumb("jars", "settings", "default").text.contains("total-cookies      5\n"))
    }

    @Test(
        "A setting that there is not is wrong usage and changes nothing",
        arguments: [
            ["--profile", "chrome"], ["--limit", "5"], ["--limit", "cookies=5"], ["--limit", "total-cookies=-1"],
            ["--limit", "total-cookies="], ["--limit", "total-cookies=x"],
        ])
    func wrongSettings(arguments: [String]) throws {
        #expect(try home.start(["jars", "create", "new"] + arguments).wait().status == 64)
        #expect(try counts().isEmpty)
    }

    @Test("Names that are taken, invalid or missing have an exit status and the next step")
    func failures() throws {
        for command in [
            ["rename", "x", "y"], ["copy", "x", "y"], ["clear", "x"], ["remove", "x"], ["settings", "x"],
        ] {
            #expect(try home.start(["jars"] + command).wait().status == 34)
        }
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
        try home.receive("a=1; Path=/")
        try home.receive("a=2; Path=/", jar: "work")
        let cases: [(arguments: [String], status: Int32)] = [
            (["rename", "x", "y"], 34), (["merge", "x", "work"], 34), (["merge", "work", "x"], 34),
            (["rename", "default", "work"], 37), (["copy", "default", "work"], 37), (["create", "work"], 37),
            (["create", ""], 36), (["rename", "work", "a\nb"], 36),
        ]
        for (arguments, status) in cases {
            let result = try home.start(["jars"] + arguments).wait()
            #expect(result.status == status && result.output.isEmpty, "\(arguments): \(result.messages)")
            if status == 34 {
                #expect(result.messages.hasPrefix("crumb: x: no such jar in "), "\(result.messages)")
            }
        }
        #expect(try counts() == ["default": 1, "work": 1])
        #expect(try home.header() == "Cookie: a=1" && home.header(jar: "work") == "Cookie: a=2")
        for command in [["remove", "wrok"], ["clear", "wrok"], ["merge", "wrok", "default"], ["settings", "wrok"]] {
            let result = try home.start(["jars"] + command).wait()
            #expect(result.status == 34 && result.messages.contains("Did you mean 'work'?"), "\(result.messages)")
        }
    }

    @Test("Several jars are removed, each with its own result, and one that is missing does not keep the others")
    func several() throws {
        for name in ["a", "b", "c", "d"] { try home.receive("x=1; Path=/", jar: name) }
        let result = try home.crumb("jars", "remove", "a", "none", "", "b")
        #expect(result.status == 34, "\(result.messages)")
        for line in ["removed jar 'a' with 1 cookie ", "crumb: none: no such jar ", "removed jar 'b' with 1 cookie "] {
            #expect(result.messages.contains(line), "\(result.messages)")
        }
        for name in ["a", "b"] {
            #expect(result.messages.contains("crumb jars restore \(name)\n"), "\(result.messages)")
        }
        #expect(try counts() == ["c": 1, "d": 1])
        let json = try home.crumb("jars", "remove", "--json", "--now", "c", "none", "d")
        #expect(json.status == 34 && json.messages.contains(#""code":"jar-not-found""#), "\(json.messages)")
        #expect(try json.objects().map { $0["jar"] as? String } == ["c", "d"])
        #expect(try counts().isEmpty)
    }

    @Test("Control characters of names cannot reach the terminal")
    func terminal() throws {
        let name = "\u{9B}31mx"
        #expect(try home.crumb("jars", "create", name).status == 0)
        #expect(try home.crumb("session", "save", name, "--jar", name).status == 0)
        let shown = try [
            home.crumb("jars"), home.crumb("jars", "settings", name), home.crumb("session", "list", "--jar", name),
        ]
        for result in shown {
            #expect(result.status == 0 && !result.output.isEmpty)
            #expect(!result.text.unicodeScalars.contains { (0x80..<0xA0).contains($0.value) })
        }
        #expect(try home.crumb("jars", "--json").objects().first?["name"] as? String == name)
    }

    @Test("Two processes that copy and merge at once lose nothing")
    func processes() throws {
        let capture = try home.write(Capture.har(cookies: 100, named: "a"), to: "har")
        #expect(try home.crumb("import", "--jar", "source", capture).status == 0)
        #expect(try home.crumb("jars", "create", "target").status == 0)
        for round in 0..<3 {
            let processes = try [
                ["jars", "merge", "source", "target"], ["jars", "copy", "source", "copy\(round)"],
                ["jars", "merge", "source", "target"], ["jars", "copy", "source", "copy\(round)"],
            ].map { try home.start($0) }
            let statuses = processes.map { $0.wait().status }
            #expect(statuses[0] == 0 && statuses[2] == 0 && Set([statuses[1], statuses[3]]) == [0, 37])
        }
        #expect(try counts() == ["source": 100, "target": 100, "copy0": 100, "copy1": 100, "copy2": 100])
        #expect(
            try home.header("https://many.example/", jar: "target")
                == home.header("https://many.example/", jar: "source"))
    }
}
