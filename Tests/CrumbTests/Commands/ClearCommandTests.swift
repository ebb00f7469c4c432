import Foundation
import TestSupport
import Testing

@Suite("crumb clear: the data of sites in a jar")
struct ClearCommandTests {
    private let home = CrumbHome()

    /// Imports cookies and localStorage of two sites.
    private func fill() throws {
        let object: [String: Any] = [
            "cookies": ["www.shop.example", "other.example"].map { domain in
                ["name": "sid", "value": "s3cret", "domain": domain, "path": "/", "expires": -1]
            },
            "origins": ["https://www.shop.example", "https://other.example"].map { origin in
                ["origin": origin, "localStorage": [["name": "key", "value": "s3cret"]]]
            },
        ]
        let path = try home.write(JSONSerialization.data(withJSONObject: object), to: "state.json")
        #expect(try home.crumb("import", "--jar", "work", path).status == 0)
    }

    /// Site, type and count of each line that `crumb clear --list` reports.
    private func list(_ words: String...) throws -> [String] {
        try home.start(["clear", "--list", "--json", "--jar", "work"] + words).wait().objects().map { entry in
            "\(entry["site"] ?? "") \(entry["type"] ?? "") \(entry["count"] ?? "")"
        }
    }

    @Test("What is there is listed by site and type, without values, and the same conditions remove it")
    func site() throws {
        try fill()
        #expect(
            try list() == [
                "other.example cookies 1", "other.example storage 1", "shop.example cookies 1",
                "shop.example storage 1",
            ])
        #expect(try list("--site", "https://www.shop.example/cart", "--types", "storage") == ["shop.example storage 1"])
        #expect(try list("--since", "2100-01-01T00:00:00Z").isEmpty)
        let table = try home.crumb("clear", "--list", "--jar", "work")
        #expect(table.text.hasPrefix("SITE ") && table.text.contains("LATEST\n") && !table.text.contains("s3cret"))

        let removal = try home.crumb("clear", "--jar", "work", "--site", "shop.example")
        #expect(
            removal.messages == """
                removed 1 cookie, 1 localStorage item and 0 stored responses from jar 'work'
                to undo this within a day: crumb jars restore work

                """, "\(removal.messages)")
        #expect(try list() == ["other.example cookies 1", "other.example storage 1"])
        #expect(try home.crumb("jars", "restore", "work").status == 0)
        #expect(try list().count == 4)
    }

    @Test("Types and times narrow what is removed; without a condition, --all is required")
    func conditions() throws {
        try fill()
        for words in [
            [], ["--all", "--site", "shop.example"], ["--types", "cookies,history"], ["--types", ""],
            ["--since", "yesterday"], ["--since", "2h", "--types", "storage"],
        ] {
            #expect(try home.start(["clear", "--jar", "work"] + words).wait().status == 64, "\(words)")
        }
        #expect(try home.crumb("clear", "--jar", "work", "--site", "not a host").status == 19)
        let cookies = try home.crumb("clear", "--jar", "work", "--since", "1h", "--json").objects().first
        #expect(cookies?["cookies"] as? Int == 2 && cookies?["storageItems"] as? Int == 0)
        #expect(try list() == ["other.example storage 1", "shop.example storage 1"])
        let all = try home.crumb("clear", "--jar", "work", "--all", "--json")
        #expect(
            all.text == """
                {"cookies":0,"jar":"work","responseOctets":0,"responses":0,"storageItems":2}

                """, "\(all.text)")
        #expect(try list().isEmpty)
        #expect(try home.crumb("clear", "--list", "--jar", "work").messages == "no such data in jar 'work'\n")
    }

    @Test("An unknown jar is an error, and the default one counts as empty until it exists")
    func missing() throws {
        #expect(try home.crumb("clear", "--all").messages.hasPrefix("removed 0 cookies, "))
        #expect(try home.crumb("clear", "--list").status == 0)
        #expect(try home.crumb("clear", "--all", "--jar", "none").status == 34)
        #expect(!FileManager.default.fileExists(atPath: home.file(".cache")))
    }
}
