import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("crumb token exec and switch")
struct TokenExecTests {
    private let home = CrumbHome()

    private func given(_ name: String, _ token: String, _ more: String...) throws {
        let path = try home.write(
            #"{"access_token":"\#(token)","refresh_token":"r-1","expires_in":3600}"#, to: "tokens")
        let result = try home.start(["token", "import", name, "--account", name] + more, input: path).wait()
        #expect(result.status == 0, "\(result.messages)")
        try FileManager.default.removeItem(atPath: path)
    }

    /// A login whose token has to be renewed at a server.
    private func givenExpired(at server: LoopbackServer) throws {
        let path = try home.write(#"{"access_token":"old","refresh_token":"r","expires_at":1000}"#, to: "tokens")
        let imported = try home.start(
            [
                "token", "import", "work", "--client-id", "app", "--endpoint",
                "token_endpoint=http://127.0.0.1:\(server.port)/",
            ],
            input: path
        ).wait()
        #expect(imported.status == 0, "\(imported.messages)")
    }

    private func exec(_ words: String...) throws -> RunResult {
        try home.start(["token", "exec"] + words).wait()
    }

    @Test("The token is in the environment, on standard input or in a file, and in no argument list")
    func places() throws {
        try given("work", "tok-1")
        let shown = #"echo "$ACCESS_TOKEN,$A,$B"; cat /proc/$$/cmdline"#
        let environment = try exec("work", "--", "sh", "-c", shown)
        #expect(environment.text.hasPrefix("tok-1,,\n") && environment.status == 0, "\(environment.messages)")
        #expect(!environment.text.dropFirst(8).contains("tok-1"))
        #expect(
            try exec("work", "-e", "A", "--variable", "B", "--", "sh", "-c", shown).text.hasPrefix(",tok-1,tok-1\n"))
        let input = try exec("work", "--stdin", "--", "sh", "-c", #"cat; echo "$ACCESS_TOKEN""#)
        #expect(input.text == "tok-1\n\n", "\(input.messages)")
        let file = try exec(
            "work", "--file", "F", "--", "sh", "-c", #"stat -c %a "$F" "$(dirname "$F")"; cat "$F"; echo; echo "$F""#)
        let lines = file.text.split(separator: "\n").map(String.init)
        #expect(lines.prefix(3) == ["600", "700", "tok-1"], "\(file.text)\(file.messages)")
        #expect(lines.last.map { !FileManager.default.fileExists(atPath: $0) } == true)
        // Crumb's own secrets do not go along.
        let key = Data(repeating: 7, count: 32).base64EncodedString()
        let other = CrumbHome()
        #expect(try other.crumb("token", "import", "k", input: "tok-2", variables: ["CRUMB_KEY": key]).status == 0)
        let own = try other.crumb(
            "token", "exec", "k", "--", "sh", "-c", "echo $ACCESS_TOKEN$CRUMB_KEY", variables: ["CRUMB_KEY": key])
        #expect(own.text == "tok-2\n", "\(own.messages)")
    }

    @Test(
        "The exit status is the command's own",
        arguments: [
            ("exit 0", 0), ("exit 7", 7), ("exit 255", 255),
        ] as [(String, Int32)])
    func status(script: String, status: Int32) throws {
        try given("work", "tok-1")
        for more in [[], ["--file", "F"]] {
            let result = try home.start(["token", "exec", "work"] + more + ["--", "sh", "-c", script]).wait()
            #expect(result.status == status && result.messages.isEmpty, "\(result.messages)")
        }
    }

    @Test("A command that a signal ends, that is missing, or that cannot be run, is told apart as a shell does")
    func failures() throws {
        try given("work", "tok-1")
        #expect(try exec("work", "--", "sh", "-c", "kill -TERM $$").status == -15)
        #expect(try exec("work", "--file", "F", "--", "sh", "-c", "kill -TERM $$").status == 128 + 15)
        for more in [[], ["--file", "F"]] {
            let missing = try home.start(["token", "exec", "work"] + more + ["--", "no-such-program"]).wait()
            #expect(missing.status == 127 && missing.messages.contains("no-such-program"))
            try home.write("nothing", to: "data")
            let data = try home.start(["token", "exec", "work"] + more + ["--", home.file("data")]).wait()
            #expect(data.status == 126, "\(data.messages)")
        }
        #expect(try exec("work").status == 64)
        #expect(try exec("work", "-e", "1A", "--", "true").status == 64)
        #expect(try exec("nobody", "--", "true").status == 40)
    }

    @Test("Signals reach the command", arguments: ["TERM", "INT", "HUP", "USR1"])
    func signals(name: String) throws {
        try given("work", "tok-1")
        let script = #"trap "echo caught; exit 9" \#(name); echo ready > ready; while :; do sleep 0.02; done"#
        for more in [[], ["--file", "F"]] {
            let folder = home.path
            try? FileManager.default.removeItem(atPath: home.file("ready"))
            let process = try home.start(
                ["token", "exec", "work"] + more + ["--", "sh", "-c", "cd '\(folder)'; \(script)"])
            for _ in 0..<30_000 where home.bytes("ready").isEmpty { usleep(2000) }
            _ = try home.shell("kill -\(name) \(process.id)")
            let result = process.wait()
            #expect(result.status == 9 && result.text == "caught\n", "\(result.status) \(result.messages)")
        }
    }

    @Test("The file gets the renewed token while the command runs")
    func renewed() throws {
        let count = Counter()
        let server = try LoopbackServer { _ in
            // Each one is due after half of its two seconds.
            LoopbackServer.Response(
                body: #"{"access_token":"tok-\#(count.next())","refresh_token":"r","expires_in":2}"#)
        }
        try givenExpired(at: server)
        let script = #"""
            first=$(cat "$F"); now=$first
            while [ "$now" = "$first" ]; do sleep 0.02; now=$(cat "$F"); done
            echo "$first $now"
            """#
        let result = try exec("work", "--file", "F", "--", "sh", "-c", script)
        let tokens = result.text.split(whereSeparator: \.isWhitespace)
        #expect(tokens.count == 2 && tokens.allSatisfy { $0.hasPrefix("tok-") }, "\(result.text) \(result.messages)")
    }

    @Test("A refresh under way does not keep the file; its answer is waited for and stored")
    func slowServer() throws {
        let (count, gate) = (Counter(), DispatchSemaphore(value: 0))
        let asked = home.file("asked")
        let server = try LoopbackServer { _ in
            let number = count.next()
            if number == 2 {
                #expect(FileManager.default.createFile(atPath: asked, contents: nil))
                gate.wait()
            }
            return LoopbackServer.Response(
                body:
                    #"{"access_token":"tok-\#(number)","refresh_token":"r-\#(number)","expires_in":\#(number == 1 ? 2 : 3600)}"#
            )
        }
        try givenExpired(at: server)
        let messages = try TalkPipe(home.file("messages"))
        let script = #"echo "$F" > '\#(home.file("path"))'; while [ ! -e '\#(asked)' ]; do sleep 0.02; done; exit 7"#
        let process = try home.start(
            ["token", "exec", "work", "--file", "F", "--", "sh", "-c", script], messages: messages.path)
        #expect(
            messages.says(
                "the command has ended; crumb waits up to 120 seconds for the response to the refresh of 'work'"))
        let file = String(decoding: home.bytes("path"), as: UTF8.self).trimmingCharacters(in: .newlines)
        #expect(!file.isEmpty && !FileManager.default.fileExists(atPath: file))
        gate.signal()
        #expect(process.wait().status == 7)
        #expect(try home.crumb("token", "get", "work").text == "tok-2\n")
        #expect(count.next() == 3)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    // MARK: - Which login

    @Test("Commands without a name use the login of CRUMB_LOGIN, then the one of switch, then the only one")
    func login() throws {
        let none = try home.crumb("token", "get")
        #expect(none.status == 64 && none.messages.contains("crumb token list"), "\(none.messages)")
        try given("a", "tok-a")
        #expect(try home.crumb("token", "get").text == "tok-a\n")
        try given("b", "tok-b")
        #expect(try home.crumb("token", "get").status == 64)
        let several = try home.crumb("token", "status")
        #expect(several.status == 64 && several.messages.contains("`crumb token status NAME`"), "\(several.messages)")
        let unchosen = try home.crumb("token", "switch")
        #expect(unchosen.status == 0 && unchosen.messages.hasPrefix("no login chosen"), "\(unchosen.messages)")
        #expect(try home.crumb("token", "switch", "typo").status == 40)
        let switched = try home.crumb("token", "switch", "b")
        #expect(switched.status == 0 && switched.messages.hasPrefix("switched to b: valid"), "\(switched.messages)")
        #expect(try home.crumb("token", "switch").text == "b\n")
        #expect(try home.crumb("token", "switch", "--json").objects().first?["name"] as? String == "b")
        #expect(try home.crumb("token", "get").text == "tok-b\n")
        #expect(try home.crumb("token", "get", "a").text == "tok-a\n")
        #expect(try home.crumb("token", "header").text == "Authorization: Bearer tok-b\n")
        #expect(try home.crumb("token", "status", "--json").text.contains(#""name":"b""#))
        #expect(try home.crumb("token", "get", variables: ["CRUMB_LOGIN": "a"]).text == "tok-a\n")
        #expect(try exec("--", "sh", "-c", "echo $ACCESS_TOKEN").text == "tok-b\n")
        let git = try home.crumb(
            "token", "helper", "git", "--host", "git.example", "get", input: "protocol=https\nhost=git.example\n")
        #expect(git.text.contains("password=tok-b\n"), "\(git.messages)")
        #expect(try home.crumb("token", "switch", "--none").status == 0)
        #expect(try home.crumb("token", "get").status == 64)
    }
}
