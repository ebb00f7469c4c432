import Foundation
import TestSupport
import Testing

@Suite("crumb list and status")
struct ListCommandTests {
    private let home = CrumbHome()

    private func fill() throws {
        try home.receive(
            "sid=secret; Path=/; HttpOnly; Secure; SameSite=Lax", "site=1; Domain=example.com; Path=/x",
            "=nameless; Path=/", "part=2; Secure; Partitioned; Path=/; Max-Age=1000")
        try home.receive("other=3; Path=/", from: "https://other.example/")
    }

    @Test("A list is a table without values")
    func table() throws {
        try fill()
        let result = try home.crumb("list")
        #expect(result.status == 0 && result.messages.isEmpty && !result.text.contains("secret"))
        let rows = result.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.count == 6 && rows[0] == ["DOMAIN", "PATH", "NAME", "EXPIRES", "FLAGS"])
        #expect(
            rows[1] == ["www.example.com", "/", "sid", "session", "Secure", "HttpOnly", "SameSite=Lax", "host-only"])
        #expect(rows[2] == [".example.com", "/x", "site", "session", "-"])
        #expect(rows[3] == ["www.example.com", "/", "session", "host-only"])
        #expect(rows[4].suffix(3) == ["Secure", "host-only", "Partitioned"])
    }

    @Test("Values are shown where that is asked for")
    func values() throws {
        try fill()
        #expect(try home.crumb("list", "--values").text.contains("secret"))
        let objects = try home.crumb("list", "--json").objects()
        #expect(objects.allSatisfy { $0["value"] == nil && $0["size"] is Int })
        #expect(try home.crumb("list", "--json", "--values").objects()[0]["value"] as? String == "secret")
    }

    @Test("Where each value came from is shown where that is asked for")
    func origins() throws {
        let path = try home.write(
            Capture.har([Capture.entry("https://www.example.com/in?code=s3cr3t", ["a=1; Path=/"])]), to: "login.har")
        #expect(try home.crumb("import", path).status == 0)
        try home.receive("b=2; Path=/", from: "https://other.example/x")
        let text = try home.crumb("list", "--origins").text
        #expect(text.contains("FROM") && text.contains("https://www.example.com/in in \(path) at "))
        #expect(text.contains("https://other.example/x in ") && !text.contains("s3cr3t"))
        let object = try #require(try home.crumb("list", "--json", "--origins", "example.com").objects().first)
        let origin = try #require(object["origin"] as? [String: String])
        #expect(origin["capture"] == path && origin["url"] == "https://www.example.com/in" && origin["received"] != nil)
        #expect(try home.crumb("list", "--json").objects().allSatisfy { $0["origin"] == nil })
        let value = try #require(
            try home.crumb("get", "--json", "a", "https://www.example.com/").objects().first)
        #expect((value["origin"] as? [String: String])?["capture"] == path)
    }

    @Test("A domain picks itself and the names below it")
    func domains() throws {
        try fill()
        func names(_ domain: String) throws -> [String] {
            try home.crumb("list", "--json", domain).objects().compactMap { $0["name"] as? String }
        }
        #expect(try names("www.example.com") == ["sid", "", "part"])
        #expect(try names("EXAMPLE.com") == ["sid", "site", "", "part"])
        #expect(try names("other.example") == ["other"])
        // As the list prints a domain whose subdomains get the cookie.
        #expect(try names(".example.com") == ["sid", "site", "", "part"])
        let removed = try home.crumb("remove", "--domain", ".example.com", "site")
        #expect(removed.status == 0 && removed.text.contains("site"), "\(removed.messages)")
        #expect(try names("ample.com") == [])
        #expect(try home.crumb("list", "a b").status == 19)
    }

    @Test("An empty jar is reported, and JSON is empty")
    func empty() throws {
        let result = try home.crumb("list")
        #expect(result.status == 0 && result.output.isEmpty && result.messages == "no cookies in jar 'default'\n")
        #expect(try home.crumb("list", "--json", "--quiet").messages.isEmpty)
    }

    @Test("Control characters of names cannot reach the terminal")
    func terminal() throws {
        let record = "www.example.com\tFALSE\t/\tFALSE\t0\tn\u{1B}[31m\tv\n"
        let path = try home.write("# Netscape HTTP Cookie File\n" + record, to: "file")
        let result = try home.crumb("import", path)
        #expect(!result.text.contains("\u{1B}") && !result.messages.contains("\u{1B}"))
        try home.receive("\u{9B}31mname=1", "\u{202E}x=2")
        let shown = try home.crumb("list", "--values").text + home.crumb("explain", "https://www.example.com/").text
        #expect(!shown.unicodeScalars.contains { (0x80..<0xA0).contains($0.value) })
    }

    @Test("Status prints all paths, even before the files exist")
    func status() throws {
        let before = try home.crumb("status")
        #expect(before.status == 0 && before.text.contains("not created yet") && before.text.contains(home.file("key")))
        try fill()
        try home.receive("w=1", jar: "work")
        _ = try home.crumb("token", "import", "t", input: "token")
        let object = try #require(try home.crumb("status", "--json").objects().first)
        #expect(
            object["database"] as? String == home.file("crumb.sqlite")
                && object["keyFile"] as? String == home.file("key"))
        #expect(object["tokens"] as? Int == 1 && (object["sizeInBytes"] as? Int ?? 0) > 4096)
        for name in ["version", "standard", "publicSuffixList", "sqlite", "schema"] { #expect(object[name] is String) }
        let jars = try #require(object["jars"] as? [[String: Any]])
        #expect(jars.compactMap { $0["name"] as? String } == ["default", "work"])
        #expect(jars.compactMap { $0["cookies"] as? Int } == [5, 1])
        #expect(try home.crumb("status").text.contains("work"))
    }

    @Test("An empty list explains its argument, if it is not a domain of the jar")
    func noDomain() throws {
        let home = CrumbHome()
        try home.receive("sid=1; Path=/")
        try home.receive("a=1; Path=/", jar: "work")
        for (argument, note) in [
            ("sid", "no cookies of the domain 'sid' in jar 'default'; 1 cookie has this name: 'crumb list' shows"),
            ("work", "no cookies of the domain 'work' in jar 'default'; to list the jar: crumb list --jar work"),
            ("typo", "no cookies of the domain 'typo' in jar 'default', and no cookie or jar with this name"),
            ("other.example", "no cookies of the domain 'other.example' in jar 'default'\n"),
        ] {
            let result = try home.crumb("list", argument)
            #expect(
                result.status == 0 && result.output.isEmpty && result.messages.hasPrefix(note), "\(result.messages)")
        }
    }
}
