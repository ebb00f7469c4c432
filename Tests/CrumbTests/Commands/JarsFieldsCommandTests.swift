import Foundation
import SessionOperations
import TestSupport
import Testing

@testable import CrumbCommands

/// What `crumb jars fields` keeps, and where it goes.
@Suite("crumb jars fields")
struct JarsFieldsCommandTests {
    private let home = CrumbHome()

    @Test(
        "The value comes from standard input, a file or the environment, the file first",
        arguments: ["input", "file", "variable", "all"])
    func sources(source: String) throws {
        let file = try home.write("from-file\r\n", to: "value")
        let words = ["X-Key", "--all-urls"] + (["file", "all"].contains(source) ? ["--value-file", file] : [])
        let result = try home.start(
            ["jars", "fields", "set"] + words, input: try home.write("from-input\n", to: "in"),
            variables: ["CRUMB_FIELD_VALUE": ["variable", "all"].contains(source) ? "from-variable" : nil]
        ).wait()
        #expect(result.status == 0 && result.output.isEmpty, "\(result.messages)")
        #expect(result.messages == "stored header field X-Key for all URLs\n")
        let list = try home.crumb("jars", "fields", "list", "--values", "--json")
        #expect(list.text == #"{"name":"X-Key","value":"from-\#(source == "all" ? "file" : source)"}"# + "\n")
        #expect(try !home.crumb("jars", "fields").text.contains("from-"))
        #expect(try !home.crumb("jars", "fields", "list", "--json").text.contains("from-"))
    }

    @Test(
        "A value that is an argument, or a secret for every site by mistake, is a mistake",
        arguments: [
            ["X-Key"], ["X-Key", "--all-urls", "--scope", "https://a.test/"], ["X-Key", "value", "--all-urls"], [],
            ["X-Key", "--user-agent", "x"], ["--user-agent", "x", "--all-urls"],
            ["--user-agent", "x", "--value-file", "-"],
        ])
    func usage(words: [String]) throws {
        let result = try home.start(["jars", "fields", "set"] + words).wait()
        #expect(result.status == 64)
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("A field that cannot be stored has an exit status of its own, and is not repeated")
    func refused() throws {
        for name in ["Cookie", "Authorization", "bad name"] {
            let result = try home.crumb("jars", "fields", "set", name, "--all-urls", input: "s3cret\n")
            #expect(result.status == FailureKind.fieldInvalid.exitStatus && !result.messages.contains("s3cret"))
        }
        let lines = try home.crumb("jars", "fields", "set", "X-Key", "--all-urls", input: "s3cret\ntwo\n")
        #expect(lines.status == FailureKind.fieldInvalid.exitStatus && !lines.messages.contains("s3cret"))
        let missing = try home.crumb("jars", "fields", "remove", "X-Key")
        #expect(missing.status == FailureKind.fieldNotFound.exitStatus && missing.messages.contains("--scope URL"))
    }

    @Test("The Cookie header stays alone unless the fields are asked for")
    func header() throws {
        let url = "https://www.example.com/"
        try home.receive("a=1; Path=/")
        let before = try (home.crumb("header", url), home.crumb("header", url, "--json"))
        #expect(try home.crumb("jars", "fields", "set", "X-Key", "--scope", "\(url)v2", input: "k\n").status == 0)
        #expect(try home.crumb("jars", "fields", "set", "--user-agent", "Example/1.0").status == 0)
        let after = try (home.crumb("header", url), home.crumb("header", url, "--json"))
        #expect(before.0.output == after.0.output && before.1.output == after.1.output)
        #expect(try home.crumb("header", url, "--fields").text == "Cookie: a=1\nUser-Agent: Example/1.0\n")
        #expect(
            try home.crumb("header", "\(url)v2", "--fields").text
                == "Cookie: a=1\nUser-Agent: Example/1.0\nX-Key: k\n")
        let other = try home.crumb("header", "https://other.test/", "--fields")
        #expect(other.text == "User-Agent: Example/1.0\n" && other.status == 0)
        #expect(try home.crumb("header", "https://other.test/").status == 3)
    }

    @Test("The database, its key rotated and its backup have them sealed")
    func maintenance() throws {
        #expect(try home.crumb("jars", "fields", "set", "X-Key", "--all-urls", input: "s3cret-valu3").status == 0)
        #expect(try home.crumb("key", "rotate").status == 0)
        #expect(try home.crumb("backup", home.file("copy.sqlite")).status == 0)
        for name in ["crumb.sqlite", "copy.sqlite"] {
            #expect(!String(decoding: home.bytes(name), as: UTF8.self).contains("s3cret-valu3"))
            let list = try home.crumb("jars", "fields", "list", "--values", "--database", home.file(name))
            #expect(list.text.contains("s3cret-valu3"), "\(list.messages)")
        }
        #expect(
            try home.shell("sqlite3 crumb.sqlite \"UPDATE header_field SET value = x'00'\"").status == 0)
        let check = try home.crumb("check")
        #expect(check.status == 29 && check.text.contains("header field 'X-Key' for all URLs in jar 'default'"))
        #expect(try home.crumb("jars", "fields").status == 35)
        let header = try home.crumb("header", "https://a.test/", "--fields")
        #expect(header.status == 3 && header.messages.contains("header field X-Key for all URLs"))
    }
}

/// What of it `crumb curl` sends.
@Suite("crumb curl with a jar's header fields", .serialized)
struct CurlFieldTests {
    private let crumb: CurlFixture

    init() throws {
        crumb = try CurlFixture()
    }

    private func keep(_ words: String..., value: String) throws {
        let result = try crumb.run(
            ["jars", "fields", "set", "--database", "\(crumb.folder)/jar"] + words, input: value)
        #expect(result.status == 0, "\(result.messages)")
    }

    @Test("Each hop gets those that are for its URL, and the user's own win")
    func hops() throws {
        let other = try LoopbackServer { _ in LoopbackServer.Response(body: "end") }
        let server = try LoopbackServer { request in
            request.target == "/api/1"
                ? LoopbackServer.Response(302, location: "/2")
                : LoopbackServer.Response(302, location: "http://127.0.0.1:\(other.port)/api/3")
        }
        let base = "http://127.0.0.1:\(server.port)"
        try keep("X-Key", "--scope", "\(base)/api", value: #"k"\ 1"#)
        try keep("User-Agent", "--all-urls", value: "Example/1.0")
        let outcome = try crumb.curl("--no-progress-meter", "-L", "\(base)/api/1")
        #expect(
            outcome.text == "end" && outcome.messages.contains("3 hops, 0 cookies sent, 0 taken, 4 header fields set"))
        #expect(server.requests.map { $0.text("x-key") } == [[#"k"\ 1"#], []])
        #expect(
            (server.requests + other.requests).map { $0.text("user-agent") } == [
                ["Example/1.0"], ["Example/1.0"], ["Example/1.0"],
            ])
        #expect(other.requests.map { $0.text("x-key") } == [[]])

        for (words, agents, keys) in [
            (["-A", "mine"], ["mine"], [#"k"\ 1"#]), (["-H", "user-agent: mine"], ["mine"], [#"k"\ 1"#]),
            (["-H", "User-Agent:"], [], [#"k"\ 1"#]), (["-H", "X-KEY: mine"], ["Example/1.0"], ["mine"]),
            (["-H", "X-Key;"], ["Example/1.0"], [""]),
        ] {
            let before = server.requests.count
            let arguments = ["curl", "--database", "\(crumb.folder)/jar", "--json", "--", "-sS"] + words
            let outcome = try crumb.run(arguments + ["\(base)/api/1"])
            let request = try #require(server.requests.dropFirst(before).first)
            #expect(request.text("user-agent") == agents && request.text("x-key") == keys, "\(words)")
            #expect(
                !outcome.messages.contains(#"k\"#) && outcome.messages.contains(#""fields":["#), "\(outcome.messages)")
        }
    }

    @Test("A field that is damaged is named, and the request is made")
    func damaged() throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(body: "end") }
        let url = "http://127.0.0.1:\(server.port)/"
        try keep("X-Key", "--all-urls", value: "k")
        try keep("X-Other", "--all-urls", value: "o")
        _ = try crumb.curl("-sS", url)
        var process = ChildProcess(program: "/usr/bin/env", failure: .curlNotFound)
        process.setStandardInput(open("/dev/null", O_RDONLY))
        #expect(
            try process.run(
                ["sqlite3", "\(crumb.folder)/jar", "UPDATE header_field SET value = x'00' WHERE name = 'X-Key'"].map {
                    Array($0.utf8)
                }) == 0)
        let outcome = try crumb.curl("-sS", url)
        #expect(outcome.text == "end" && outcome.messages.contains("header field X-Key for all URLs"))
        #expect(server.requests.map { $0.text("x-key") } == [["k"], []])
        #expect(server.requests.map { $0.text("x-other") } == [["o"], ["o"]])
    }
}
