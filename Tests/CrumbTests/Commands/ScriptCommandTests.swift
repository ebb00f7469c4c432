import Foundation
import TestSupport
import Testing

@Suite("crumb script")
struct ScriptCommandTests {
    private let home = CrumbHome()

    @Test("Prints the script, and names the cookies that it cannot carry on standard error")
    func plain() throws {
        try home.receive("theme=dark; Path=/", "sid=secret; HttpOnly; Path=/", "deep=1; Path=/deep")
        let result = try home.crumb("script", "https://www.example.com/")
        #expect(result.status == 0)
        #expect(result.text.hasPrefix("(function () {\n  \"use strict\";\n") && result.text.hasSuffix("})();\n"))
        #expect(result.text.contains(#"{name: "theme", value: "dark", path: "/", attributes: "; Path=/", "#))
        #expect(
            result.text.contains(
                #"if (protocol === "https:" && host === "www.example.com") return [{name: "deep", value: "1", path: "/deep", "#
            ))
        #expect(!result.text.contains("secret") && !result.text.contains("//{"))
        let messages = result.messages.split(separator: "\n")
        #expect(
            messages == [
                "set for other paths, which scripts of the page cannot verify: deep  www.example.com/deep",
                "not in the script: sid  www.example.com/: it is HttpOnly, so scripts cannot see it",
            ])
        #expect(!result.messages.contains("secret"))
        #expect(try home.crumb("script", "--quiet", "https://www.example.com/").messages.isEmpty)
    }

    @Test("If a script can set no cookie, the exit status is 3, with the reasons")
    func nothing() throws {
        #expect(try home.crumb("script", "https://www.example.com/").status == 3)
        try home.receive("sid=1; HttpOnly")
        let result = try home.crumb("script", "https://www.example.com/")
        #expect(result.status == 3 && result.output.isEmpty && result.messages.contains("HttpOnly"))
    }

    @Test("JSON has the script, its cookies and the omitted ones, the latter without values")
    func json() throws {
        try home.receive("theme=dark; Path=/", "sid=secret; HttpOnly; Path=/", "api=1; Path=/api")
        let result = try home.crumb("script", "--json", "https://www.example.com/")
        let object = try #require(try result.objects().first)
        #expect((object["script"] as? String)?.contains(#"name: "theme", value: "dark""#) == true)
        #expect((object["cookies"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["api", "theme"])
        let unverifiable = try #require((object["unverifiable"] as? [[String: Any]])?.first)
        #expect(unverifiable["name"] as? String == "api" && unverifiable["path"] as? String == "/api")
        let omitted = try #require(object["omitted"] as? [[String: Any]])
        #expect(((omitted.first?["reasons"] as? [[String: Any]])?.first?["id"] as? String) == "http-only")
        // The value was not read, so its size is unknown.
        #expect((omitted.first?["cookie"] as? [String: Any])?["size"] == nil)
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

    @Test("Several URLs make one script, and omitted cookies have their place")
    func severalURLs() throws {
        try home.receive("theme=dark; Path=/")
        try home.receive("sid=secret; HttpOnly; Path=/", "other=1; Path=/", from: "https://www.example.net/")
        let result = try home.crumb("script", "https://www.example.com/", "https://www.example.net/")
        #expect(result.status == 0)
        #expect(result.text.components(separatedBy: "host === ").count == 3)
        #expect(
            result.messages
                == "not in the script at https://www.example.net: sid  www.example.net/: it is HttpOnly, so scripts cannot see it\n"
        )
        let object = try #require(
            try home.crumb("script", "--json", "https://www.example.com/", "https://www.example.net/").objects().first)
        #expect(object["urls"] as? [String] == ["https://www.example.com/", "https://www.example.net/"])
        #expect((object["cookies"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["theme", "other"])
        #expect(
            (object["omitted"] as? [[String: Any]])?.compactMap { $0["url"] as? String } == ["https://www.example.net/"]
        )
        // An origin that has nothing does not take from the others.
        #expect(try home.crumb("script", "https://www.example.com/", "https://nothing.test/").status == 0)
    }

    @Test("When it writes, and where it reports, are options")
    func options() throws {
        try home.receive("theme=dark; Path=/")
        for (arguments, parameters) in [
            ([], #"var mode = "once", verifies = false, handler = null;"#),
            (["--write", "missing"], #"var mode = "missing", verifies = false, handler = null;"#),
            (["--write", "always", "--verify"], #"var mode = "always", verifies = true, handler = null;"#),
            (["--handler", "crumb"], #"var mode = "once", verifies = true, handler = "crumb";"#),
        ] {
            let run = try home.start(["script"] + arguments + ["https://www.example.com/"]).wait()
            #expect(run.status == 0 && run.text.contains(parameters), "\(arguments)")
        }
        for arguments in [["--write", "often"], ["--handler", "no name"], ["--handler", "\"x\""]] {
            #expect(try home.start(["script"] + arguments + ["https://www.example.com/"]).wait().status == 64)
        }
        #expect(try home.crumb("script").status == 64)
    }

    @Test("The capture script is printed for a handler, in JSON too, and needs no database")
    func captureScript() throws {
        let result = try home.crumb("capture-script", "--handler", "crumb")
        #expect(result.status == 0 && result.messages.isEmpty)
        #expect(result.text.contains(#"var handler = "crumb";"#) && result.text.hasSuffix("})();\n"))
        #expect(!result.text.contains("//{"))
        let object = try #require(try home.crumb("capture-script", "--json", "--handler", "h").objects().first)
        #expect(object["handler"] as? String == "h" && (object["script"] as? String)?.contains("use strict") == true)
        #expect(try home.crumb("capture-script").status == 64)
        #expect(try home.crumb("capture-script", "--handler", "a b").status == 64)
        #expect(home.bytes("crumb.sqlite").isEmpty)
    }
}
