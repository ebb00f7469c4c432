import Foundation
import Testing

@Suite("crumb script")
struct ScriptCommandTests {
    private let home = CrumbHome()

    @Test("Prints the script, and names on standard error what it cannot carry")
    func plain() throws {
        try home.receive("theme=dark; Path=/", "sid=secret; HttpOnly; Path=/", "deep=1; Path=/deep")
        let result = try home.crumb("script", "https://www.example.com/")
        #expect(result.status == 0)
        #expect(
            result.text == """
                (function () {
                  if (typeof location !== "undefined" && (location.protocol !== "https:" || location.hostname !== "www.example.com")) return;
                  document.cookie = "theme=dark; Path=/";
                })();

                """)
        let talk = result.talk.split(separator: "\n")
        #expect(talk.count == 2 && talk.allSatisfy { $0.hasPrefix("not in the script: ") })
        #expect(talk.contains { $0.contains("sid  www.example.com/: it is HttpOnly") })
        #expect(!result.talk.contains("secret"))
        #expect(try home.crumb("script", "--quiet", "https://www.example.com/").talk.isEmpty)
    }

    @Test("Nothing to set is exit status 3, with the reasons")
    func nothing() throws {
        #expect(try home.crumb("script", "https://www.example.com/").status == 3)
        try home.receive("sid=1; HttpOnly")
        let result = try home.crumb("script", "https://www.example.com/")
        #expect(result.status == 3 && result.output.isEmpty && result.talk.contains("HttpOnly"))
    }

    @Test("JSON has the script, its cookies and what is left out, without values of the latter")
    func json() throws {
        try home.receive("theme=dark; Path=/", "sid=secret; HttpOnly; Path=/")
        let result = try home.crumb("script", "--json", "https://www.example.com/")
        let object = try #require(try result.objects().first)
        #expect((object["script"] as? String)?.contains("theme=dark") == true)
        #expect((object["cookies"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["theme"])
        let omitted = try #require(object["omitted"] as? [[String: Any]])
        #expect(((omitted.first?["reasons"] as? [[String: Any]])?.first?["id"] as? String) == "http-only")
        #expect(!result.text.contains("secret"))
    }

    @Test("Any octets are safe in a page", arguments: ["</script><b>", "\"'`\\", "\u{2028}", "{{x}}", "${x}"])
    func safe(text: String) throws {
        try home.receive("a=\(text); Path=/")
        let result = try home.crumb("script", "https://www.example.com/")
        #expect(result.status == 0)
        #expect(result.output.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
        #expect(!result.text.contains("</script"))
    }
}
