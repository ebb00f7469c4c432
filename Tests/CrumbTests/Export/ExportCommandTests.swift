import Foundation
import TestSupport
import Testing

@Suite("crumb export")
struct ExportCommandTests {
    private let home = CrumbHome()

    init() throws {
        try home.receive(
            "sid=s1; Path=/; Secure; HttpOnly; SameSite=Lax", "theme=dark; Path=/; Domain=example.com; Max-Age=1000",
            "deep=1; Path=/deep")
        try home.receive("other=o1; Path=/; HttpOnly", from: "https://www.other.test/")
    }

    /// The names in an export to JSON lines.
    private func names(_ arguments: String...) throws -> [String] {
        let result = try home.start(["export", "--format", "json"] + arguments).wait()
        #expect(result.status == 0, "\(result.messages)")
        return try result.objects().compactMap { $0["name"] as? String }
    }

    @Test("Without conditions all cookies are exported, otherwise those that meet all conditions")
    func filters() throws {
        #expect(try names() == ["sid", "theme", "deep", "other"])
        #expect(try names("--site", "example.com") == ["sid", "theme", "deep"])
        #expect(try names("--site", "www.example.com") == ["sid", "deep"])
        #expect(try names("--site", "www.example.com", "--site", "other.test") == ["sid", "deep", "other"])
        #expect(try names("--name", "sid", "--name", "other") == ["sid", "other"])
        #expect(try names("--name", "SID") == [])
        #expect(try names("--http-only") == ["sid", "other"])
        #expect(try names("--no-http-only") == ["theme", "deep"])
        #expect(try names("--session") == ["sid", "deep", "other"])
        #expect(try names("--persistent") == ["theme"])
        #expect(try names("--url", "https://www.example.com/") == ["sid", "theme"])
        #expect(try names("--url", "http://www.example.com/deep") == ["deep", "theme"])
        #expect(try names("--url", "https://www.example.com/", "--http-only") == ["sid"])
        #expect(try names("--url", "https://www.example.com/", "--top-level", "https://x.test/") == [])
    }

    @Test("A file is the user's alone, whole, and replaces nothing that is not to go")
    func file() throws {
        let path = home.file("out.txt")
        let first = try home.crumb("export", "--format", "netscape", "--output", path)
        #expect(first.status == 0 && first.output.isEmpty)
        #expect(
            first.messages == """
                \(path): 4 cookies written
                  netscape does not keep: SameSite (of 1), exact expiry (of 1), creation time, \
                last access time

                """)
        #expect(try home.mode("out.txt") == 0o600)
        let written = home.bytes("out.txt")
        #expect(written.starts(with: Array("# Netscape HTTP Cookie File\n".utf8)))
        let second = try home.crumb("export", "--format", "json", "--output", path)
        #expect(second.status == 28 && home.bytes("out.txt") == written)
        try home.write("old", to: "old.txt", mode: 0o644)
        #expect(try home.crumb("export", "--format", "json", "--force", "--output", home.file("old.txt")).status == 0)
        #expect(try home.mode("old.txt") == 0o600)
        #expect(home.bytes("old.txt").starts(with: Array(#"{"crumb":1,"#.utf8)))
        let left = try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0.hasSuffix(".new") }
        #expect(left.isEmpty)
    }

    @Test("The database, its key, a folder and a name that cannot be are no destination")
    func destinations() throws {
        for name in ["crumb.sqlite", "key"] {
            let before = home.bytes(name)
            let result = try home.crumb("export", "--format", "json", "--force", "--output", home.file(name))
            #expect(result.status == 28 && home.bytes(name) == before, "\(result.messages)")
        }
        #expect(try home.crumb("export", "--format", "json", "--output", home.path).status == 73)
        // A folder that does not exist is created by neither of them.
        for command in [["export", "--format", "json", "--output"], ["backup"]] {
            let result = try home.start(command + [home.file("none/x")]).wait()
            let problem = "the folder \(home.file("none")) does not exist; create it first"
            #expect(result.status == 73, "\(result.messages)")
            #expect(result.messages == "crumb: \(home.file("none/x")): \(problem)\n")
            #expect(!FileManager.default.fileExists(atPath: home.file("none")))
        }
        #expect(try home.crumb("export", "--format", "nothing").status == 64)
    }

    @Test("A terminal gets cookies only on request")
    func terminal() throws {
        func shell(_ arguments: String) throws -> RunResult {
            try home.shell("script --quiet --return --command 'crumb export --format json \(arguments)' /dev/null")
        }
        let refused = try shell("")
        #expect(refused.status == 76, "\(refused.text)")
        #expect(refused.text.contains("--output") && !refused.text.contains("s1"))
        let shown = try shell("--output -")
        #expect(shown.status == 0 && shown.text.contains("s1"), "\(shown.text)")
    }

    @Test("Formats for one URL need it, and a request without cookies has no header")
    func oneURL() throws {
        for format in ["header", "curl", "set-cookie", "webdriver"] {
            #expect(try home.crumb("export", "--format", format).status == 18, "\(format)")
        }
        let header = try home.crumb("export", "--format", "header", "--url", "https://www.example.com/deep")
        #expect(header.text == "Cookie: deep=1; sid=s1; theme=dark\n")
        #expect(header.text == (try home.crumb("header", "https://www.example.com/deep")).text)
        let nothing = try home.crumb(
            "export", "--format", "header", "--url", "https://none.test/", "--output", home.file("none.txt"))
        #expect(nothing.status == 3 && !FileManager.default.fileExists(atPath: home.file("none.txt")))
        let lines = try home.crumb("export", "--format", "set-cookie", "--url", "https://www.example.com/").text
        #expect(
            lines.split(separator: "\n").map { $0.prefix(15) } == [
                "Set-Cookie: sid", "Set-Cookie: the", "Set-Cookie: dee",
            ])
        #expect(try home.crumb("export", "--format", "json", "--top-level", "https://x.test/").status == 64)
    }

    @Test("A cookie that the format cannot hold is left out and named, with its own exit status")
    func leftOut() throws {
        try home.receive("tab=a\tb; Path=/", from: "https://tab.test/")
        let path = home.file("tab.txt")
        let result = try home.crumb("export", "--format", "netscape", "--json", "--output", path)
        #expect(result.status == 6)
        #expect(result.messages.contains("tab  tab.test/") && result.messages.contains("octets-not-held"))
        let report = try #require(try result.objects().first)
        #expect(report["written"] as? Int == 4)
        let leftOut = try #require(report["leftOut"] as? [[String: Any]])
        #expect(leftOut.compactMap { ($0["reason"] as? [String: Any])?["id"] as? String } == ["octets-not-held"])
        let notKept = try #require(report["notKept"] as? [[String: Any]])
        let counts = Dictionary(
            uniqueKeysWithValues: notKept.map { ($0["id"] as? String ?? "", $0["count"] as? Int ?? 0) })
        #expect(counts == ["same-site": 1, "exact-expiry": 1, "creation": 4, "last-access": 4])
        #expect(!result.text.contains("a\\tb") && !result.text.contains("s1"))
        // Where the cookies go to standard output, the report does not.
        let piped = try home.crumb("export", "--format", "header", "--url", "https://tab.test/", "--json")
        #expect(piped.text == "Cookie: tab=a\tb\n" && piped.messages.hasPrefix("{"))
    }

    @Test("A jar that was filled from JSON lines is the jar that they were made of")
    func roundTrip() throws {
        try home.receive(
            "__Host-p=1; Path=/; Secure; SameSite=None; Partitioned; Max-Age=5000", "=nameless; Path=/",
            "tab=a\tb; Path=/x", from: "https://part.test/a/b")
        try home.write(
            Array("HTTP/1.1 200 OK\r\nSet-Cookie: latin=".utf8) + [0xE9, 0xFF] + Array("\r\n\r\n".utf8), to: "l")
        #expect(try home.crumb("import", "--url", "https://part.test/", home.file("l")).status == 0)
        let first = try home.crumb("export", "--format", "json")
        try home.write(first.output, to: "jar.jsonl")
        #expect(try home.crumb("import", "--jar", "second", home.file("jar.jsonl")).status == 0)
        let second = try home.crumb("export", "--format", "json", "--jar", "second")
        #expect(first.status == 0 && second.status == 0 && first.text.split(separator: "\n").count == 8)
        #expect(first.output == second.output)
        let header = try home.header("https://part.test/x")
        #expect(header == (try home.header("https://part.test/x", jar: "second")) && !header.isEmpty)
    }

    @Test("An export counts as no use of a cookie, and an empty jar makes an empty file")
    func nothing() throws {
        let before = try home.crumb("export", "--format", "json").output
        #expect(try home.crumb("export", "--format", "curl", "--url", "https://www.example.com/").status == 0)
        #expect(try home.crumb("export", "--format", "json").output == before)
        let empty = CrumbHome()
        let result = try empty.crumb("export", "--format", "storage-state", "--output", empty.file("s.json"))
        #expect(result.status == 0 && result.messages == "\(empty.file("s.json")): 0 cookies written\n")
        #expect(String(decoding: empty.bytes("s.json"), as: UTF8.self) == "{\"cookies\":[\n],\"origins\":[]}\n")
        #expect(!FileManager.default.fileExists(atPath: empty.file("crumb.sqlite")))
    }
}
