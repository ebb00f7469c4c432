import Foundation
import SQLiteEngine
import TestSupport
import Testing

@Suite("crumb cache: what a gateway has stored", .timeLimit(.minutes(10)))
struct CacheCommandTests {
    private let home = CrumbHome()

    /// A server whose responses are fresh for ten minutes.
    private static func server() throws -> LoopbackServer {
        try LoopbackServer { _ in
            var response = LoopbackServer.Response(body: "{}")
            let fields = ["Cache-Control": "max-age=600", "Content-Type": "application/json", "ETag": "\"tag-s3cret\""]
            response.fields = fields.map { ($0, Array($1.utf8)) }
            return response
        }
    }

    /// Requests URLs through a gateway with a cache, until the cache answers each of them once.
    private static func fill(_ home: CrumbHome, _ urls: [String]) throws {
        try home.receive("a=1", jar: "work")
        // The address of a gateway before must not be taken for this one's.
        try home.write("", to: "output")
        let gateway = try home.start(
            ["gateway", "run", "--jar", "work", "--client", "tool", "--cache", "10M"], output: home.file("output"),
            messages: home.file("messages"))
        let deadline = ContinuousClock.now + .seconds(60)
        while home.bytes("output").last != UInt8(ascii: "\n"), ContinuousClock.now < deadline { usleep(20_000) }
        let address = String(decoding: home.bytes("output").dropLast(), as: UTF8.self)
        for url in urls {
            var answer = ""
            while !answer.contains("Cache-Status: crumb; hit"), ContinuousClock.now < deadline {
                answer = try home.shell("curl -si --proxy \(address) '\(url)'").text
            }
            #expect(answer.contains("Cache-Status: crumb; hit") && answer.hasSuffix("{}"), "\(answer)")
        }
        gateway.interrupt()
        _ = gateway.wait()
    }

    @Test("Stored responses are listed and shown without secrets, counted, and removed")
    func commands() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        let urls = ["\(origin)/a?token=query-s3cret&page=2", "\(origin)/b", "\(origin)/c"]
        try Self.fill(home, urls)
        #expect(server.requests.count == 3)

        let list = try home.crumb("cache", "--jar", "work")
        #expect(list.text.hasPrefix("URL ") && list.text.contains("\n\(origin)/a?…  200  "), "\(list.text)")
        #expect(list.text.contains(" s left  ") && list.text.split(separator: "\n").count == 4)
        let queries = try home.crumb("cache", "list", "--jar", "work", "--queries")
        #expect(queries.text.contains("\(origin)/a?token=redacted&page=2  200  "), "\(queries.text)")
        let objects = try home.crumb("cache", "list", "--jar", "work", "--site", "\(origin)/x", "--json").objects()
        #expect(objects.compactMap { $0["url"] as? String } == ["\(origin)/a", "\(origin)/b", "\(origin)/c"])
        #expect(objects.allSatisfy { $0["state"] as? String == "fresh" && $0["status"] as? Int == 200 })
        let none = try home.crumb("cache", "list", "--jar", "work", "--site", "other.example")
        #expect(none.messages == "no responses stored for jar 'work' of the site of other.example\n")

        let show = try home.crumb("cache", "show", "--jar", "work", urls[0])
        #expect(show.text.contains("next GET: answered from the cache, by rule 'protocol'"), "\(show.text)")
        #expect(show.text.contains("Cache-Control: max-age=600\n") && show.text.contains("ETag: (not shown)\n"))
        let details = try home.crumb("cache", "show", "--jar", "work", urls[1], "--json").objects()
        #expect(details.count == 1 && details.first?["outcome"] as? String == "hit")
        for result in [list, queries, show] { #expect(!result.text.contains("s3cret"), "\(result.text)") }
        let unknown = try home.crumb("cache", "show", "--jar", "work", "\(origin)/a?token=query-s3cret")
        #expect(unknown.status == 89 && unknown.messages.contains("'crumb cache list'"), "\(unknown.messages)")
        #expect(!unknown.messages.contains("s3cret"))

        let explained = try home.crumb("explain", "--cache", "--jar", "work", urls[0])
        #expect(
            explained.text.hasPrefix(
                "request: GET \(origin)/a?token=redacted&page=2\nanswer: answered from the cache; stored response 1\n"
                    + "rule: protocol\ntreatment: protocol\nstored responses: 1\n1 url: "), "\(explained.text)")
        try home.write("# x\nnever-store \(origin)/b\nkeep\n", to: "rules")
        let invalid = try home.crumb(
            "explain", "--cache", "--jar", "work", urls[1], "--rules", home.file("rules"))
        #expect(invalid.status == 77 && invalid.messages.contains("rules: line 3: a rule is"), "\(invalid.messages)")
        try home.write("# x\nnever-store \(origin)/b\n", to: "rules")
        let ruled = try home.crumb(
            "explain", "--cache", "--jar", "work", urls[1], "--rules", home.file("rules"), "--json"
        ).objects().first
        #expect(ruled?["rule"] as? String == "rule-line-2" && ruled?["outcome"] as? String == "forward")
        let asked = try home.crumb(
            "explain", "--cache", "--jar", "work", urls[2], "--field", "Cache-Control: no-cache", "--method", "GET")
        #expect(
            asked.text.contains("answer: the server is asked") && asked.text.contains("no-cache\n"), "\(asked.text)")
        let offline = try home.crumb("explain", "--cache", "--jar", "work", "\(origin)/none", "--offline")
        #expect(
            offline.status == 0 && offline.text.contains("answer: status 504: nothing may be sent\nrule: offline\n"))

        let statistics = try home.crumb("cache", "stats", "--jar", "work")
        #expect(statistics.text.hasPrefix("jar: work\nresponses: 3\noctets: "), "\(statistics.text)")
        // Three times a body of two octets.
        #expect(statistics.text.contains("\noctets saved: 6\n"), "\(statistics.text)")
        #expect(statistics.text.contains("\nhits by rule protocol: 3\nfolder: \(home.path)/.cache/crumb/responses-"))

        let one = try home.crumb("cache", "purge", "--jar", "work", urls[0])
        #expect(one.messages.hasPrefix("removed 1 response of jar 'work', "), "\(one.messages)")
        let none2 = try home.crumb("cache", "purge", "--jar", "work", "--since", "2100-01-01T00:00:00Z", "--json")
        #expect(none2.text == "{\"octets\":0,\"removed\":0}\n")
        let recent = try home.crumb("cache", "purge", "--jar", "work", "--site", "127.0.0.1", "--since", "1h", "--json")
        #expect(try recent.objects().first?["removed"] as? Int == 2)
        #expect(try home.crumb("cache", "list", "--jar", "work", "--json").text.isEmpty)
        #expect(
            try home.crumb("cache", "purge", "--all-jars").messages == "removed 0 responses of all jars, 0 octets\n")
        for words in [["--all-jars", "--jar", "work"], ["--site", "a.example", urls[1]], ["--since", "yesterday"]] {
            #expect(try home.start(["cache", "purge"] + words).wait().status == 64, "\(words)")
        }
    }

    @Test("A service lists and removes the same responses as the command on the file")
    func service() throws {
        let server = try Self.server()
        let url = "http://127.0.0.1:\(server.port)/a"
        let service = try RunningService(.socket) { home in
            try Self.fill(home, [url])
            return []
        }
        for words in [
            ["list", "--json"], ["show", url, "--queries"], ["show", "\(url)/none"], ["stats", "--json"],
            ["list", "--site", "other.example"],
        ] {
            let arguments = ["cache"] + words + ["--jar", "work"]
            let (there, here) = try (service.ask(arguments), service.home.start(arguments).wait())
            #expect(there.status == here.status && there.messages == here.messages, "\(there.messages)")
            // A second may have passed in between.
            func withoutNumbers(_ text: String) -> String { text.replacing(#/[0-9]+/#, with: "") }
            #expect(withoutNumbers(there.text) == withoutNumbers(here.text), "\(there.text)\(here.text)")
        }
        let purge = try service.ask(["cache", "purge", "--jar", "work", url, "--json"])
        #expect(try purge.objects().first?["removed"] as? Int == 1)
        #expect(try service.home.crumb("cache", "--jar", "work", "--json").text.isEmpty)
    }

    @Test(
        "A folder that cannot hold the cache is reported by the gateway and by 'stats', and a jar goes with its responses"
    )
    func obstacle() throws {
        let server = try Self.server()
        let url = "http://127.0.0.1:\(server.port)/a"
        try Self.fill(home, [url])
        _ = try home.crumb("jars", "create", "other")
        _ = try home.crumb("jars", "remove", "work")
        let others = try home.crumb("cache", "stats", "--jar", "other")
        #expect(others.text.contains("\nresponses of all jars: 0\n") && !others.text.contains("problem"))

        // What cannot be removed from the cache keeps no jar. What is not only in the cache stays with it.
        try home.receive("a=1", jar: "work")
        try Self.fill(home, [url])
        let files = FileManager.default.enumerator(atPath: home.file(".cache"))?.compactMap { $0 as? String } ?? []
        let index = try #require(files.first { $0.hasSuffix("/index.sqlite") })
        let writer = try SQLiteDatabase(expendable: home.file(".cache/\(index)"), schema: "", busyTimeout: 10)
        try writer.writeAlone { _ in
            let clear = try home.crumb("clear", "--all", "--jar", "work")
            #expect(clear.status == 25, "\(clear.status): \(clear.messages)")
            #expect(try home.crumb("list", "--jar", "work", "--json").objects().count == 1)
            let removal = try home.crumb("jars", "remove", "work")
            #expect(removal.status == 0, "\(removal.messages)")
            #expect(removal.messages.contains("warning: the stored responses of the jar are still there: "))
        }

        try FileManager.default.removeItem(atPath: home.file(".cache"))
        try Data().write(to: URL(filePath: home.file(".cache")))
        let gateway = try home.start(
            ["gateway", "run", "--jar", "other", "--client", "tool", "--cache", "10M"], output: home.file("output2"),
            messages: home.file("messages2"))
        let deadline = ContinuousClock.now + .seconds(60)
        while home.bytes("output2").last != UInt8(ascii: "\n"), ContinuousClock.now < deadline { usleep(20_000) }
        let address = String(decoding: home.bytes("output2").dropLast(), as: UTF8.self)
        for _ in 0..<3 { #expect(try home.shell("curl -s --proxy \(address) '\(url)'").text == "{}") }
        gateway.interrupt()
        _ = gateway.wait()
        let messages = String(decoding: home.bytes("messages2"), as: UTF8.self)
        #expect(messages.split(separator: "\n").count { $0.contains("the cache cannot store responses") } == 1)
        let broken = try home.crumb("cache", "stats", "--jar", "other")
        #expect(broken.text.contains("\nproblem: \(home.path)/.cache: nothing can be stored here: "))
    }

    @Test("A damaged index is reported with the way to a new one, which the next stored response takes")
    func damaged() throws {
        let server = try Self.server()
        let origin = "http://127.0.0.1:\(server.port)"
        try Self.fill(home, ["\(origin)/a"])
        let statistics = try home.crumb("cache", "stats", "--jar", "work", "--json").objects().first
        let folder = try #require((statistics?["whole"] as? [String: Any])?["folder"] as? String)
        for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: "\(folder)/index.sqlite\(end)") }
        try Data(repeating: 0x78, count: 8192).write(to: URL(filePath: "\(folder)/index.sqlite"))
        let result = try home.crumb("cache", "stats", "--jar", "work")
        #expect(result.status == 20 && result.messages.contains("'crumb cache warm' stores"), "\(result.messages)")
        #expect(!result.messages.contains("nothing was changed"), "\(result.messages)")
        try Self.fill(home, ["\(origin)/b"])
        #expect(try home.crumb("cache", "stats", "--jar", "work").text.hasPrefix("jar: work\nresponses: 1\n"))
    }

    @Test("Without a cache, the commands find nothing and create no folder")
    func missing() throws {
        #expect(try home.crumb("cache").messages == "no responses stored for jar 'default'\n")
        #expect(try home.crumb("cache", "--jar", "work").status == 34)
        try home.receive("a=1", jar: "work")
        #expect(try home.crumb("cache", "--jar", "none").status == 34)
        #expect(try home.crumb("cache", "list", "--jar", "work").status == 0)
        #expect(try home.crumb("cache", "show", "--jar", "work", "https://www.example.com/").status == 89)
        #expect(try home.crumb("cache", "show", "https://www.example.com/").status == 89)
        #expect(try home.crumb("cache", "stats", "--jar", "work").text.contains("responses: 0\n"))
        for jar in [[], ["--jar", "work"]] {
            let explained = try home.start(["explain", "--cache", "https://www.example.com/"] + jar).wait()
            #expect(explained.text.contains("answer: sent to the server\nrule: protocol\n"), "\(explained.text)")
            #expect(explained.text.hasSuffix("because: no response to this URL is stored\nstored responses: 0\n"))
        }
        for words in [
            ["--offline"], ["--field", "a: b"], ["--cache", "--script"], ["--cache", "--field", "a"],
            ["--client", "tool"], ["--cache", "--field", "Crumb-Cache-Policy: bogus"],
            ["--cache", "--field", "cookie: a=1"], ["--cache", "--client", "x"],
        ] {
            let result = try home.start(["explain", "https://www.example.com/"] + words).wait()
            #expect(result.status == 64, "\(words): \(result.messages)")
        }
        #expect(try home.crumb("cache", "purge", "--jar", "work").messages.hasPrefix("removed 0 responses"))
        #expect(try home.crumb("cache", "purge", "--all-jars").status == 0)
        #expect(!FileManager.default.fileExists(atPath: home.file(".cache")))
    }
}
