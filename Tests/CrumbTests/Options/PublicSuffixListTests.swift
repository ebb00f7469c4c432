import Foundation
import TestSupport
import Testing

@Suite("A public suffix list of the user's")
struct PublicSuffixListTests {
    private let home = CrumbHome()
    /// A list by which `example.com` is a suffix and `github.io` is not.
    private static let list = "// VERSION: 2026-11-01_00-00-00_UTC\ncom\nexample.com\n"

    private func list() throws -> String {
        try home.write(PublicSuffixListTests.list, to: "list.dat")
    }

    /// Imports a domain cookie of `domain` and says whether it was taken.
    private func takes(_ domain: String, _ words: [String] = [], variables: [String: String?] = [:]) throws -> Bool {
        let dump = try home.write(Capture.dump(["a=1; Domain=\(domain)"]), to: "dump")
        let url = "https://www.\(domain)/"
        let result = try home.start(["import", "--again", "--json", "--url", url, dump] + words, variables: variables)
            .wait()
        let isTaken = try result.objects().first?["taken"] as? Int == 1
        #expect(result.status == (isTaken ? 0 : 9), "\(result.messages)")
        return isTaken
    }

    @Test("Decides which domains a cookie may be for; the option comes before the variable")
    func precedence() throws {
        let path = try list()
        let other = try home.write("com\nother.com\n", to: "other.dat")
        #expect(try takes("example.com") && !takes("github.io"))
        #expect(try !takes("example.com", ["--public-suffix-list", path]))
        #expect(try takes("github.io", ["--public-suffix-list", path]))
        let variables: [String: String?] = ["CRUMB_PUBLIC_SUFFIX_LIST": other]
        #expect(try !takes("other.com", variables: variables))
        #expect(try takes("other.com", ["--public-suffix-list", path], variables: variables))
        #expect(try !takes("github.io", variables: ["CRUMB_PUBLIC_SUFFIX_LIST": ""]))
    }

    @Test("A list of the user's applies in every command that uses the rules")
    func everywhere() throws {
        let path = try list()
        try home.receive("a=1; Domain=example.com; Path=/")
        let url = "https://www.example.com/"
        for command in [["header"], ["script"]] {
            #expect(try home.start(command + [url]).wait().status == 0)
            #expect(try home.start(command + ["--public-suffix-list", path, url]).wait().status == 3)
        }
        let input =
            #"{"steps": [{"receive": {"url": "https://a.example.com/", "setCookie": ["a=1; Domain=example.com"]}}]}"#
        #expect(try home.crumb("simulate", input: input).text.contains("stored"))
        #expect(
            try home.crumb("simulate", "--public-suffix-list", path, input: input).text.contains("domain-public-suffix")
        )
        let explained = try home.crumb(
            "explain", "--set-cookie", "-", "--public-suffix-list", path, url, input: "a=1; Domain=example.com")
        #expect(explained.text.contains("(domain-public-suffix)"))
    }

    @Test("A session that was stored by another list is named, and comes back with that list")
    func change() throws {
        let path = try list()
        try home.receive("sid=secret; Path=/", "wide=1; Domain=example.com; Path=/")
        let url = "https://www.example.com/"
        let explained = try home.crumb("explain", "--public-suffix-list", path, url).text
        #expect(explained.hasPrefix("0 of 2 cookies of www.example.com "))
        #expect(explained.components(separatedBy: "(suffix-list-changed)").count == 3)
        #expect(explained.contains("(domain-public-suffix)") && explained.contains("--public-suffix-list"))
        #expect(try home.header(url) == "Cookie: sid=secret; wide=1")
        #expect(try !home.crumb("explain", url).text.contains("suffix-list-changed"))
    }

    @Test("Status says which list is in force, of when, and how many rules it has")
    func status() throws {
        let path = try list()
        let bundled = try home.crumb("status")
        #expect(bundled.text.contains(/public suffixes +20\d\d-\d\d-\d\d_\S+, \d{5,} rules \(built in\)\n/))
        let given = try home.crumb("status", "--public-suffix-list", path)
        #expect(given.text.contains("2026-11-01_00-00-00_UTC, 2 rules (\(path))\n"))
        let object = try #require(
            try home.crumb("status", "--json", variables: ["CRUMB_PUBLIC_SUFFIX_LIST": path]).objects().first)
        #expect(object["publicSuffixList"] as? String == "2026-11-01_00-00-00_UTC")
        #expect(object["publicSuffixRules"] as? Int == 2 && object["publicSuffixListFile"] as? String == path)
    }

    @Test("Status and the page on hosts say which version of Unicode is built in")
    func unicode() throws {
        let object = try #require(try home.crumb("status", "--json").objects().first)
        let version = try #require(object["unicode"] as? String)
        #expect(try home.crumb("status").text.contains(/\nUnicode +\d+\.\d+\.\d+\n/))
        let page = try String(contentsOf: Repository.root.appending(path: "docs/hosts.md"), encoding: .utf8)
        #expect(page.contains(" Unicode \(version)"))
    }

    @Test("The page on public suffixes says which list is built in")
    func documentation() throws {
        let text = try String(contentsOf: Repository.root.appending(path: "docs/public-suffixes.md"), encoding: .utf8)
        let object = try #require(try home.crumb("status", "--json").objects().first)
        let version = try #require(object["publicSuffixList"] as? String)
        #expect(text.contains(" \(version),") && text.contains(" \(object["publicSuffixRules"] as? Int ?? 0) rules"))
        #expect(object["publicSuffixListFile"] == nil)
    }

    @Test(
        "A file that is not a list is rejected with its line, before anything is created",
        arguments: [
            ("", 60, "the list has no rules"), ("com\na..b\n", 60, "line 2: "),
            ("// ===BEGIN ICANN DOMAINS===\ncom\n", 60, "line 2: "), ("<html>\n", 60, "line 1: "),
        ] as [(String, Int32, String)])
    func bad(text: String, status: Int32, said: String) throws {
        let path = try home.write(text, to: "bad.dat")
        let dump = try home.write(Capture.dump(["a=1"]), to: "dump")
        let url = "https://www.example.com/"
        for command in [
            ["header", url], ["script", url], ["explain", url], ["list"], ["status"], ["simulate"],
            ["import", "--url", url, dump],
        ] {
            let result = try home.start(command + ["--public-suffix-list", path]).wait()
            #expect(result.status == status && result.output.isEmpty, "\(command)")
            #expect(
                result.messages.hasPrefix("crumb: \(path): ") && result.messages.contains(said), "\(result.messages)")
        }
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("A file that is not there, or a folder, has the exit status that captures have")
    func missing() throws {
        #expect(try home.crumb("list", "--public-suffix-list", home.file("none")).status == 17)
        #expect(try home.crumb("list", "--public-suffix-list", home.path).status == 15)
        #expect(try home.crumb("list", variables: ["CRUMB_PUBLIC_SUFFIX_LIST": home.file("none")]).status == 17)
    }
}
