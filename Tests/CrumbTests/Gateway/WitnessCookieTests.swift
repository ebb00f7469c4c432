import Foundation
import TestSupport
import Testing

@Suite("Witness cookies of a gateway")
struct WitnessCookieTests {
    private let home = CrumbHome()

    private static let witness = "crumb-witness-0a1b2c3d"

    /// Captures of a browser behind a gateway, each with the cookie `a` and one witness, and the options that read it.
    private static let captures: [(name: String, text: String, options: [String])] = [
        ("har", Capture.har([Capture.entry("https://www.example.com/", ["a=1", "\(witness)=1; Secure"])]), []),
        ("http", Capture.dump(["a=1", "__Host-\(witness)=1; Secure; Path=/"]), ["--url", "https://www.example.com/"]),
        (
            "netscape",
            "www.example.com\tFALSE\t/\tTRUE\t0\ta\t1\n#HttpOnly_www.example.com\tFALSE\t/\tTRUE\t0\t\(witness)\t1\n",
            ["--format", "netscape"]
        ),
        (
            "storage-state",
            #"{"cookies":[{"name":"a","value":"1","domain":"www.example.com","path":"/","expires":-1},"#
                + #"{"name":"\#(witness)","value":"1","domain":"www.example.com","path":"/","expires":-1}],"origins":[]}"#,
            []
        ),
        (
            "list",
            #"[{"name":"a","value":"1","domain":"www.example.com"},{"name":"\#(witness)","value":"1","domain":"www.example.com"}]"#,
            []
        ),
        ("curl-command", "curl 'https://www.example.com/' -H 'Cookie: a=1; \(witness)=1'", []),
        ("cookie-header", "Cookie: \(witness)=1; a=1", ["--url", "https://www.example.com/"]),
        (
            "document-cookie", "a=1; \(witness)=1",
            ["--format", "document-cookie", "--url", "https://www.example.com/"]
        ),
    ]

    @Test(
        "An import leaves them out, counts them, and says where the session is",
        arguments: captures.map(\.name))
    func imported(format: String) throws {
        let capture = try #require(Self.captures.first { $0.name == format })
        let path = try home.write(capture.text, to: "capture")
        let result = try home.start(["import"] + capture.options + [path]).wait()
        #expect(result.status == 0 && result.text.contains("1 taken"), "\(result.text)\(result.messages)")
        #expect(result.text.contains("0 refused, 1 witness cookie left out") || result.text.contains("0 already set"))
        #expect(result.text.contains("1 witness cookie left out") && !result.text.contains(Self.witness))
        #expect(result.messages.contains("note: ") && result.messages.contains("use 'crumb header --jar JAR'"))
        #expect(try home.header() == "Cookie: a=1")
        let again = try home.start(["import", "--again", "--json"] + capture.options + [path]).wait()
        let report = try #require(try again.objects().first)
        #expect(report["witnesses"] as? Int == 1 && (report["refused"] as? [Any])?.isEmpty == true)
        #expect((report["notes"] as? [[String: Any]])?.last?["code"] as? String == "gateway-witness")
        let options = capture.options.map { $0 == "--format" ? "--from" : $0 }
        let converted = try home.start(["convert", "--to", "json"] + options + [path]).wait()
        #expect(try converted.objects().compactMap { $0["name"] as? String } == ["a"])
        #expect(converted.messages.contains("1 witness cookie left out"), "\(converted.messages)")
    }

    @Test("A capture that has nothing else imports nothing, and makes no jar")
    func alone() throws {
        let path = try home.write("Cookie: \(Self.witness)=1", to: "cookies")
        let lines = try home.write(Capture.dump(["\(Self.witness)=1"]), to: "lines")
        for file in [path, lines] {
            let result = try home.crumb("import", "--jar", "new", "--url", "https://www.example.com/", file)
            #expect(result.status == 9 && result.messages.contains("1 witness cookie of a Crumb gateway"))
        }
        #expect(try home.crumb("header", "--jar", "new", "https://www.example.com/").status != 0)
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")))
    }

    @Test("A browser's database that contains some gives only the others")
    func browser() throws {
        let columns = "name, value, host, path, expiry, isSecure, isHttpOnly, originAttributes"
        let rows = ["a", Self.witness].map {
            "INSERT INTO moz_cookies(\(columns)) VALUES('\($0)','1','www.example.com','/',4000000000,0,0,'');"
        }
        let sql = "CREATE TABLE moz_cookies(\(columns)); \(rows.joined())"
        #expect(try home.shell("sqlite3 cookies.sqlite \"\(sql)\"").status == 0)
        let result = try home.crumb("import", home.file("cookies.sqlite"))
        #expect(result.text.contains("1 taken") && result.text.contains("1 witness cookie left out"), "\(result.text)")
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("A request that carries only witnesses is no login that was recorded too late")
    func carried() throws {
        let har = """
            {"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"https://www.example.com/",
            "headers":[{"name":"Cookie","value":"\(Self.witness)=1"}]},"response":{"status":200,"headers":[]}}]}}
            """
        let result = try home.crumb("import", try home.write(har, to: "x.har"))
        #expect(result.status == 9 && !result.messages.contains("--request-cookies"), "\(result.messages)")
    }

    @Test("No other command stores one, and explain names the reason")
    func otherCommands() throws {
        let line = "\(Self.witness)=1; Path=/"
        let set = try home.crumb("set", "https://www.example.com/", input: line)
        #expect(set.status == 5 && (set.text + set.messages).contains("gateway-witness"), "\(set.text)\(set.messages)")
        try home.receive("a=1")
        let explained = try home.crumb("explain", "--set-cookie", "-", "https://www.example.com/", input: line)
        #expect(explained.text.contains("gateway-witness") && explained.text.contains("crumb header --jar JAR"))
        #expect(try home.header() == "Cookie: a=1")
    }
}
