import Foundation
import TestSupport
import Testing

@Suite("Advice for a wrong command line")
struct UsageAdviceTests {
    private let home = CrumbHome()

    @Test(
        "Common first attempts are answered with the right commands",
        arguments: [
            ("import", "Name a capture file, '-' for standard input, or use `--browser firefox`."),
            ("jars destroy ben", "No command 'destroy'. Did you mean `crumb jars remove ben`?"),
            ("jars destroy 'two words'", "Did you mean `crumb jars remove 'two words'`?"),
            ("jars lst", "No command 'lst'. Did you mean `crumb jars list`?"),
            ("improt login.har", "No command 'improt'. Did you mean `crumb import login.har`?"),
            ("login work", "Did you mean `crumb token login work`?"),
            ("add sid=secret", "Did you mean `crumb import FILE`?"),
            ("nonsense", "No command 'nonsense'. `crumb help` lists them."),
            ("nonsense --nonsense", "No command 'nonsense'. `crumb help` lists them."),
            ("token nonsense", "No command 'nonsense'. `crumb help token` lists them."),
            ("jars fields headers", "No command 'headers'. `crumb help jars fields` lists them."),
            ("serve --port 8800", "Unknown option '--port'. Use `--listen 127.0.0.1:8800`."),
            ("serve --port=8800", "Use `--listen 127.0.0.1:8800`."),
            ("serve --port", "Use `--listen 127.0.0.1:8722`."),
            ("serve -p http", "Unknown option '-p'. Use `--listen 127.0.0.1:8722`."),
            ("serve token create ci --ttl 1d", "Use `--expires 30d`."),
            ("header --url https://a.example/", "Give the URL as an argument: `crumb header URL`."),
            ("header https://a.example/ --session work", "Use `--jar NAME`."),
            ("header https://a.example/ --output f", "Redirect standard output: `crumb header > FILE`."),
            ("jars list -j work", "`crumb list --jar NAME` lists the cookies of one."),
            ("jars remove -j work", "Give the jar's name as an argument: `crumb jars remove NAME`."),
            ("list --domain a.example", "Give the domain as an argument: `crumb list example.com`."),
            ("list -c cookies.txt", "`crumb import FILE` reads a cookie file"),
            ("jars remove ben --yes", "Leave it out: `crumb jars remove` asks for no confirmation."),
            ("token login work --client-secret s3cret", "use `--client-secret-file FILE`."),
            ("import --file login.har", "Give the file as an argument: `crumb import FILE`."),
            ("convert --to har --format netscape f", "Use `--to NAME` for the format to write"),
            ("list --verbose", "`crumb explain URL` the reasons."),
            ("--json list", "Put options after the command: `crumb list --json`."),
            ("export", "Name the format to write: `crumb export --format netscape`."),
            ("backup b.sqlite --database postgresql://db/x", "with 'pg_basebackup' or 'pg_dump', and the key file"),
            ("restore b.sqlite --database postgresql://db/x", "then run 'crumb cluster quarantine'"),
            ("check --database postgresql://db/x", "with 'crumb cluster check'"),
            ("status --database postgresql://db/x", "'crumb cluster status' shows"),
            ("key status --database postgresql://db/x", "'crumb cluster status' says"),
            ("key rotate --database postgresql://db/x", "with 'crumb cluster rotate-key'"),
            ("header https://a.example/ --database postgresql://db/x", "run a service there, and use --service"),
            ("header", "Name the URL of the request: `crumb header https://www.example.com/`."),
            ("get sid", "Name the cookie and the URL: `crumb get sid https://www.example.com/`."),
            ("token get", "Name the login: `crumb token get NAME`. `crumb token list` lists them."),
            ("gateway ca create", "Name the hosts: `crumb gateway ca create --host shop.example`."),
            ("status work", "`crumb status` takes no arguments."),
            ("header https://a.example/ b", "`crumb header` takes one URL."),
            ("jars lsit", "No command 'lsit'. Did you mean `crumb jars list`?"),
            ("export --format netscpae", "No format 'netscpae' to write. Did you mean 'netscape'? Formats: "),
            ("import --format hra f", "No format 'hra' to read. Did you mean 'har'? Formats: "),
            ("import --format xyzzy f", "No format 'xyzzy' to read. Formats: "),
            ("explain https://a.example/ --name sid", "`crumb explain URL` explains every cookie of the URL's site."),
            ("set sid=s3cret https://a.example/", "The line comes from standard input or a file"),
            ("set https://a.example/ https://b.example/", "Give one URL; the cookie comes from standard input"),
            ("get https://a.example/ sid", "The cookie's name comes first: `crumb get NAME URL`."),
            ("list --name sid", "`crumb list` takes a domain; `crumb get NAME URL` prints one cookie."),
            ("changes --after", "`--after` takes a position, the first column of `crumb changes`"),
            ("changes --after yesterday", "`crumb changes --after 120`"),
            ("changes --since 5", "Use `--after POSITION`"),
            ("list --jsn", "Unknown option '--jsn'. Did you mean '--json'?"),
            ("remove --nmae x", "Unknown option '--nmae'.\n"), ("status --jar x", "Unknown option '--jar'.\n"),
            ("prune --journal-entries -5", "--journal-entries: use 0 or more."),
            ("token get --skew -1", "--skew: use 0 to 86400 seconds."),
            ("token export --format netrc --host https://a.example/ work", "write a host, with its port if it has one"),
        ])
    func advice(line: String, expected: String) throws {
        let result = try home.shell("crumb \(line)")
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.messages.hasPrefix("Error: ") && result.messages.contains(expected), "\(result.messages)")
        #expect(!result.messages.contains("secret ") && !result.messages.contains("s3cret"), "\(result.messages)")
    }

    @Test(
        "An error in options that a command finds when it runs is followed by the usage of the command",
        arguments: [
            (["export"], "crumb export ", "crumb export"),
            (["serve", "token", "create", "ci"], "crumb serve token create ", "crumb serve token create"),
            (["gateway", "ls"], "crumb gateway list ", "crumb gateway list"),
        ])
    func usage(words: [String], usage: String, name: String) throws {
        let result = try home.start(words).wait()
        let lines = result.messages.split(separator: "\n")
        #expect(result.status == 64 && lines.first?.hasPrefix("Error: ") == true, "\(result.messages)")
        #expect(lines.count(where: { $0.hasPrefix("Usage: ") }) == 1)
        #expect(lines.contains { $0.hasPrefix("Usage: \(usage)") }, "\(result.messages)")
        #expect(lines.last == "  See '\(name) --help' for more information.")
    }

    @Test(
        "With --json, an error is an object with its code, the exit status and a sentence",
        arguments: [
            ("header not-a-url --json", "url-invalid", 19, "not-a-url: "),
            ("token status zz --json", "token-not-found", 40, "zz: there is no token"),
            ("import --json nowhere", "input-not-found", 17, "nowhere: no such file"),
            ("list --json --nosuch", "usage", 64, "Unknown option '--nosuch'"),
            ("nosuch --json", "usage", 64, "No command 'nosuch'."),
            ("header --json", "usage", 64, "Name the URL of the request"),
            ("run --json /nonexistent", "command-not-found", 127, "/nonexistent: the command cannot be run: "),
            ("token exec --json zz -- /nonexistent", "command-not-found", 127, "/nonexistent: "),
        ])
    func json(line: String, code: String, status: Int32, message: String) throws {
        let result = try home.shell("crumb \(line)")
        let error = try JSONSerialization.jsonObject(with: Data(result.messages.utf8)) as? [String: Any]
        #expect(result.status == status && error?["exitStatus"] as? Int32 == status, "\(result.messages)")
        #expect(error?["code"] as? String == code, "\(result.messages)")
        #expect((error?["message"] as? String)?.hasPrefix(message) == true, "\(result.messages)")
    }

    @Test("A shell completes the names of jars, removed jars, saved sessions, logins and formats")
    func completion() throws {
        try home.receive("a=1", jar: "work")
        try home.receive("a=1", jar: "wiki")
        #expect(try home.crumb("session", "save", "monday", "--jar", "work").status == 0)
        let reply = #"{"access_token":"tok-1"}"#
        #expect(try home.crumb("token", "import", "shop", input: reply).status == 0)
        #expect(try home.crumb("jars", "remove", "wiki").status == 0)
        let script = try home.shell("crumb --generate-completion-script bash >completion; echo $?")
        #expect(script.text == "0\n")
        func words(_ line: String) throws -> [String] {
            let text = try home.shell(
                "bash -c '. ./completion; COMP_LINE=\"\(line)\"; COMP_WORDS=(\(line) \"\"); "
                    + "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_POINT=${#COMP_LINE}; "
                    + "_crumb crumb \"\" \"${COMP_WORDS[$COMP_CWORD - 1]}\"; "
                    + "printf \"%s\\n\" \"${COMPREPLY[@]}\"'"
            ).text
            return text.split(separator: "\n").map(String.init).sorted()
        }
        #expect(try words("crumb header --jar ") == ["work"])
        #expect(try words("crumb jars remove ").filter { !$0.hasPrefix("-") } == ["work"])
        #expect(try words("crumb jars restore ").filter { !$0.hasPrefix("-") } == ["wiki"])
        #expect(try words("crumb session restore --jar work ").contains("monday"))
        #expect(try words("crumb token get ").contains("shop"))
        #expect(try words("crumb export --format ").contains("netscape"))
    }

    @Test("A socket's path without its scheme is an error that says how to write it")
    func socketPath() throws {
        for path in ["/run/crumb.sock", "./crumb.sock"] {
            let result = try home.crumb("list", "--service", path)
            #expect(
                result.status == 19 && result.messages.contains("write 'unix:' before a socket's path"),
                "\(result.messages)")
            #expect(result.messages.contains("--service unix:/"))
        }
    }

    @Test(
        "Help on a command that does not exist is an error",
        arguments: [
            ("help nosuch", "No command 'nosuch'. `crumb help` lists them."),
            ("nosuch --help", "No command 'nosuch'. `crumb help` lists them."),
            ("help imprt", "No command 'imprt'. Did you mean `crumb help import`?"),
            ("help jars nosuch", "No command 'nosuch'. `crumb help jars` lists them."),
            ("jars nosuch -h", "No command 'nosuch'. `crumb help jars` lists them."),
            ("help header nosuch", "No command 'nosuch' in `crumb header`."),
        ])
    func help(line: String, expected: String) throws {
        let result = try home.shell("crumb \(line)")
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.messages == "Error: \(expected)\n")
    }

    @Test(
        "Help on an existing command succeeds without advice",
        arguments: [
            "help", "--help", "help import", "help jars remove", "help jars rm", "jars --help", "serve token create -h",
            "header nothing --help", "curl --help", "session",
        ])
    func realHelp(line: String) throws {
        let result = try home.shell("crumb \(line)")
        #expect(
            result.status == 0 && result.text.contains("USAGE: crumb") && result.messages.isEmpty, "\(result.messages)")
    }

    #if os(Linux)
        @Test("A preloaded library that moves the environment, as libfaketime does, hides no argument")
        func movedEnvironment() throws {
            try home.write(
                "#include <stdlib.h>\n__attribute__((constructor)) static void move(void) { setenv(\"MOVED\", \"1\", 1); }\n",
                to: "move.c")
            let compiled = try home.shell("cc -shared -fPIC -o move.so move.c")
            try #require(compiled.status == 0, "gcc is needed: \(compiled.messages)")
            let preload: [String: String?] = ["LD_PRELOAD": home.file("move.so")]
            let version = try home.crumb("--version", variables: preload)
            #expect(version.status == 0 && version.text == "1.0.0-beta.1\n", "\(version.text)\(version.messages)")
            let list = try home.crumb("list", "--json", variables: preload)
            #expect(list.status == 0 && list.text.isEmpty, "\(list.text)")
            // The program beside it gets its arguments as well.
            let service = try home.crumb("list", "--service", "unix:\(home.file("none"))", variables: preload)
            #expect(service.status == 55, "\(service.messages)")
        }
    #endif
}
