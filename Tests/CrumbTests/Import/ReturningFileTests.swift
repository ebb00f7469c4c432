import Foundation
import TestSupport
import Testing

@Suite("Files of cookies that come back")
struct ReturningFileTests {
    private let home = CrumbHome()
    private static let url = "https://www.example.com/"

    private func store(_ lines: String...) throws {
        let input = lines.joined(separator: "\n") + "\n"
        #expect(try home.crumb("set", Self.url, input: input).status == 0)
    }

    private func cookie(_ name: String = "sid") throws -> [String: Any] {
        let cookies = try home.crumb("list", "--json", "--values").objects()
        let found = cookies.filter { $0["name"] as? String == name }
        #expect(found.count == 1, "\(cookies)")
        return found.first ?? [:]
    }

    /// As yt-dlp and wget write a file again: without the mark of HttpOnly.
    private func rewritten(_ netscape: String) -> String {
        netscape.split(separator: "\n").filter { !$0.hasPrefix("#HttpOnly_") }.joined(separator: "\n") + "\n"
    }

    @Test("A cookie file that a tool wrote again leaves HttpOnly, SameSite and the partition as they were")
    func netscape() throws {
        try store(
            "sid=secret; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=3600",
            "chip=1; Path=/; Secure; HttpOnly; Partitioned; Max-Age=3600", "open=2; Path=/")
        let before = try [cookie(), cookie("chip"), cookie("open")]
        let exported = try home.crumb("export", "--format", "netscape").text
        let path = try home.write(rewritten(exported), to: "cookies.txt")
        let result = try home.crumb("import", path)
        #expect(result.status == 0 && result.text.contains("3 cookies: 0 taken, 3 replaced"))
        #expect(
            result.text.contains(
                "kept from the jar, since the file lacks it: HttpOnly of 2 cookies, SameSite of 1 cookie"))
        let script = try home.crumb("script", Self.url)
        #expect(!script.text.contains("secret") && script.text.contains("open"))
        let after = try [cookie(), cookie("chip"), cookie("open")]
        for (before, after) in zip(before, after) {
            for member in ["value", "httpOnly", "sameSite", "partitionKey", "hostOnly", "secure", "expires", "created"]
            {
                #expect("\(before[member] ?? "none")" == "\(after[member] ?? "none")", "\(member)")
            }
        }
    }

    @Test("An expired line of a file deletes nothing, so that no further line brings the cookie back for scripts")
    func expiredLine() throws {
        try store("sid=secret; Path=/; Secure; HttpOnly; Max-Age=3600")
        let rows = [1, 2_000_000_000].map { "www.example.com\tFALSE\t/\tTRUE\t\($0)\tsid\tsecret" }
        let path = try home.write("# Netscape HTTP Cookie File\n" + rows.joined(separator: "\n") + "\n", to: "c.txt")
        let result = try home.crumb("import", path)
        #expect(result.text.contains("0 taken, 1 replaced, 0 deleted, 1 expired"), "\(result.text)")
        #expect(try cookie()["httpOnly"] as? Bool == true)
        #expect(try !home.crumb("script", Self.url).text.contains("secret"))
    }

    @Test("A file that changes the host-only flag, or has both cookies, gives no script the session")
    func otherHostOnlyFlag() throws {
        for hostOnlyColumns in [["TRUE"], ["FALSE", "TRUE"]] {
            let home = CrumbHome()
            let line = "sid=secret; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=3600\n"
            #expect(try home.crumb("set", Self.url, input: line).status == 0)
            let rows = hostOnlyColumns.map { "www.example.com\t\($0)\t/\tTRUE\t2000000000\tsid\tsecret" }
            let path = try home.write(
                "# Netscape HTTP Cookie File\n" + rows.joined(separator: "\n") + "\n", to: "c.txt")
            let result = try home.crumb("import", path)
            #expect(result.status == 0 && result.text.contains("HttpOnly of \(rows.count) cookie"), "\(result.text)")
            #expect(try !home.crumb("script", Self.url).text.contains("secret"))
            let cookies = try home.crumb("list", "--json").objects()
            #expect(cookies.map { $0["httpOnly"] as? Bool } == [true, true], "\(cookies)")
        }
    }

    /// A cookie file, and what an import of it into an empty jar comes to.
    private func twins(_ rows: [String], _ options: String...) throws -> (report: String, script: String) {
        let home = CrumbHome()
        let path = try home.write(
            "# Netscape HTTP Cookie File\n" + rows.joined(separator: "\n") + "\n", to: "c.txt")
        let result = try home.start(["import"] + options + [path]).wait()
        #expect(result.status == 0, "\(result.messages)")
        let report = result.text.replacing(path, with: "c.txt")
        if options.contains("--dry-run") { return (report, "") }
        return (report, try home.crumb("script", "https://www.example.com/app").text)
    }

    @Test(
        "A plain line and its #HttpOnly_ twin in one file, in either order, give no script the session",
        arguments: [
            "www.example.com\tTRUE\t/\tTRUE\t2000000000\tsid\tsecret",
            "www.example.com\tFALSE\t/\tTRUE\t2000000000\tsid\tsecret",
            "www.example.com\tFALSE\t/app\tTRUE\t2000000000\tsid\tsecret",
            ".example.com\tTRUE\t/\tTRUE\t2000000000\tsid\tsecret",
        ])
    func twinLines(plain: String) throws {
        let stated = "#HttpOnly_www.example.com\tFALSE\t/\tTRUE\t2000000000\tsid\tsecret"
        let control = "www.example.com\tFALSE\t/\tTRUE\t2000000000\topen\tfree"
        for rows in [[plain, stated, control], [control, stated, plain]] {
            let (report, script) = try twins(rows)
            #expect(!script.contains("secret") && script.contains("free"), "\(rows)")
            // A line that is the very same cookie is read as one with the other, if it follows.
            let isSame = plain.hasPrefix("www.example.com\tFALSE\t/\t")
            #expect(isSame || report.contains("since the file lacks it: HttpOnly of 1 cookie"), "\(report)")
            #expect(try twins(rows, "--dry-run").report == report)
        }
    }

    @Test("A twin further on in a long file counts too")
    func distantTwin() throws {
        var rows = ["www.example.com\tTRUE\t/\tTRUE\t2000000000\tsid\tsecret"]
        rows += (0..<10_000).map { "h\($0).example\tFALSE\t/\tTRUE\t2000000000\ta\t1" }
        rows.append("#HttpOnly_www.example.com\tFALSE\t/\tTRUE\t2000000000\tsid\tsecret")
        let (report, script) = try twins(rows)
        #expect(!script.contains("secret"))
        #expect(report.contains("10002 cookies: 10002 taken, 0 replaced"), "\(report)")
        #expect(report.contains("HttpOnly of 1 cookie"), "\(report)")
    }

    @Test("A line that comes back with another path keeps HttpOnly as long as it has the value")
    func otherPath() throws {
        try store("sid=secret; Path=/app; Secure; HttpOnly; SameSite=Strict; Max-Age=3600")
        let path = try home.write(
            "# Netscape HTTP Cookie File\nwww.example.com\tFALSE\t/\tTRUE\t2000000000\tsid\tsecret\n", to: "c.txt")
        let result = try home.crumb("import", path)
        #expect(result.text.contains("HttpOnly of 1 cookie, SameSite of 1 cookie"), "\(result.text)")
        #expect(try !home.crumb("script", Self.url).text.contains("secret"))
        let cookies = try home.crumb("list", "--json").objects()
        #expect(cookies.map { $0["sameSite"] as? String } == ["Strict", "Strict"], "\(cookies)")
    }

    @Test("The report counts the lifetimes that the rules cut")
    func lifetimes() throws {
        let rows = [4_102_444_800, 4_102_444_800, 0].enumerated().map { number, end in
            "www.example.com\tFALSE\t/\tTRUE\t\(end)\tc\(number)\t1"
        }
        let path = try home.write("# Netscape HTTP Cookie File\n" + rows.joined(separator: "\n") + "\n", to: "c.txt")
        #expect(try home.crumb("import", "--dry-run", path).text.contains("  2 lifetimes cut to 400 days"))
        #expect(try home.crumb("import", "--json", path).objects().first?["lifetimesCut"] as? Int == 2)
        let exported = try home.write(try home.crumb("export", "--format", "netscape").text, to: "again.txt")
        #expect(try !home.crumb("import", exported).text.contains("cut"))
    }

    @Test("A jar's own cookie file changes no flags, also where a script has the same value")
    func roundTrip() throws {
        try store(
            "theme=dark; Path=/; HttpOnly; Max-Age=3600", "theme=dark; Path=/; Domain=example.com; Max-Age=3600")
        let before = try home.crumb("list", "--json").objects().map { $0["httpOnly"] as? Bool }
        let path = try home.write(try home.crumb("export", "--format", "netscape").text, to: "cookies.txt")
        #expect(try home.crumb("import", path).text.contains("2 cookies: 0 taken, 2 replaced"))
        #expect(try home.crumb("list", "--json").objects().map { $0["httpOnly"] as? Bool } == before)
        #expect(Set(before) == [true, false])
    }

    @Test("A renewed session in a file that cannot state flags keeps them; the report counts that")
    func renewed() throws {
        try store("sid=old; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=3600")
        let session = """
            {"__meta__": {"httpie": "3.2.4"}, "headers": [], "cookies": [{"name": "sid", "value": "new", "path": "/", \
            "secure": true, "expires": null, "domain": "www.example.com"}]}
            """
        let path = try home.write(session, to: "session.json")
        let report = try #require(try home.crumb("import", "--json", path).objects().first)
        #expect(report["kept"] as? [String: Int] == ["http-only": 1, "same-site": 1])
        let after = try cookie()
        #expect(after["value"] as? String == "new" && after["httpOnly"] as? Bool == true)
        #expect(after["sameSite"] as? String == "Lax")
        #expect(!(try home.crumb("script", Self.url)).text.contains("new"))
    }

    @Test("A list that leaves members out says nothing about them, one that has them does")
    func lists() throws {
        try store("sid=1; Path=/; Secure; HttpOnly; SameSite=Strict")
        let bare = #"[{"name": "sid", "value": "1", "domain": "www.example.com", "path": "/"}]"#
        #expect(try home.crumb("import", home.write(bare, to: "bare.json")).status == 0)
        var after = try cookie()
        #expect(after["httpOnly"] as? Bool == true && after["secure"] as? Bool == true)
        #expect(after["sameSite"] as? String == "Strict")
        let full = """
            {"cookies": [{"name": "sid", "value": "1", "domain": "www.example.com", "path": "/", "expires": -1, \
            "httpOnly": false, "secure": true, "sameSite": "Lax"}], "origins": []}
            """
        #expect(try home.crumb("import", home.write(full, to: "state.json")).status == 0)
        after = try cookie()
        #expect(after["httpOnly"] as? Bool == false && after["sameSite"] as? String == "Lax")
    }

    @Test("A conversion has no jar to compare with, and writes the properties of the file")
    func conversion() throws {
        let line = "www.example.com\tFALSE\t/\tTRUE\t0\tsid\t1\n"
        let path = try home.write("# Netscape HTTP Cookie File\n\(line)", to: "cookies.txt")
        let object = try #require(try home.crumb("convert", "--to", "json", path).objects().first)
        #expect(object["httpOnly"] as? Bool != true)
    }
}
