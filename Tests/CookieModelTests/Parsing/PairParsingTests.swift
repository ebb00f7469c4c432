import Testing

@testable import CookieModel

@Suite("Name and value (section 5.6, first algorithm)")
struct PairParsingTests {
    @Test(
        "The pair ends at the first semicolon, the name at the first equals sign",
        arguments: [
            ("a=1", "a", "1"), ("a=1;", "a", "1"), ("a=1;b=2", "a", "1"), ("a=1; b=2;;", "a", "1"),
            ("a=b=c", "a", "b=c"), ("a==", "a", "="), ("a=;=", "a", ""), ("a=\"1;2\"", "a", "\"1"),
            ("a=1,b=2", "a", "1,b=2"), ("a\"=1", "a\"", "1"), ("a=\"1\"", "a", "\"1\""), ("a,b=1", "a,b", "1"),
        ] as [(Octets, Octets, Octets)])
    func pair(line: Octets, name: Octets, value: Octets) throws {
        let setCookie = try #require(SetCookie.parsed(line))
        #expect((setCookie.name, setCookie.value) == (name, value))
    }

    @Test(
        "Without an equals sign, or with nothing before it, there is a value and no name",
        arguments: [
            ("a", "a"), ("=a", "a"), (" = a", "a"), ("\t=\ta", "a"), ("==a", "=a"), ("= =a", "=a"), ("a;b=c", "a"),
            (" a b ", "a b"), ("=a=b", "a=b"), ("\"a\"", "\"a\""),
        ] as [(Octets, Octets)])
    func nameless(line: Octets, value: Octets) throws {
        let setCookie = try #require(SetCookie.parsed(line))
        #expect((setCookie.name, setCookie.value) == ("", value))
    }

    @Test(
        "Spaces and tabs go from both ends of name and value, and stay within",
        arguments: [
            (" a=1", "a", "1"), ("a =1", "a", "1"), ("a= 1", "a", "1"), ("a=1 ", "a", "1"), ("a=1 ;x", "a", "1"),
            ("\t a \t=\t 1 \t", "a", "1"), ("a b=1 2", "a b", "1 2"), (" a\tb = 1\t2 ", "a\tb", "1\t2"),
            ("a= ", "a", ""), (" a=\t;", "a", ""), ("a=\u{A0}1\u{A0}", "a", "\u{A0}1\u{A0}"),
        ] as [(Octets, Octets, Octets)])
    func whiteSpace(line: Octets, name: Octets, value: Octets) throws {
        let setCookie = try #require(SetCookie.parsed(line))
        #expect((setCookie.name, setCookie.value) == (name, value))
    }

    @Test("Every control character except the tab makes the line ignored, wherever it is")
    func controlCharacters() {
        for byte in UInt8.min...UInt8.max {
            let isControl = byte < 0x20 && byte != 0x09 || byte == 0x7F
            for (before, after) in [
                ("b", "a=1"), ("a=", "1"), ("a=1", ""), ("a=1; Pa", "th=/"), ("a=1; x=", "y"), ("a=1;", ""),
            ]
                as [(Octets, Octets)]
            {
                let line = before + [byte] + after
                #expect(SetCookie.ignored(line) == (isControl ? ["control-character"] : []), "\(line)")
            }
            #expect(SetCookie.ignored([byte] + "a=1").contains("control-character") == isControl)
        }
    }

    @Test(
        "Name and value have 4096 octets together at most, white space not counted",
        arguments: [
            (0, 4096, true), (0, 4097, false), (1, 4095, true), (1, 4096, false), (4096, 0, true), (4097, 0, false),
            (2048, 2048, true), (2048, 2049, false), (5000, 5000, false),
        ])
    func limit(name: Int, value: Int, fits: Bool) {
        for (before, between, after) in [("", "=", ""), (" ", " = ", "\t"), ("", "=", "; Path=/; Secure")]
            as [(Octets, Octets, Octets)]
        {
            let line = before + .filler(name) + between + .filler(value) + after
            #expect(SetCookie.ignored(line) == (fits ? [] : ["name-value-too-long"]))
        }
    }

    @Test("A nameless value of 4096 octets fits without an equals sign too", arguments: [4096, 4097])
    func namelessLimit(count: Int) {
        #expect(SetCookie.ignored(.filler(count)).isEmpty == (count <= 4096))
    }

    @Test(
        "A line with neither name nor value is ignored",
        arguments: [
            "", "=", ";", " ", "\t=\t", "; Path=/", "=; Secure", ";;;", "  ; a=1",
        ] as [Octets])
    func empty(line: Octets) {
        #expect(SetCookie.ignored(line) == ["empty-name-value"])
    }

    @Test("A line can be ignored for several reasons, and all are told")
    func severalReasons() {
        #expect(SetCookie.ignored("=; \u{0}") == ["control-character", "empty-name-value"])
        #expect(SetCookie.ignored("a\u{1}=" + .filler(4096)) == ["control-character", "name-value-too-long"])
    }

    @Test(
        "Octets past ASCII are neither checked nor changed",
        arguments: [
            [0xFF], [0x80, 0x9F], [0xC3], [0xC3, 0xA9], [0xED, 0xA0, 0x80], [0xEF, 0xBB, 0xBF], [0xC2, 0x85],
        ] as [[UInt8]])
    func octets(bytes: [UInt8]) throws {
        let setCookie = try #require(SetCookie.parsed(Octets(bytes) + "=" + Octets(bytes)))
        #expect((setCookie.name.bytes, setCookie.value.bytes) == (bytes, bytes))
    }

    @Test("Text that looks percent-encoded is not decoded")
    func percentEncoding() throws {
        let setCookie = try #require(SetCookie.parsed("a%3D=%3B%00; Path=/%61"))
        #expect((setCookie.name, setCookie.value) == ("a%3D", "%3B%00"))
        #expect(setCookie.path == .path("/%61"))
    }
}
