import Foundation
import Platform
import TestSupport
import Testing

@Suite("Looking after a database, through the command")
struct MaintenanceCommandTests {
    private let home = CrumbHome()

    private func sql(_ text: String) throws {
        let result = try home.shell("sqlite3 crumb.sqlite \"\(text)\"")
        try #require(result.status == 0, "sqlite3 is needed: \(result.messages)")
    }

    /// Makes cookies that are long over.
    private func expire(_ names: String...) throws {
        for name in names { try sql("UPDATE cookie SET expires_at = 1 WHERE name = CAST('\(name)' AS BLOB)") }
    }

    @Test("`prune` prints the removed data, jar by jar")
    func prune() throws {
        try home.receive("a=1; Path=/", "b=2; Path=/")
        try home.receive("a=1; Path=/", "c=3; Path=/", jar: "work")
        #expect(try home.crumb("prune").text == "nothing to remove\n")
        try expire("a", "c")
        let one = try home.crumb("prune", "--jar", "work")
        #expect(
            one.text == "jar 'work': 2 expired cookies stay until the clock has advanced by a day\n", "\(one.messages)")
        try sql("UPDATE confirmed_clock SET confirmed_at = 2")
        let confirmed = try home.crumb("prune", "--jar", "work")
        #expect(confirmed.text.hasPrefix("jar 'work': 2 expired cookies removed\n"), "\(confirmed.messages)")
        let all = try #require(try home.crumb("prune", "--json", "--vacuum").objects().first)
        #expect(all["expiredCookies"] as? [String: Int] == ["default": 1] && all["vacuumed"] as? Bool == true)
        #expect(try home.header() == "Cookie: b=2")
        #expect(try home.crumb("prune", "--jar", "none").status == 34)
        #expect(try home.crumb("prune", "--journal-entries", "-1").status == 64)
        let journal = try home.crumb("prune", "--journal-entries", "0")
        #expect(journal.text.contains("journal: "))
    }

    @Test("`check` names each problem, in JSON too, and has an exit status for it")
    func check() throws {
        try home.receive("a=1; Path=/", "b=2; Path=/")
        let sound = try home.crumb("check")
        #expect(sound.status == 0 && sound.text == "\(home.file("crumb.sqlite")): sound; 2 sealed values can be read\n")
        try sql("UPDATE cookie SET value = x'00' WHERE name = x'61'")
        #expect(chmod(home.file("crumb.sqlite"), 0o644) == 0)
        let result = try home.crumb("check")
        #expect(result.status == 29 && result.messages.isEmpty)
        let lines = result.text.split(separator: "\n")
        // SQLite gives the files beside it the modes of the database.
        #expect(lines.count == 5)
        #expect(lines.first?.hasPrefix("wrong  cookie 'a' of www.example.com/ in jar 'default': ") == true)
        #expect(lines.dropFirst().first?.contains("chmod 600") == true)
        #expect(lines.last?.hasSuffix(": 4 problems; 1 sealed value can be read") == true)
        let json = try home.crumb("check", "--json")
        let report = try #require(try json.objects().first)
        #expect(json.status == 29 && report["sound"] as? Bool == false && report["readableValues"] as? Int == 1)
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(findings.map { $0["code"] as? String } == ["unreadable", "exposed", "exposed", "exposed"])
        let value = try #require(findings.first?["value"] as? [String: Any])
        #expect(value["jar"] as? String == "default" && value["name"] as? String == "a")
        #expect(value["domain"] as? String == "www.example.com")
        // The rest of the jar works on.
        #expect(try home.crumb("header", "https://www.example.com/").text == "Cookie: b=2\n")
    }

    @Test("Without a database, nothing is wrong and nothing is created")
    func nothing() throws {
        for command in [["check"], ["prune"], ["key", "status"]] {
            #expect(try home.start(command).wait().status == 0, "\(command)")
        }
        #expect(try home.crumb("backup", home.file("copy")).status == 23)
        for name in ["crumb.sqlite", "key", "copy"] {
            #expect(!FileManager.default.fileExists(atPath: home.file(name)))
        }
    }

    @Test("`backup` writes a usable database, names the key that it needs, and replaces a file only on request")
    func backup() throws {
        try home.receive("a=1; Path=/")
        let copy = home.file("copy.sqlite")
        let made = try home.crumb("backup", copy)
        #expect(made.status == 0 && made.text.hasPrefix("\(copy): "), "\(made.messages)")
        #expect(made.messages.contains("without the key from \(home.file("key"))"))
        #expect(try home.mode("copy.sqlite") == 0o600)
        try home.receive("b=2; Path=/")
        let header = try home.crumb("header", "--database", copy, "https://www.example.com/")
        #expect(header.text == "Cookie: a=1\n")
        #expect(try home.crumb("backup", copy).status == 28)
        #expect(try home.crumb("backup", "--force", copy).status == 0)
        #expect(try home.crumb("header", "--database", copy, "https://www.example.com/").text == "Cookie: a=1; b=2\n")
        for own in ["crumb.sqlite", "key"] { #expect(try home.crumb("backup", "--force", home.file(own)).status == 28) }
        #expect(try home.crumb("backup", home.path).status == 73)
        #expect(try home.header() == "Cookie: a=1; b=2")
    }

    @Test("A backup that is killed leaves no file of the name that was asked for, or a whole one")
    func backupKilled() throws {
        let capture = try home.write(Capture.har(cookies: 170, named: "c", size: 3000), to: "har")
        #expect(try home.crumb("import", capture).status == 0)
        var moments = KillMoments()
        for round in 0..<20 {
            let copy = home.file("copy\(round)")
            let process = try home.start(["backup", copy])
            moments.wait(atMost: 40_000)
            process.kill()
            _ = process.wait()
            guard FileManager.default.fileExists(atPath: copy) else { continue }
            let check = try home.crumb("check", "--database", copy)
            #expect(check.status == 0 && check.text.contains("170 sealed values"), "\(check.text); \(moments)")
        }
    }

    @Test("A backup while imports go on holds each import whole or not at all")
    func backupBesideImports() throws {
        try home.receive("first=1; Path=/")
        let captures = try (0..<6).map { number in
            try home.write(Capture.har(cookies: 100, named: "c", host: "h\(number).example"), to: "har\(number)")
        }
        let imports = try captures.map { try home.start(["import", $0]) }
        let backups = try (0..<6).map { try home.start(["backup", home.file("copy\($0)")]) }
        for process in imports + backups { #expect(process.wait().status == 0) }
        for number in 0..<6 {
            let check = try home.crumb("check", "--json", "--database", home.file("copy\(number)"))
            let values = try #require(try check.objects().first?["readableValues"] as? Int)
            #expect(check.status == 0 && values % 100 == 1, "\(values)")
        }
    }

    @Test("`status` reports sizes, ages, profiles and limits")
    func status() throws {
        try home.receive("a=1; Path=/")
        try home.receive("b=1; Path=/", jar: "work")
        try sql("UPDATE jar SET profile = 'browser', total_cookies = 3300 WHERE name = 'work'")
        try expire("b")
        let report = try #require(try home.crumb("status", "--json").objects().first)
        let statistics = try #require(report["statistics"] as? [String: Any])
        #expect((statistics["fileSize"] as? Int ?? 0) > 4096 && statistics["logSize"] as? Int != nil)
        #expect(statistics["expiredCookies"] as? Int == 1 && statistics["savedSessions"] as? Int == 0)
        let oldest = try #require(statistics["oldestCookie"] as? String)
        #expect(oldest <= (statistics["newestCookie"] as? String ?? ""))
        let jars = try #require(report["jars"] as? [[String: Any]])
        #expect(jars.map { $0["profile"] as? String } == ["rfc6265bis", "browser"])
        let limits = jars.compactMap { $0["limits"] as? [String: Any] }
        #expect(limits.map { $0["domainCookies"] as? Int } == [180, 180])
        #expect(limits.map { $0["totalCookies"] as? Int } == [nil, 3300])
        let text = try home.crumb("status").text
        #expect(text.contains("180 a domain, 3300 in all") && text.contains("cookies created"))
    }
}
