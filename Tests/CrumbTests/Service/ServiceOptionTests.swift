import Foundation
import TestSupport
import Testing

@Suite("The service that commands use, and the operations that it does not offer")
struct ServiceOptionTests {
    private let home = CrumbHome()

    @Test("A service whose address is taken writes no access token")
    func takenAddress() throws {
        let service = try RunningService(.network)
        let home = CrumbHome()
        let address = String(service.address.dropFirst("http://".count))
        let result = try home.crumb("serve", "--listen", address, "--log-level", "error")
        #expect(result.status == 54, "\(result.messages)")
        #expect(result.messages.contains("another process is listening on it"))
        let files = try FileManager.default.contentsOfDirectory(atPath: home.path)
        #expect(files.contains("crumb.sqlite") && !files.contains("crumb.sqlite.token"), "\(files)")
    }

    @Test(
        "An address that is none, or that anybody could listen to, is refused",
        arguments: [
            "http://example.com", "ftp://127.0.0.1", "unix:relative.sock", "unix:", "http://127.0.0.1:1/a%20b",
            "http://127.0.0.1:1/?query", "http://127.0.0.1:1/a//b", "http://127.0.0.1:1/#fragment",
            "http://user:s3cret@127.0.0.1:1", "ws://127.0.0.1:1", "127.0.0.1:1", "",
        ])
    func addresses(address: String) throws {
        let result = try home.crumb("list", "--service", address)
        #expect(result.status == 19 && result.output.isEmpty, "\(result.messages)")
        #expect(!result.messages.contains("s3cret"))
    }

    @Test("A service that is not there is exit status 55", arguments: ["socket", "network"])
    func absent(way: String) throws {
        let address =
            way == "socket" ? "unix:\(home.file("none"))" : "http://127.0.0.1:\(try RunningService.freePort())"
        let result = try home.crumb("list", "--service", address)
        #expect(result.status == 55 && result.messages.hasPrefix("crumb: \(address): ") && result.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("A server that is not a Crumb service is exit status 57")
    func stranger() throws {
        let port = try RunningService.freePort()
        let server = try RunningProcess(
            "python3", ["-m", "http.server", "--bind", "127.0.0.1", "--directory", home.path, "\(port)"],
            environment: ["PATH": "/usr/bin:/bin"], scratch: home.path)
        defer {
            server.kill()
            _ = server.wait()
        }
        var result = try home.crumb("list", "--service", "http://127.0.0.1:\(port)")
        for _ in 0..<100 where result.status == 55 {
            usleep(50_000)
            result = try home.crumb("list", "--service", "http://127.0.0.1:\(port)")
        }
        #expect(result.status == 57 && result.output.isEmpty, "\(result.messages)")
    }

    @Test("The access token comes out of a file that its owner alone can read, and is never repeated")
    func tokens() throws {
        let service = try RunningService(.network)
        let none = try service.ask(["list"], variables: ["CRUMB_SERVICE_TOKEN_FILE": nil])
        #expect(none.status == 56 && none.messages.contains("--service-token-file"), "\(none.messages)")
        let wrong = try home.write("crumb_s3cret", to: "wrong")
        let refused = try service.ask(["list", "--service-token-file", wrong])
        #expect(refused.status == 56 && !refused.messages.contains("s3cret"), "\(refused.messages)")
        let exposed = try home.write("crumb_s3cret", to: "exposed", mode: 0o644)
        let open = try service.ask(["list", "--service-token-file", exposed])
        #expect(open.status == 33 && !open.messages.contains("s3cret"), "\(open.messages)")
        for text in ["", "\n", "two words", "line\nline", "\u{E9}"] {
            let file = try home.write(text, to: "token")
            #expect(try service.ask(["list", "--service-token-file", file]).status == 42)
        }
        #expect(try service.ask(["list", "--service-token-file", home.file("missing")]).status == 17)
        let token = try String(contentsOfFile: service.tokenFile, encoding: .utf8)
        let padded = try home.write("\(token)\n\n", to: "padded")
        #expect(try service.ask(["list", "--service-token-file", padded]).status == 0)
    }

    @Test("A token that is not for something is exit status 56, and a jar that it is not for is not there")
    func grants() throws {
        let service = try RunningService(.network)
        #expect(try service.ask(["jars", "create", "a"]).status == 0)
        #expect(try service.ask(["jars", "create", "b"]).status == 0)
        let token = try service.home.crumb("serve", "token", "create", "reader", "--jar", "a", "--read")
        #expect(token.status == 0, "\(token.messages)")
        let file = try home.write(token.output, to: "reader")
        func ask(_ words: String...) throws -> RunResult {
            try service.ask(words + ["--service-token-file", file])
        }
        #expect(try ask("list", "--jar", "a").status == 0)
        #expect(try ask("list", "--jar", "a", "--values").status == 56)
        #expect(try ask("header", "https://a.test/", "--jar", "a").status == 56)
        #expect(try ask("list", "--jar", "b").status == 34)
        #expect(try ask("jars").text.contains("\na ") && !ask("jars").text.contains("\nb "))
        #expect(try ask("token", "list").status == 56)
    }

    @Test(
        "Commands that work on a file alone reject --service",
        arguments: [
            ["status"], ["check"], ["backup", "copy"], ["restore", "input"], ["key", "status"], ["key", "rotate"],
            ["token", "introspect", "a"], ["serve", "token", "list"], ["token", "import", "a"],
        ])
    func fileAlone(words: [String]) throws {
        let input = try home.write("tok-1\n", to: "input")
        for variables in [["CRUMB_SERVICE": "unix:/nowhere/crumb.sock"]] {
            let result = try home.start(words, input: input, variables: variables).wait()
            #expect(result.status == 64, "\(words): \(result.messages)")
            #expect(result.messages.contains("works only on a database file"), "\(words): \(result.messages)")
        }
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("The one format of a login that a service does not give says so")
    func exportFormat() throws {
        let result = try home.start(
            ["token", "export", "--format", "json", "work"], variables: ["CRUMB_SERVICE": "unix:/nowhere/crumb.sock"]
        ).wait()
        #expect(result.status == 64, "\(result.messages)")
        #expect(result.messages.contains("only this format needs the database file"), "\(result.messages)")
    }

    @Test("--database and --service exclude each other; --database outweighs the environment")
    func database() throws {
        let both = try home.crumb("list", "--service", "unix:/nowhere", "--database", home.file("crumb.sqlite"))
        #expect(both.status == 64)
        try home.receive("a=1; Path=/")
        let file = try home.crumb(
            "list", "--database", home.file("crumb.sqlite"), variables: ["CRUMB_SERVICE": "unix:/nowhere"])
        #expect(file.status == 0 && file.text.contains("www.example.com"), "\(file.messages)")
        let list = try home.crumb(
            "list", "--public-suffix-list", "x", variables: ["CRUMB_SERVICE": "unix:/nowhere"])
        #expect(list.status == 64)
    }

    @Test("A long capture passes through piece by piece, and is known again; a browser's database is refused")
    func captures() throws {
        let service = try RunningService(.socket)
        let path = try home.write(Capture.har(cookies: 12_000, named: "c", size: 500), to: "long.har")
        let file = try home.crumb("import", path, "--json")
        let first = try service.ask(["import", path, "--json"])
        #expect(first.status == 0 && first.text == file.text && file.text.utf8.count > 100)
        let again = try service.ask(["import", path])
        #expect(again.status == 0 && again.text.contains("imported before"), "\(again.text)\(again.messages)")
        let pipe = try service.home.shell(
            "cat '\(path)' | CRUMB_SERVICE='\(service.address)' crumb import - --jar piped --json")
        #expect(pipe.text.contains(#""lines":12000"#), "\(pipe.text.prefix(300))\(pipe.messages)")
        let database = try service.ask(["import", home.file("crumb.sqlite")])
        #expect(database.status == 11 && database.messages.contains("browser's database"), "\(database.messages)")
    }
}
