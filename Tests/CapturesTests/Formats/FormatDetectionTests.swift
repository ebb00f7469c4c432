import Testing

@testable import Captures

@Suite("Telling formats apart")
struct FormatDetectionTests {
    @Test(
        "The beginning of a capture determines its format",
        arguments: [
            ("\u{FEFF}{\"log\":{}}", .har),
            (" \r\n\t{", .har),
            ("HTTP/1.1 200 OK", .http),
            ("\nHTTP/2 200", .http),
            ("# Netscape HTTP Cookie File", .netscape),
            ("# HTTP Cookie File\r\n", .netscape),
            ("# by hand\n\na.test\tTRUE\t/\tFALSE\t0\tn\tv\n", .netscape),
            ("#HttpOnly_a.test\tTRUE\t/\tFALSE\t0\tn\tv", .netscape),
            ("a\tb\tc\td\te\tf\tg", .netscape),
            ("a.test\tTRUE\t/\tFALSE\t0\tn", .netscape),
            ("a.test FALSE / FALSE 0 n v", .netscape),
            ("", nil),
            (" \n ", nil),
            ("[]", .webDriver),
            ("[1]", .webDriver),
            ("[[]]", .webDriver),
            ("[", nil),
            (#"{"log":"#, .har),
            (#"{"_x":{"cookies":[]},"log":{}}"#, .har),
            (#"{"cookies":[],"origins":[]}"#, .storageState),
            (#"{"origins":[]}"#, .storageState),
            (#"{"cookies":[{"name":"a","value":"1","expires":-1}]}"#, .storageState),
            (#"[{"name":"a","expires":-1}]"#, .storageState),
            (#"{"cookies":[{"expires":1,"sourcePort":443"#, .devTools),
            (#"{"id":1,"result":{"cookies":[{"priority":"#, .devTools),
            (#"[{"name":"a","session":false,"priority":"#, .devTools),
            (#"[{"domain":"a.test","name":"a"}]"#, .webDriver),
            (#"[{"domain":"a.test","expiry":"#, .webDriver),
            (#"{"value":[{"name":"a"}]}"#, .webDriver),
            (#"{"result":{"cookies":[{"name":"a","value":{"#, .webDriver),
            (#"[{"domain":"a.test","expirationDate":"#, .cookieEditor),
            (#"[{"domain":"a.test","hostOnly":"#, .cookieEditor),
            (#"{"__meta__":{"#, .httpieSession),
            (#"{"auth":{},"cookies":{"#, .httpieSession),
            (#"{"server":["x"#, .headerJSON),
            (#"{"constants":{"#, .netLog),
            (#"{"crumb":"#, .har),
            (#"{"crumb":""#, .captureMessages),
            ("WARC/1.0\r\n", .warc),
            ("WARC/2.0\r\n", nil),
            ("cook\0\0\0\u{1}", .binaryCookies),
            ("cookies are nice", nil),
            ("HTTP", nil),
            ("hello\nworld", nil),
            ("# only a comment\n", nil),
            ("* Trying 127.0.0.1\n< HTTP/1.1 200 OK\n", .curlVerbose),
            ("* an item\n* another\n", nil),
            ("> GET / HTTP/1.1\n", .curlVerbose),
            ("10:00:00.000001 [0-1] > GET / HTTP/2\r\n", .curlVerbose),
            ("> quoted text\n", nil),
            ("== Info: x\n", .curlTrace),
            ("10:00:00.000001 => Send header, 5 bytes (0x5)\n", .curlTrace),
            ("--2026-11-21 02:56:22--  https://a.test/\n", .wgetVerbose),
            ("--2026-11-21--\n", nil),
            ("DEBUG output created by Wget 1.21.3 on linux-gnu.\n", .wgetVerbose),
            ("Setting --server-response (serverresponse) to 1\n", .wgetVerbose),
            ("wget --header='Cookie: a=1' https://a.test/\n", .curlCommand),
            ("n\tv\ta.test\t/\tSession\t2\t\t\tLax\n", .cookieTable),
            ("Name\tValue\tDomain\n", .cookieTable),
            ("a.test\tTRUE\t/\tFALSE\t0\tn\tv\t7\t\t\n", .netscape),
            (#"{"storeType":"#, .toughCookie),
            (#"[{"key":"#, .toughCookie),
            (#"{"sid":"31d4","theme":"dark"}"#, .cookieHeader),
            (#"{"sid":"31d4","n":1}"#, nil),
            (#"{"a":{"b":"c"}}"#, nil),
            (#"{"a":{"b":"c"}"#, .har),
            ("{}", nil),
            ("\u{1B}[32mGET\u{1B}[39m /x \u{1B}[34mHTTP/1.1\u{1B}[39m\n", .httpieVerbose),
            ("[0] Downloading 'http://a.test/' ...\n", nil),
            ("[0]", .webDriver),
            ("[0] ", .webDriver),
        ] as [(String, CaptureFormat?)])
    func detect(text: String, format: CaptureFormat?) {
        #expect(CaptureFormat.detect(Array(text.utf8).span) == format)
        var reader = Capture(text).reader
        for byte in Array(text.utf8) { reader.read([byte].span) { _ in } }
        reader.finish { _ in }
        #expect(reader.format == format)
    }

    @Test(
        "An input of only white space and a byte order mark is empty",
        arguments: [
            "", " ", "\n\r\n\t ", "\u{FEFF}", "\u{FEFF}\n", String(repeating: " ", count: 200_000),
        ])
    func empty(text: String) {
        #expect(Capture(text).summary == ["input-empty at x"])
        #expect(Capture(text, format: .netscape).summary == ["input-empty at x"])
    }

    @Test(
        "An unknown input is named as far as it can be",
        arguments: [
            ([0x1F, 0x8B, 9, 0], "gzip"), ([0x50, 0x4B, 7, 8], "ZIP"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd"),
            ([0xFF, 0xFE, 0x48, 0], "UTF-16"), ([0, 1, 2, 3], "binary"), (Array("SQLite format 3\0".utf8), "SQLite"),
            (Array("T\n\0".utf8), "Format not recognized."), ([0xEF], "not recognized"),
            ([0xEF, 0xBB], "not recognized"),
            (Array("# a\n# b".utf8), "comments"), (Array("[0] Downloading 'x'".utf8), "--save-cookies"),
            (Array("[0555--://a.test/.\n".utf8), "Format"),
            (Array("{}".utf8), "JSON object of another kind"),
            (Array("{\"a\":false}}".utf8), "JSON object of another kind"),
            (Array("Name   Value   Domain   Path\nsid   abc   a.test   /\n".utf8), "with tabs"),
            (Array("sid  abc  a.test  /  Session  6  \n".utf8), "with tabs"),
            (Array("Name Value Domain\n".utf8), "Format not recognized."),
            (Array("\u{1B}[34mHTTP\u{1B}[39m/1.1 200".utf8), "--pretty=none"),
        ] as [([UInt8], String)])
    func unknown(bytes: [UInt8], word: String) {
        let items = Capture(bytes: bytes).items
        #expect(items.failures.map(\.code) == [.inputUnrecognized])
        #expect(items.failures.allSatisfy { $0.message.contains(word) })
        #expect(Capture(bytes: bytes).items(pieceLength: 1) == items)
    }

    @Test("Comments before the first line are skipped, within 64 KiB")
    func longComments() {
        let cookie = "a.test\tFALSE\t/\tFALSE\t0\tn\tv\n"
        let comment = "# a comment that says nothing at all\n"
        #expect(Capture(String(repeating: comment, count: 1500) + cookie).summary == ["cookie n=v"])
        let tooMany = Capture(String(repeating: comment, count: 3000) + cookie)
        #expect(tooMany.summary == ["input-unrecognized at x"])
        #expect(tooMany.items == tooMany.items(pieceLength: 1))
    }

    @Test("The caller's choice of a format is not checked, and a wrong one is a failure")
    func forced() {
        #expect(Capture("HTTP/1.1 200 OK\n\n", format: .har).summary == ["json-malformed at x: line 1, column 1"])
        #expect(Capture("{}", url: "https://a.test/", format: .http).summary == ["entry-malformed at x: line 1"])
        #expect(Capture("{}", format: .netscape).summary == ["line-malformed at x: line 1"])
        #expect(Capture("# a comment\n", format: .netscape).summary == [])
    }
}
