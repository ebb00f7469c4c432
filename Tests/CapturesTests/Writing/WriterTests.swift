import CookieModel
import Testing

@testable import Captures

@Suite("Writers")
struct WriterTests {
    private static let cookies = [CookieRecord.full, .plain]

    @Test("A cookie file has a leading dot and TRUE for a domain cookie, and HttpOnly cookies plain and marked")
    func netscape() {
        let lines = Written(WriterTests.cookies, as: .netscape).text.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "# Netscape HTTP Cookie File")
        #expect(
            lines.filter { $0.contains("\t") } == [
                "a.test\tFALSE\t/sub\tTRUE\t1795316181\tsid\t\"a b,c\"",
                "#HttpOnly_a.test\tFALSE\t/sub\tTRUE\t1795316181\tsid\t\"a b,c\"",
                ".a.test\tTRUE\t/\tFALSE\t0\ttheme\tdark",
            ])
        #expect(lines.last == "")
        let address = CookieRecord.sample { $0.domain = "[::1]" }
        #expect(Written([address], as: .netscape).text.hasSuffix("\n::1\tFALSE\t/\tFALSE\t0\tn\tv\n"))
    }

    @Test("A written storageState has no sameSite for none, -1 for the session, and the partition")
    func storageState() {
        #expect(
            Written(WriterTests.cookies, as: .storageState).text == """
                {"cookies":[
                {"name":"sid","value":"\\"a b,c\\"","domain":"a.test","path":"/sub","expires":1795316181.5,\
                "httpOnly":true,"secure":true,"sameSite":"Strict","partitionKey":"https://a.test",\
                "_crHasCrossSiteAncestor":false},
                {"name":"theme","value":"dark","domain":".a.test","path":"/","expires":-1,"httpOnly":false,"secure":false}
                ],"origins":[]}

                """)
        #expect(Written([], as: .storageState).text == "{\"cookies\":[\n],\"origins\":[]}\n")
    }

    @Test("Written JSON lines have all properties, and omit those that a cookie does not have")
    func json() {
        #expect(
            Written(WriterTests.cookies, as: .json).text == """
                {"crumb":1,"name":"sid","value":"\\"a b,c\\"","domain":"a.test","hostOnly":true,"path":"/sub",\
                "secure":true,"httpOnly":true,"sameSite":"Strict","expires":"2026-11-22T02:56:21.5Z",\
                "created":"2026-11-06T21:20:00.000001Z","lastAccess":"2026-11-12T16:13:20Z",\
                "partitionKey":"https://a.test"}
                {"crumb":1,"name":"theme","value":"dark","domain":"a.test","hostOnly":false,"path":"/","secure":false,\
                "httpOnly":false}

                """)
    }

    @Test("Written Set-Cookie lines are those that the host would respond with")
    func setCookie() {
        #expect(
            Written(WriterTests.cookies, as: .setCookie, host: "a.test").text == """
                Set-Cookie: sid="a b,c"; Path=/sub; Expires=Sun, 22 Nov 2026 02:56:21 GMT; Secure; HttpOnly; \
                SameSite=Strict; Partitioned
                Set-Cookie: theme=dark; Domain=a.test; Path=/

                """)
    }

    @Test("A written Cookie header has the cookies in their order, and is empty without cookies")
    func header() {
        let nameless = CookieRecord.sample { $0.name = "" }
        let cookies = WriterTests.cookies + [nameless]
        #expect(Written(cookies, as: .header).text == "Cookie: sid=\"a b,c\"; theme=dark; v\n")
        #expect(Written(cookies, as: .curl).text == "header = \"Cookie: sid=\\\"a b,c\\\"; theme=dark; v\"\n")
        #expect(Written([], as: .header).text.isEmpty && Written([], as: .curl).text.isEmpty)
    }

    @Test("A session of HTTPie has octets as Latin-1, and the names that Python has for hosts")
    func httpieSession() {
        let local = CookieRecord.sample { record in
            record.domain = "localhost"
            record.value = [0xC3, 0xA9, 0xFF]
        }
        let text = Written(WriterTests.cookies + [local], as: .httpieSession).text
        #expect(
            text.hasSuffix(
                """
                "cookies":[
                {"domain":"a.test","expires":1795316181,"name":"sid","path":"/sub","secure":true,"value":"\\"a b,c\\""},
                {"domain":".a.test","expires":null,"name":"theme","path":"/","secure":false,"value":"dark"},
                {"domain":"localhost.local","expires":null,"name":"n","path":"/","secure":false,"value":"Ã©ÿ"}
                ],
                "headers":[]}

                """))
    }

    @Test("A WebDriver list names the domain of domain cookies alone")
    func webDriver() {
        #expect(
            Written(WriterTests.cookies, as: .webDriver, host: "a.test").text == """
                [
                {"name":"sid","value":"\\"a b,c\\"","path":"/sub","secure":true,"httpOnly":true,"expiry":1795316181,\
                "sameSite":"Strict"},
                {"name":"theme","value":"dark","path":"/","domain":".a.test","secure":false,"httpOnly":false}
                ]

                """)
    }

    @Test("A HAR has a response for each run of cookies of one host, fifty at most")
    func har() {
        var cookies = (0..<51).map { number in CookieRecord.sample { $0.name = Octets("c\(number)") } }
        cookies.append(.sample { $0.domain = "b.test" })
        cookies.append(.plain)
        let responses = Capture(bytes: Written(cookies, as: .har).bytes).responses
        #expect(responses.map(\.url) == ["https://a.test/", "https://a.test/", "https://b.test/", "https://a.test/"])
        #expect(responses.map(\.setCookie.count) == [50, 1, 1, 1])
        #expect(responses.first?.time == Timestamp(seconds: 1_795_000_000))
        #expect(responses.last?.setCookie == ["theme=dark; Domain=a.test; Path=/"])
    }

    @Test("Written JSON text is escaped where necessary")
    func escapes() {
        var writer = JSONWriter()
        writer.append(string: "\"\\/\u{08}\n\r\t\u{1F}\u{7F}é")
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #""\"\\/\u0008\n\r\t\u001F\u007Fé""#)
    }

    @Test("The exact end of a lifetime is written with the decimals that it needs")
    func decimals() {
        let texts = [1_000_000, 1_500_000, 1_000_001, 1_000_010].map { Timestamp(microseconds: $0).decimalSeconds }
        #expect(texts == ["1", "1.5", "1.000001", "1.00001"])
    }
}
