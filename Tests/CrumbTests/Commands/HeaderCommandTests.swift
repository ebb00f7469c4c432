import Foundation
import TestSupport
import Testing

@Suite("crumb header")
struct HeaderCommandTests {
    private let home = CrumbHome()

    @Test("Prints the Cookie field and nothing else, or nothing at all with exit status 3")
    func plain() throws {
        let nothing = try home.crumb("header", "https://www.example.com/")
        #expect(nothing.status == 3 && nothing.output.isEmpty && nothing.messages.isEmpty)
        try home.receive("a=1; Path=/", "b=2; Path=/deep/er", "c=\"x y\"; Path=/; Secure")
        let header = try home.crumb("header", "https://www.example.com/deep/er/x?y#z")
        #expect(header.status == 0 && header.messages.isEmpty)
        #expect(header.text == "Cookie: b=2; a=1; c=\"x y\"\n")
        #expect(try home.header("http://www.example.com/") == "Cookie: a=1")
        #expect(try home.header("https://example.com/") == "")
    }

    @Test("`header` prints the cookies for the context of the request")
    func context() throws {
        try home.receive(
            "strict=1; SameSite=Strict", "lax=2; SameSite=Lax", "none=3; SameSite=None; Secure", "default=4",
            from: "https://www.example.com/")
        func header(_ options: String...) throws -> String {
            try home.start(["header"] + options + ["https://www.example.com/"]).wait().text
        }
        #expect(try header() == "Cookie: strict=1; lax=2; none=3; default=4\n")
        #expect(try header("--top-level", "https://other.example/") == "Cookie: none=3\n")
        #expect(
            try header("--top-level", "https://other.example/", "--navigation") == "Cookie: lax=2; none=3; default=4\n")
        #expect(
            try header("--top-level", "https://other.example/", "--navigation", "--method", "post")
                == "Cookie: none=3\n")
        #expect(try header("--initiator", "https://other.example/") == "Cookie: lax=2; none=3; default=4\n")
        #expect(try header("--initiator", "user") == "Cookie: strict=1; lax=2; none=3; default=4\n")
    }

    @Test("JSON has the field as text and as base64, also if it is empty")
    func json() throws {
        let nothing = try home.crumb("header", "--json", "https://www.example.com/")
        #expect(nothing.status == 3)
        #expect(try nothing.objects().first?["cookieBase64"] as? String == "")
        try home.receive("a=1")
        let object = try #require(try home.crumb("header", "--json", "HTTPS://WWW.example.com:443").objects().first)
        #expect(object["url"] as? String == "https://www.example.com/")
        #expect(object["cookie"] as? String == "a=1" && object["cookieBase64"] as? String == "YT0x")
        #expect(object["names"] as? [String] == ["a"])
    }

    @Test(
        "URLs that are none are exit status 19, with a hint where the scheme is missing",
        arguments: [
            "www.example.com", "localhost:8080/x", "", "ftp://example.com/", "https://", "https://exa mple.com/",
            "https://a:b/", "/path",
        ])
    func urls(url: String) throws {
        let result = try home.crumb("header", "--", url)
        #expect(result.status == 19 && result.output.isEmpty)
        #expect(result.messages.hasPrefix("crumb: \(url.isEmpty ? "the URL" : url): "))
        // A hint that would be refused as well is none.
        let hints = ["www.example.com": "https://www.example.com", "localhost:8080/x": "http://localhost:8080/x"]
        #expect(result.messages.contains("did you mean") == hints.keys.contains(url))
        if let hint = hints[url] { #expect(result.messages.contains("(did you mean \(hint) ?)"), "\(result.messages)") }
    }

    @Test("Goes through a pipe into curl unchanged")
    func curl() throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response() }
        let url = "http://127.0.0.1:\(server.port)/path"
        let line = Array("HTTP/1.1 200 OK\r\nSet-Cookie: octets=".utf8) + [0xE9, 0xFF, 0x22, 0x20, 0x22, 0x5C, 0x2C]
        try home.write(line + Array("\r\nSet-Cookie: =nameless\r\nSet-Cookie: b=2\r\n\r\n".utf8), to: "dump")
        #expect(try home.crumb("import", "--url", url, home.file("dump")).status == 0)
        let result = try home.shell("crumb header \(url) | curl --silent --max-time 30 -H @- \(url)")
        #expect(result.status == 0 && result.text == "body\n", "\(result.messages)")
        let expected =
            Array("octets=".utf8) + [0xE9, 0xFF, 0x22, 0x20, 0x22, 0x5C, 0x2C] + Array("; nameless; b=2".utf8)
        #expect(server.requests.map { $0.values("cookie") } == [[expected]])
    }

    @Test("Without cookies to send, the output is a valid header file for curl")
    func curlWithout() throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response() }
        let url = "http://127.0.0.1:\(server.port)/"
        #expect(try home.shell("crumb header \(url) | curl --silent --max-time 30 -H @- \(url)").text == "body\n")
        #expect(server.requests.map { $0.values("cookie") } == [[]])
    }

    @Test(
        "Output that cannot be written is exit status 74",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
    func fullOutput() throws {
        try home.receive("a=1")
        for command in [
            ["header", "https://www.example.com/"], ["list"], ["status"], ["script", "https://www.example.com/"],
        ] {
            let result = try home.start(command, output: "/dev/full").wait()
            #expect(result.status == 74 && result.messages.hasPrefix("crumb: cannot write the output: "))
        }
    }

    @Test("A closed standard output is not reported as a failure")
    func closedPipe() throws {
        let lines = String(repeating: "{}\n", count: 200_000)
        try home.write(lines, to: "lines")
        let result = try home.shell("{ crumb simulate lines; echo $? >status; } | true; cat status")
        #expect(result.text == "74\n" && result.messages.isEmpty)
    }
}
