import CookieModel
import Foundation
import TestSupport
import Testing

@Suite("crumb get, set and remove")
struct HandCommandTests {
    private let home = CrumbHome()
    private let url = "https://www.example.com/"

    @Test("A line from standard input or a file is stored as if the URL had answered with it")
    func set() throws {
        let result = try home.crumb("set", url, input: "sid=s3cret; Path=/; Secure\nSet-Cookie: theme=dark; Path=/\r\n")
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(result.messages == "stored sid  www.example.com/\nstored theme  www.example.com/\n")
        let path = try home.write("sid=again; Path=/; Secure\n", to: "line")
        #expect(try home.crumb("set", url, path).messages == "replaced sid  www.example.com/\n")
        #expect(try home.header() == "Cookie: sid=again; theme=dark")
        #expect(try home.crumb("set", url, "--jar", "new", input: "a=1").status == 0)
        #expect(try home.crumb("list", "--jar", "new", "--json").objects().count == 1)
        let deleted = try home.crumb("set", url, "--json", input: "sid=; Path=/; Max-Age=0").objects()
        #expect(deleted.first?["outcome"] as? String == "deleted")
    }

    @Test("A refused line is told with every reason and without its value, and the others are stored")
    func refused() throws {
        let result = try home.crumb("set", url, input: "a=s3cret; Domain=other.example\nb=1; Path=/\n")
        #expect(
            result.status == 5 && result.messages.contains("line 1 is refused") && !result.messages.contains("s3cret"))
        #expect(result.messages.contains("(domain-mismatch)") && result.messages.contains("stored b"))
        #expect(try home.header() == "Cookie: b=1")
        let object = try home.crumb("set", url, "--json", input: "a=1; Domain=com").objects().first
        #expect(object?["outcome"] as? String == "rejected" && (object?["reasons"] as? [Any])?.count == 1)
        let messages = try home.crumb("set", url, "--json", input: "a=1; Domain=com").messages
        #expect(messages.contains(#""code":"cookie-refused","exitStatus":5,"#), "\(messages)")
    }

    @Test("Without a line, a file or a URL nothing is made")
    func noLine() throws {
        #expect(try home.crumb("set", url).status == 10)
        #expect(try home.crumb("set", url, input: "\n \n").status == 10)
        #expect(try home.crumb("set", url, home.file("none")).status == 17)
        #expect(try home.crumb("set", "nonsense", input: "a=1").status == 19)
        #expect(try home.crumb("set", url, input: String(repeating: "x", count: 1 << 21)).status == 14)
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("A line given as an argument is not repeated, and the error says where it belongs")
    func lineAsArgument() throws {
        let result = try home.crumb("set", url, "sid=s3cret; Path=/")
        #expect(result.status == 64 && result.messages.contains("standard input"), "\(result.messages)")
        #expect(
            !result.messages.contains("s3cret") && !FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
        let path = try home.write("sid=s3cret; Path=/\n", to: "a=b")
        #expect(try home.crumb("set", url, path).status == 0)
    }

    @Test("Get prints the octets of the cookie that is sent first, and nothing else")
    func get() throws {
        try home.receive("a=1; Path=/", "a=2; Path=/x", "b=\u{E9} 1; Path=/; Secure")
        #expect(try home.crumb("get", "a", "\(url)x").text == "2\n")
        #expect(try home.crumb("get", "a", url).text == "1\n")
        #expect(try home.crumb("get", "b", url).text == "\u{E9} 1\n")
        #expect(try home.crumb("get", "b", url, "--json").objects().first?["value"] as? String == "\u{E9} 1")
        for (name, address) in [("c", url), ("b", "http://www.example.com/"), ("a", "https://example.org/")] {
            let result = try home.crumb("get", name, address)
            #expect(result.status == 3 && result.output.isEmpty && result.messages.contains("no cookie with this name"))
        }
        #expect(try home.shell("sqlite3 crumb.sqlite 'UPDATE cookie SET http_only = 1'").status == 0)
        #expect(try home.crumb("get", "a", url).status == 35)
    }

    @Test("If the cookie is gone, get says what became of it, and names the command that tells more")
    func lostCookie() throws {
        func message(_ name: String, _ address: String, _ words: String...) throws -> String {
            let result = try home.start(["get", name, address] + words).wait()
            #expect(result.status == 3 && result.output.isEmpty)
            return result.messages
        }
        try home.receive("a=1; Path=/", "b=1; Path=/", "e=1; Path=/; Max-Age=1", at: .now.advanced(bySeconds: -600))
        try home.receive("a=; Path=/; Max-Age=0", at: .now.advanced(bySeconds: -300))
        #expect(try home.crumb("remove", "b").status == 0)
        try home.receive("r=1; Domain=other.test", "s=1", from: url)
        let start = "is sent to \(url): "
        let end = "; 'crumb explain \(url)' shows why\n"
        for (name, fate) in [
            ("a", "deleted "), ("b", "removed by a crumb command, such as 'session end', or by the API "),
            ("e", "its lifetime ended "),
        ] {
            let text = try message(name, url)
            #expect(text.contains(start + fate) && text.hasSuffix(end), "\(text)")
        }
        #expect(try message("r", url).hasSuffix("is sent to \(url)\(end)"))
        #expect(try message("none", url).hasSuffix("is sent to \(url)\n"))
        // The command to copy names the same jar.
        try home.receive("w=1; Path=/x", from: url, jar: "work")
        let database = "--database=\(home.file("crumb.sqlite"))"
        let other = try message("w", url, "--jar", "work", database)
        #expect(other.hasSuffix("; 'crumb explain \(database) --jar work \(url)' shows why\n"), "\(other)")
    }

    @Test("Remove lists the removed cookies, by name, domain, URL and path")
    func remove() throws {
        try home.receive("a=s3cret; Path=/", "a=2; Path=/x", "b=3; Path=/", "c=4; Path=/; Domain=example.com")
        try home.receive("a=5; Path=/", from: "https://other.example/")
        try home.receive("a=6; Path=/", jar: "work")
        let first = try home.crumb("remove", "a", "--path", "/")
        #expect(first.status == 0)
        #expect(
            Set(first.text.split(separator: "\n")) == ["removed a  www.example.com/", "removed a  other.example/"])
        #expect(try home.crumb("remove", "--url", "\(url)x", "a", "--json").objects().first?["path"] as? String == "/x")
        #expect(try home.crumb("remove", "--domain", "www.example.com").text == "removed b  www.example.com/\n")
        let none = try home.crumb("remove", "a")
        #expect(none.status == 4 && none.output.isEmpty && none.messages.contains("'crumb list'"))
        #expect(try home.crumb("remove").status == 64)
        #expect(try home.header() == "Cookie: c=4" && home.header(jar: "work") == "Cookie: a=6")
        #expect(try home.crumb("remove", "a", "--jar", "nowhere").status == 34)
    }
}
