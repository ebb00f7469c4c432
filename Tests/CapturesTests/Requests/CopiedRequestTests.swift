import CookieModel
import Testing

@testable import Captures

@Suite("Requests copied out of browsers")
struct CopiedRequestTests {
    /// URL, method and Cookie fields of each request, and what failed.
    private static func summary(_ text: String, url: String? = nil, format: CaptureFormat? = nil) -> [String] {
        Capture(text, url: url, format: format).items.map { item in
            switch item {
            case .response(let response):
                #expect(response.isCopiedRequest && response.status == 0 && response.setCookie.isEmpty)
                let cookies = response.requestCookies.map(\.description).joined(separator: "|")
                return "\(response.method ?? "-") \(response.url) [\(cookies)]"
            case .cookie: return "cookie"
            case .storage: return "storage"
            case .failure(let error): return error.code.description
            }
        }
    }

    private static let commands: [(text: String, requests: [String])] = [
        // Chromium, bash.
        (
            """
            curl 'https://a.test/x?y=1&z' \\
              -H 'accept: */*' \\
              -b 'sid=1; t=a b' \\
              -H 'sec-fetch-site: same-origin' \\
              --data-raw '{"a":"-b c=d"}' --compressed
            """, ["- https://a.test/x?y=1&z [sid=1; t=a b]"]
        ),
        // Firefox, bash.
        (
            "curl 'https://a.test/' --compressed -X POST -H 'Cookie: sid=1; u=ü' -H 'Priority: u=0'",
            ["POST https://a.test/ [sid=1; u=ü]"]
        ),
        // What a single quote makes of a string in Chromium and Firefox.
        (
            #"curl 'https://a.test/' -H $'cookie: a=it\'s\u0021\x41\101\\; b=\n'"#,
            ["- https://a.test/ [a=it's!AA\\; b=\\x0A]"]
        ),
        ("curl --url https://a.test/ --cookie a=1 --cookie jar.txt", ["- https://a.test/ [a=1]"]),
        (#"curl "https://a.test/$x" -Hcookie:a=\"1\" -H "Cookie: b=\$2""#, ["- https://a.test/$x [a=\"1\"|b=$2]"]),
        (
            "curl 'https://a.test/' -b 'a=1' ;\ncurl 'https://b.test/' -b 'b=2'",
            ["- https://a.test/ [a=1]", "- https://b.test/ [b=2]"]
        ),
        // Chromium, cmd.
        (
            """
            curl ^"https://a.test/?q=^%^41^&r=1^" ^\r
              -H ^"accept: */*^" ^\r
              -b ^"sid=^\\^"q^\\^"; p=1^%^2; w=C:\\\\x^" ^\r
              -H ^"user-agent: Mozilla/5.0^" &\r
            curl ^"https://b.test/^" ^\r
              -b ^"b=2^"
            """, ["- https://a.test/?q=%41&r=1 [sid=\"q\"; p=1%2; w=C:\\x]", "- https://b.test/ [b=2]"]
        ),
        // Firefox, cmd, as it was once.
        (
            "curl \"https://a.test/\" ^\r\n  -H \"Cookie: a=\"\"1\"\"; b=2\" ^\r\n  --compressed",
            ["- https://a.test/ [a=\"1\"; b=2]"]
        ),
        (
            "$ curl 'https://a.test/' -b 'a=1'\n$ curl https://b.test/",
            ["- https://a.test/ [a=1]", "- https://b.test/ []"]
        ),
        ("curl -b a=1", ["entry-malformed"]),
        ("curl 'https://a.test/' \\\n-b 'a=1", ["entry-malformed"]),
    ]

    @Test("A request copied as cURL is read, for bash and cmd", arguments: commands)
    func curl(text: String, requests: [String]) {
        #expect(Self.summary(text) == requests)
        #expect(CaptureFormat.detect(Array(text.utf8).span) == .curlCommand)
        let capture = Capture(text)
        #expect(capture.items(pieceLength: 1) == capture.items)
    }

    private static let calls: [(text: String, requests: [String])] = [
        (
            """
            fetch("https://a.test/x", {
              "headers": { "accept": "*/*", "cookie": "sid=1; q=\\"(}\\"" },
              "referrer": "https://a.test/", "body": null, "method": "GET"
            });
            """, ["GET https://a.test/x [sid=1; q=\"(}\"]"]
        ),
        (
            """
            await fetch("https://a.test/", {"credentials": "include", "method": "POST", "headers": {"Cookie": "a=1"}});
            fetch("https://b.test/");
            fetch("https://c.test/", {headers: {}})
            """, ["POST https://a.test/ [a=1]", "- https://b.test/ []", "entry-malformed"]
        ),
        ("fetch(url)", ["entry-malformed"]),
    ]

    @Test("A request copied as fetch is read", arguments: calls)
    func fetch(text: String, requests: [String]) {
        #expect(Self.summary(text) == requests)
        #expect(CaptureFormat.detect(Array(text.utf8).span) == .fetchCall)
        let capture = Capture(text)
        #expect(capture.items(pieceLength: 1) == capture.items)
    }

    private static let powerShellTexts: [(text: String, requests: [String])] = [
        (
            #"""
            $session = New-Object Microsoft.PowerShell.Commands.WebRequestSession
            $session.UserAgent = "Mozilla/5.0 (X11; Linux x86_64)"
            $session.Cookies.Add((New-Object System.Net.Cookie("sid", "a`"b`$c``d$([char]233)", "/", "a.test")))
            $session.Cookies.Add((New-Object System.Net.Cookie("t", "x=1 (2)", "/", ".a.test")))
            Invoke-WebRequest -UseBasicParsing -Uri "https://a.test/x?y=1&z" `
            -WebSession $session `
            -Headers @{
            "method"="GET"
              "sec-fetch-site"="same-origin"
            };
            $session = New-Object Microsoft.PowerShell.Commands.WebRequestSession
            $session.Cookies.Add((New-Object System.Net.Cookie("b", "2", "/", "b.test")))
            Invoke-WebRequest -UseBasicParsing -Uri "https://b.test/" `
            -Method "POST" `
            -WebSession $session `
            -ContentType "application/json" `
            -Body "{`"a`":1}"
            """#, ["- https://a.test/x?y=1&z [sid=a\"b$c`dé; t=x=1 (2)]", "POST https://b.test/ [b=2]"]
        ),
        (
            #"Invoke-WebRequest -Uri 'https://a.test/it''s' -Headers @{ "Cookie"="a=1" }"#,
            ["- https://a.test/it's [a=1]"]
        ),
        (#"Invoke-WebRequest -Headers @{}"#, ["entry-malformed"]),
        (#"Invoke-WebRequest -Uri "https://a.test/"#, ["entry-malformed"]),
    ]

    @Test("A request copied as PowerShell is read", arguments: powerShellTexts)
    func powerShell(text: String, requests: [String]) {
        #expect(Self.summary(text) == requests)
        #expect(CaptureFormat.detect(Array(text.utf8).span) == .powerShell)
        let capture = Capture(text)
        #expect(capture.items(pieceLength: 1) == capture.items)
    }

    @Test(
        "A cookie of a PowerShell session has the path and the domain that are written, if it can have gone to the URL",
        arguments: [
            (#""/", "www.a.test""#, "www.a.test /"), (#""/app", ".a.test""#, ".a.test /app"),
            (#""/app/", ".www.a.test""#, ".www.a.test /app/"), (#""/other", ".b.test""#, "www.a.test /"),
            (#""app", "a.test""#, "www.a.test /"), (#""", """#, "www.a.test /"), (#""/""#, "www.a.test /"),
        ])
    func powerShellCookie(rest: String, expected: String) throws {
        let text = """
            $session = New-Object Microsoft.PowerShell.Commands.WebRequestSession
            $session.Cookies.Add((New-Object System.Net.Cookie("sid", "1", \(rest))))
            Invoke-WebRequest -Uri "https://www.a.test/app/x" -WebSession $session
            """
        let record = try #require(Capture(text).responses.first?.requestRecords.first)
        #expect("\(record.isHostOnly ? "" : ".")\(record.domain) \(record.path)" == expected)
        #expect(record.isSecure && record.isHTTPOnly && record.pair == "sid=1")
    }

    @Test(
        "A single Cookie value is read only if it is declared as one, because it could be a page's document.cookie",
        arguments: [
            ("sid=1; b=2", true), ("sid=a b==\n", true), ("a=", true), ("sid=1; Path=/", false),
            ("sid=1; HttpOnly", false),
            ("A=1\nB=2\n", false), ("key: a=1", false), ("=1", false), ("<a b=1>", false), ("a b=1", false),
        ])
    func cookieValue(text: String, isValue: Bool) {
        #expect(CaptureFormat.detect(Array(text.utf8).span) == nil)
        guard isValue else { return }
        let value = text.last == "\n" ? String(text.dropLast()) : text
        #expect(Self.summary(text, url: "https://a.test/x", format: .cookieHeader) == ["- https://a.test/x [\(value)]"])
        #expect(Self.summary(text, format: .cookieHeader) == ["url-missing"])
        let capture = Capture(text, url: "https://a.test/", format: .cookieHeader)
        #expect(capture.items(pieceLength: 1) == capture.items)
    }

    @Test("A Cookie line is read, with its URL from the caller")
    func cookieLine() {
        let text = "cookie:  a=1; b=2 \r\nSec-Fetch-Site: cross-site\r\n"
        #expect(Self.summary(text, url: "https://a.test/x") == ["- https://a.test/x [a=1; b=2]"])
        #expect(Self.summary(text) == ["url-missing"])
        #expect(Capture(text, url: "https://a.test/").responses.first?.evidence.fetchSite == .crossSite)
    }

    @Test("A copied command shows which page made the request")
    func evidence() throws {
        let text = """
            curl 'https://b.test/' -H 'sec-fetch-site: cross-site' -H 'sec-fetch-dest: iframe' -e https://a.test/ -b a=1
            """
        let context = try #require(try Capture(text).responses.first?.context(policy: CookiePolicy()))
        #expect(context.isThirdParty && context.request.topLevel?.origin == "https://a.test")
    }

    @Test("Every format that carries requests gives their cookies")
    func otherFormats() {
        let har = """
            {"log":{"entries":[{"request":{"url":"https://a.test/","headers":[{"value":"a=1","name":"Cookie"}]},
            "response":{"status":200,"headers":[]}}]}}
            """
        let transcript = "> GET / HTTP/1.1\r\n> Host: a.test\r\n> Cookie: a=1\r\n> \r\n< HTTP/1.1 200 OK\r\n< \r\n"
        for text in [har, transcript] {
            let response = Capture(text).responses.first
            #expect(response?.requestCookies == ["a=1"] && response?.isCopiedRequest == false)
        }
    }

    @Test(
        "A wget command carries the cookies of its headers",
        arguments: [
            #"wget --header='Cookie: a=1; b=2' --header "Accept: */*" https://a.test/"#,
            #"wget -q -O body --header 'Cookie: a=1; b=2' 'https://a.test/'"#,
            #"$ wget https://a.test/ --user-agent x --header="cookie: a=1; b=2" -c"#,
        ])
    func wget(command: String) {
        let responses = Capture(command + "\n").responses
        #expect(responses.map(\.url) == ["https://a.test/"])
        #expect(responses.map(\.requestCookies) == [["a=1; b=2"]])
    }

    @Test("A JSON object of names and values is a Cookie field, if each of them can be in one")
    func map() {
        let text = #"{"sid":"31d4","theme":"d\u00e9"}"#
        let responses = Capture(text + "\n", url: "https://a.test/").responses
        #expect(responses.map(\.requestCookies) == [["sid=31d4; theme=dé"]])
        #expect(Capture(text).summary == ["url-missing at x: line 1"])
        for text in [#"{"a":"1;b=2"}"#, #"{"a=b":"1"}"#, #"{"a":"1\n"}"#, #"{"":"1"}"#, #"{"a":"1"} {"b":"2"}"#] {
            #expect(Capture(text, url: "https://a.test/").failures.map(\.code) == [.entryMalformed], "\(text)")
        }
    }
}
