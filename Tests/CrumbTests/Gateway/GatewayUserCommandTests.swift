import Foundation
import TestSupport
import Testing

@Suite("Users of a gateway, by commands")
struct GatewayUserCommandTests {
    private let home = CrumbHome()

    private var file: String { home.file("users.json") }

    private func user(_ words: String...) throws -> RunResult {
        try home.start(["gateway", "user"] + words + ["--users", file]).wait()
    }

    @Test("A secret is printed once, and the file has only its hash")
    func changes() throws {
        let added = try user("add", "anna", "--jar", "work")
        #expect(added.status == 0 && added.messages.isEmpty, "\(added.messages)")
        let secret = String(added.text.dropLast())
        #expect(secret.wholeMatch(of: /crumb_[A-Za-z0-9_-]{43}/) != nil)
        #expect(try home.mode("users.json") == 0o600)
        let text = String(decoding: home.bytes("users.json"), as: UTF8.self)
        #expect(!text.contains(secret) && text.contains("\"anna\"") && text.contains("\"work\""), "\(text)")
        let other = try user("add", "ben", "--json")
        let object = try #require(try other.objects().first)
        #expect(object["name"] as? String == "ben" && object["jar"] as? String == "default")
        #expect((object["secret"] as? String)?.hasPrefix("crumb_") == true && object["secret"] as? String != secret)
        let list = try user("list")
        #expect(list.text.contains("NAME") && list.text.contains("anna  work"), "\(list.text)")
        #expect(try user("list", "--json").objects().compactMap { $0["name"] as? String } == ["anna", "ben"])
        let again = try user("add", "anna")
        #expect(again.status == 36 && again.messages.contains("has a user of this name"), "\(again.messages)")
        #expect(try user("add", "a:b").status == 36)
        #expect(try user("remove", "ben").messages == "removed user 'ben'; start the gateway again\n")
        let gone = try user("remove", "ben")
        #expect(gone.status == 36 && gone.messages.contains("has no user of this name"), "\(gone.messages)")
        #expect(try user("list", "--json").objects().compactMap { $0["name"] as? String } == ["anna"])
    }

    @Test("A file that others may use, or that has no users, is refused")
    func refused() throws {
        #expect(try user("list").status == 17)
        #expect(try user("add", "anna").status == 0)
        #expect(try home.shell("chmod 644 users.json").status == 0)
        let exposed = try user("list")
        #expect(exposed.status == 33 && exposed.messages.contains("chmod 600"), "\(exposed.messages)")
        for text in ["", "{}", "[]", #"{"users":[{"name":"a","jar":"b"}]}"#] {
            try home.write(text, to: "users.json")
            #expect(try user("list").status == 11, "\(text)")
            #expect(try user("add", "anna").status == 11, "\(text)")
        }
    }

    @Test("A gateway needs jars that exist, and users or a jar")
    func refusedStart() throws {
        try home.receive("a=1", jar: "work")
        #expect(try user("add", "anna", "--jar", "wrok").status == 0)
        let missing = try home.crumb("gateway", "run", "--users", file)
        #expect(missing.status == 34 && missing.messages.contains("Did you mean 'work'?"), "\(missing.messages)")
        let both = try home.crumb("gateway", "run", "--users", file, "--jar", "work")
        #expect(both.status == 64 && both.messages.contains("each user of --users has a jar"), "\(both.messages)")
        let offered = try home.crumb("gateway", "run", "--users", file, "--upstream", "https://shop.example")
        #expect(offered.status == 64 && offered.messages.contains("cannot sign in"), "\(offered.messages)")
        #expect(try user("remove", "anna").status == 0)
        let empty = try home.crumb("gateway", "run", "--users", file)
        #expect(empty.status == 77 && empty.messages.contains("there is no user"), "\(empty.messages)")
        try home.write(#"{"users":[{"name":"anna","jar":"work","secretHash":"0"}]}"#, to: "users.json")
        let damaged = try home.crumb("gateway", "run", "--users", file)
        #expect(damaged.status == 11 && damaged.messages.contains("is damaged"), "\(damaged.messages)")
    }

    @Test("The example of the guide serves two users at one port, each with the own session")
    func guide() throws {
        let guide = try #require(DocumentationTests.text("docs/gateway.md"))
        let part = try #require(guide.components(separatedBy: "\n## Serve several users on one port\n").last)
        let blocks = part.matches(of: #/```sh\n([\s\S]*?)```/#).prefix(2).map { String($0.1) }
        try #require(blocks.count == 2)
        let server = try LoopbackServer { request in
            LoopbackServer.Response(
                body: (request.text("cookie") + request.text("proxy-authorization")).joined() + "\n")
        }
        let url = "http://127.0.0.1:\(server.port)/"
        try home.receive("sid=annas", from: url, jar: "work")
        try home.receive("sid=bens", from: url, jar: "home")
        let port = try RunningService.freePort()
        let commands = blocks[0].replacing("8080", with: "\(port)").split(separator: "\n")
        let gateway = try #require(commands.last)
        for command in commands.dropLast() { #expect(try home.shell(String(command)).status == 0, "\(command)") }
        let words = gateway.split(separator: " ").dropFirst().map(String.init)
        let running = try home.start(
            words.map { $0 == "users.json" ? file : $0 } + ["--log"], output: home.file("output"),
            messages: home.file("messages"))
        let deadline = ContinuousClock.now + .seconds(60)
        while home.bytes("output").last != UInt8(ascii: "\n"), ContinuousClock.now < deadline { usleep(20_000) }
        let request = blocks[1].replacing("8080", with: "\(port)").replacing("http://intranet.example/", with: url)
            .replacing("curl ", with: "curl -sS ")
        let answer = try home.shell(request)
        #expect(answer.text == "sid=annas\n", "\(answer.text) \(answer.messages)")
        let other = try home.shell(request.replacing("anna", with: "ben"))
        #expect(other.text == "sid=bens\n", "\(other.text) \(other.messages)")
        let refused = try home.shell("curl -s -o page -w '%{http_code}' --proxy 127.0.0.1:\(port) \(url)")
        #expect(refused.text == "407")
        running.interrupt()
        let result = running.wait()
        let lines = String(decoding: home.bytes("output"), as: UTF8.self).split(separator: "\n").dropFirst()
        #expect(
            lines == [
                "GET \(url) 200 user: anna sent: sid", "GET \(url) 200 user: ben sent: sid",
                "GET \(url) 407 refused: http_request_denied",
            ], "\(lines) \(result.messages)")
        for name in ["anna.secret", "ben.secret"] {
            let secret = String(decoding: home.bytes(name).dropLast(), as: UTF8.self)
            #expect(!secret.isEmpty && !(lines.joined() + result.messages).contains(secret))
        }
    }
}
