import SessionOperations
import Testing

@testable import CrumbCommands

@Suite struct CurlArgumentsTests {
    /// As curl prints it.
    static let help = """
        Usage: curl [options...] <url>
         -q, --disable            Disable .curlrc
         -b, --cookie <data|filename> Send cookies from string/file
         -K, --config <file>      Read config from a file
         -d, --data <data>        HTTP POST data
         -g, --globoff            Disable URL sequences and ranges using {} and []
         -H, --header <header/@file> Pass custom header(s) to server
         -L, --location           Follow redirects
             --location-trusted   Like --location, and send auth to other hosts
         -N, --no-buffer          Disable buffering of the output stream
         -o, --output <file>      Write to file instead of stdout
         -x, --proxy [protocol://]host[:port] Use this proxy
         -X, --request <method>   Specify request method to use
         -S, --show-error         Show error even when -s is used
         -s, --silent             Silent mode
             --url <url>          URL to work with
         -u, --user <user:password> Server user and password
         -w, --write-out <format> Use output FORMAT after completion
        """

    static func table() throws -> CurlOptionTable {
        // Enough of them for a list to be believed.
        let others = (0..<50).map { "     --other\($0)x <value>    Something else\n" }.joined()
        return try #require(CurlOptionTable(help: Array("\(help)\n\(others)".utf8)))
    }

    static func options(
        _ words: [String], defaults: String? = nil, files: [String: String] = [:]
    ) throws -> [CurlOption] {
        try CurlArguments(words.map { Array($0.utf8) }, defaults: defaults, table: table()) { file in
            guard let text = files[file] else { throw CommandFailure(.inputNotFound, file) }
            return Array(text.utf8)
        }.options
    }

    private static func shown(_ options: [CurlOption]) -> [String] {
        options.map { option in
            let value = option.value.map { "=" + String(decoding: $0, as: UTF8.self) } ?? ""
            return "\(option.isOn ? "" : "!")\(option.name)\(value)\(option.isPrivate ? " (private)" : "")"
        }
    }

    @Test(
        arguments: [
            (["http://a/"], ["url=http://a/"]),
            (["-sSLo", "f", "u"], ["silent", "show-error", "location", "output=f", "url=u"]),
            (["-sof", "u"], ["silent", "output=f", "url=u"]),
            (["-XPOST", "-d@f"], ["request=POST", "data=@f"]),
            (["-d", "-x", "u"], ["data=-x", "url=u"]),
            (["--output", "-", "u"], ["output=-", "url=u"]),
            (["--loc", "u"], []),
            (["--location", "u"], ["location", "url=u"]),
            (["--location-t", "u"], ["location-trusted", "url=u"]),
            (["--LOCATION"], ["location"]),
            (["--no-location"], ["!location"]),
            (["-N"], ["!buffer"]),
            (["--no-buffer"], ["!buffer"]),
            (["-x", "p", "u"], ["proxy=p", "url=u"]),
            (["-s", "--", "-u"], ["silent", "url=-u"]),
            (["--", "a"], ["url=a"]),
            (["--output=f"], []), (["--bogus"], []), (["-s?"], []), (["-o"], []), (["-"], []),
            (["--no-output", "f"], []),
        ] as [([String], [String])])
    func `words become options as in curl, or are refused`(words: [String], expected: [String]) throws {
        if expected.isEmpty {
            let problem = #expect(throws: CommandFailure.self) { try Self.options(words) }
            #expect(problem?.failure == .curlArgumentsUnsupported)
        } else {
            #expect(Self.shown(try Self.options(words)) == expected)
        }
    }

    @Test func `a configuration file is read where it is named, and kept private`() throws {
        let file = """
            # a comment
            silent
            user = "me:p\\"w\\\\x"
            header: X-A
            -o f
            --proxy "a b"
              data = "tab\\there"
            """
        let found = try Self.options(["-K", "f", "-L", "u"], files: ["f": file])
        #expect(
            Self.shown(found) == [
                "silent (private)", "user=me:p\"w\\x (private)", "header=X-A (private)", "output=f (private)",
                "proxy=a b (private)", "data=tab\there (private)", "location", "url=u",
            ])
        #expect(throws: CommandFailure.self) { try Self.options(["-K", "f"], files: ["f": "config = g", "g": ""]) }
        #expect(throws: CommandFailure.self) { try Self.options(["-K", "f"], files: ["f": "output"]) }
    }

    @Test func `.curlrc stands in front, unless the first word has a q`() throws {
        let files = ["rc": "silent", "q": ""]
        #expect(Self.shown(try Self.options(["u"], defaults: "rc", files: files)) == ["silent (private)", "url=u"])
        for first in ["-q", "-Sq", "--disable"] {
            #expect(
                !Self.shown(try Self.options([first, "u"], defaults: "rc", files: files)).contains("silent (private)"))
        }
        for words in [["-oq", "u"], ["-S", "-q"]] {
            #expect(Self.shown(try Self.options(words, defaults: "rc", files: files)).first == "silent (private)")
        }
    }

    @Test func `files of headers and formats are read here`() throws {
        let files = ["h": "A: 1\r\n\nCookie: x=y\n", "w": "%{http_code}\r\n%{url}\n"]
        let found = try Self.options(["-H", "@h", "-w", "@w"], files: files)
        #expect(
            Self.shown(found) == [
                "header=A: 1 (private)", "header=Cookie: x=y (private)", "write-out=%{http_code}%{url}",
            ])
    }

    @Test func `a quoted value is read back octet for octet`() {
        let value: [UInt8] = (1...255).map { $0 }
        let line = Array("header = ".utf8) + CurlConfiguration.quoted(value)
        #expect(CurlConfiguration.lines(line) == [CurlConfiguration.Line(option: Array("header".utf8), value: value)])
    }

    @Test func `what is no list of options is not taken for one`() {
        #expect(CurlOptionTable(help: []) == nil)
        #expect(CurlOptionTable(help: Array("curl: unknown option\n".utf8)) == nil)
    }
}
