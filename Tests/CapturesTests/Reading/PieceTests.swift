import Testing

@testable import Captures

@Suite("Pieces")
struct PieceTests {
    static let captures = [
        Capture(
            "\u{FEFF}\n"
                + HARText.document(
                    HARText.entry(setCookie: #""a=\ud83d\ude00\u00e9\n\\b=\ud83d""#), "{}",
                    HARText.entry(status: "0"), #"{"request":{"url":"é"},"_x":[1.5e-3,true,null,{"a":"\""}]}"#)
                + " x"),
        Capture(
            "\r\nHTTP/1.1 100 Continue\r\n\r\n\r\nHTTP/1.1 302 x\r\nSet-Cookie: a=1;\r\n  Path=/\r\nLocation: /b\r\n"
                + "Content-Length: 9\r\nbad\r\n\r\nHTTP/1\n\n\nHTTP/2 200 \nset-cookie: b=2\ncontent-length: 3\n\nabc"
                + "HTTP/1.1 200 OK\r\nSet-Cookie: c=3\r\n\r\n",
            url: "https://a.test/"),
        Capture(
            "# by hand\n\n.a.test\tTRUE\t/\tFALSE\t0\tn\tv\r\n#HttpOnly_b.test\tFALSE\t/\tTRUE\t5.5\tm\r\nbad line\n"
                + "c.test\tTRUE\t/\tFALSE\t-1\t\tv"),
        Capture("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Coo", url: "https://a.test/"),
        Capture("# a\r\n# b\nno cookies here, none at all"),
        Capture(
            #"{"cookies":[{"name":"n","value":"\u00e9","domain":".a.test","expires":1.5e3},1,{"name":"#
                + #""m","value":"w","domain":"b.test","sameSite":"Lax"}],"origins":[{"localStorage":[{}]}]} x"#),
        Capture(
            "* Connected to a.test (127.0.0.1) port 443 (#0)\r\n* SSL connection using TLSv1.3\n> GET /x HTTP/1.1\n"
                + "> Host: a.test\n> \n{ [5 bytes data]\n< HTTP/1.1 302 Found\n< Set-Cookie: a=1\n< Location: /y\n< \n"
                + "[0-0] < HTTP/2 200 \n10:00:00.5 < set-cookie: b=2\n<  c\n< bad\n< \n  0 10\nbody\n< HTTP/2 200\n"),
        Capture(
            "== Info: Connected to a.test (1.2.3.4) port 80\n=> Send header, 40 bytes (0x28)\n0000: GET / HTTP/1.1\n"
                + "0010: Host: a.test\n001e: \n<= Recv header, 17 bytes (0x11)\n0000: HTTP/1.1 200 OK\n"
                + "<= Recv header, 80 bytes (0x50)\n0000: Set-Cookie: a=\n000e: 1; P\n0013: ath=/\n"
                + "<= Recv header, 16 bytes (0x10)\n0000: 53 65 74 2d 43 6f 6f 6b 69 65 3a 62 3d ff 0d 0a Set-Cookie:b=...\n"
                + "<= Recv header, 2 bytes (0x2)\n0000: \n== Info: x\n"),
        Capture(
            "--2026-11-21 02:56:22--  https://a.test/x\nConnecting\n  HTTP/1.1 302 Found\n  Set-Cookie: a=1\n"
                + "Location: /y [following]\n--2026-11-21 02:56:23--  https://a.test/y\n  HTTP/1.0 200 OK\n  bad\n"),
        Capture(
            NetLogTests.log(
                NetLogTests.start(1, "https://a.test/"), NetLogTests.headers(1, "HTTP/1.1 200", "Set-Cookie: a=1", "x"))
        ),
        Capture(
            WARCTests.record("response", WARCTests.response) + WARCTests.record("request", "x")
                + WARCTests.record("response", "HTTP/1.1 200 OK\nSet-Cookie: b=2\nSet-") + "oops"),
        Capture("'a=1; b=2'\r\n\nc", url: "https://a.test/", format: .documentCookie),
        Capture(
            ScriptTests.message("cookie", #","line":"a=1""#) + "\n" + ScriptTests.message("touched", "") + "\r\n{"),
        Capture(bytes: BinaryCookiesTests.file([BinaryCookiesTests.page([BinaryCookiesTests.cookie()])])),
        Capture(
            bytes: FirefoxSessionTests.file([
                (FirefoxSessionTests.beginning, 3, 30), (FirefoxSessionTests.end + FirefoxSessionTests.others, 0, 0),
            ])),
    ]

    @Test("Captures are read the same in two pieces, cut at every position", arguments: captures)
    func everySplit(capture: Capture) {
        let whole = capture.items
        for position in 0...capture.bytes.count {
            #expect(capture.items(cutAt: [position]) == whole, "cut at \(position)")
        }
    }

    @Test("Captures are read the same in pieces of equal length", arguments: captures)
    func equalPieces(capture: Capture) {
        let whole = capture.items
        for length in 1...20 {
            #expect(capture.items(pieceLength: length) == whole, "pieces of \(length)")
        }
    }

    @Test(
        "Captures by real tools are read the same in pieces of any size",
        .enabled(if: Samples.exist, "shared/samples is not beside the package"), arguments: Samples.all)
    func samples(name: String) throws {
        let capture = try Samples.capture(name)
        let whole = capture.items
        // All positions of the short ones; of the long ones 300, spread so that they meet every kind of token.
        let step = max(1, capture.bytes.count / 300)
        for position in stride(from: 0, to: capture.bytes.count, by: step) {
            #expect(capture.items(cutAt: [position]) == whole, "cut at \(position)")
        }
        for length in [1, 2, 3, 7, 64] { #expect(capture.items(pieceLength: length) == whole) }
    }

    @Test("A reader that is told to stop returns nothing more")
    func stopping() {
        struct Stop: Error {}
        let capture = Self.captures[0]
        var reader = capture.reader
        var count = 0
        #expect(throws: Stop.self) {
            try reader.read(capture.bytes.span) { _ in
                count += 1
                throw Stop()
            }
        }
        reader.read(capture.bytes.span) { _ in count += 1 }
        reader.finish { _ in count += 1 }
        #expect(count == 1)
    }

    @Test("A reader's second finish does nothing")
    func finishTwice() {
        var reader = Capture("").reader
        var count = 0
        reader.finish { _ in count += 1 }
        reader.finish { _ in count += 1 }
        reader.read([0x7B].span) { _ in count += 1 }
        #expect(count == 1)
    }
}
