import Foundation
import Testing

@testable import WebPrimitives

@Suite("Hosts in their one canonical form")
struct WebHostTests {
    @Test(
        "A domain is lower-case ASCII",
        arguments: [
            ("example.com", "example.com"), ("EXAMPLE.Com", "example.com"), ("localhost", "localhost"),
            ("a_b.example.com", "a_b.example.com"),
            ("-a.example.com", "-a.example.com"), ("a-.example.com", "a-.example.com"),
            ("r3---sn.example.com", "r3---sn.example.com"),
            ("example.com.", "example.com."), ("a..b", "a..b"), (".a", ".a"), (".", "."),
            ("*.example.com", "*.example.com"),
            ("a!$&'()*+,;=~`{}\"b", "a!$&'()*+,;=~`{}\"b"), ("1.2.3.4a", "1.2.3.4a"), ("0x7g", "0x7g"),
            ("1.2.3..", "1.2.3.."), ("0xx", "0xx"), ("1.2.3.0xg", "1.2.3.0xg"),
            (String(repeating: "a", count: 64) + ".com", String(repeating: "a", count: 64) + ".com"),
        ])
    func domain(text: String, canonical: String) throws {
        let host = try #require(WebHost(text))
        #expect((host.description, host.kind) == (canonical, .domain))
        #expect(WebHost(canonical) == host)
        #expect(WebHost(stored: host.octets) == host)
    }

    @Test(
        "Percent-encoding in a host is decoded before anything else",
        arguments: [
            ("ex%61mple.com", "example.com"), ("EX%41MPLE.com", "example.com"), ("example%2Ecom", "example.com"),
            ("b%C3%BCcher.de", "xn--bcher-kva.de"),
            ("B%c3%9CCHER.de", "xn--bcher-kva.de"), ("%31%32%37.1", "127.0.0.1"), ("%2e", "."),
            ("%30x7f.1", "127.0.0.1"), ("%78n--bcher-kva.de", "xn--bcher-kva.de"),
        ])
    func percentDecoding(text: String, canonical: String) {
        #expect(WebHost(text)?.description == canonical)
    }

    @Test(
        "Text that is not a host has no canonical form",
        arguments: [
            "", " ", "a b", "a\tb", "a\u{0}", "a\u{7F}", "a#b", "a/b", "a:b", "a<b", "a>b", "a?b", "a@b", "a[b", "a\\b",
            "a]b", "a^b", "a|b", "a%b",
            "%", "%zz", "a%2Fb", "a%00b", "a%23b", "a%25b", "%20", "%ff", "%C3", "a%5Bb", "\u{AD}", "\u{200B}", "ü%2F",
            "ü b", "ü#", "\u{FF05}", "a\u{FF0F}b", "\u{FFFD}", "\u{FFFF}",
        ])
    func forbidden(text: String) {
        #expect(WebHost(text) == nil)
    }

    @Test(
        "Octets that are no UTF-8 are no host",
        arguments: [[0xFF], [0xC3], [0x61, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func notUTF8(bytes: [UInt8]) {
        #expect(WebHost(Octets(bytes)) == nil)
    }

    @Test("A host made of parts is the host itself")
    func storage() throws {
        let line: Octets = "x=www.EXAMPLE.com!"
        let host = try #require(WebHost(line[2..<17]))
        #expect(host == WebHost("www.example.com"))
        #expect(Set([host, try #require(WebHost("www.example.com"))]).count == 1)
    }
}

@Suite("International names")
struct InternationalHostTests {
    @Test(
        "U-labels become A-labels, by UTS 46 without the transitional mappings",
        arguments: [
            ("bücher.de", "xn--bcher-kva.de"), ("BÜCHER.DE", "xn--bcher-kva.de"),
            ("bu\u{308}cher.de", "xn--bcher-kva.de"),
            ("faß.de", "xn--fa-hia.de"), ("FAẞ.de", "xn--fa-hia.de"), ("食狮.中国", "xn--85x722f.xn--fiqs8s"),
            ("σς.gr", "xn--3xab.gr"),
            ("☃.net", "xn--n3h.net"), ("💩.la", "xn--ls8h.la"), ("ＥＸＡＭＰＬＥ.com", "example.com"),
            ("www。食狮．公司｡cn", "www.xn--85x722f.xn--55qx5d.cn"),
            ("ex\u{AD}ample.com", "example.com"), ("①②⑦.1", "127.0.0.1"), ("０x7f.1", "127.0.0.1"), ("℡.com", "tel.com"),
            ("İ.com", "xn--i-9bb.com"),
            ("क्\u{200D}ष.com", "xn--11b2ezcw70k.com"), ("א1.com", "xn--1-zhc.com"), ("bücher.de.", "xn--bcher-kva.de."),
            ("_a.bücher.de", "_a.xn--bcher-kva.de"),
            ("a..bücher.de", "a..xn--bcher-kva.de"), ("-a.bücher.de", "-a.xn--bcher-kva.de"),
            ("ab--c.bücher.de", "ab--c.xn--bcher-kva.de"), (".ü", ".xn--tda"), ("。", "."),
        ])
    func toASCII(text: String, canonical: String) {
        #expect(WebHost(text)?.description == canonical)
        #expect(WebHost(canonical)?.description == canonical)
    }

    @Test(
        "ASCII is only put in lower case, whatever its labels claim to be",
        arguments: [
            ("xn--bcher-kva.de", "xn--bcher-kva.de"), ("XN--BCHER-KVA.de", "xn--bcher-kva.de"),
            ("www.xn--fiqs8s", "www.xn--fiqs8s"), ("xn--fa-hia.de.", "xn--fa-hia.de."), ("axn--b", "axn--b"),
            ("xn-a", "xn-a"), ("xn--", "xn--"), ("xn--a.de", "xn--a.de"), ("XN--0", "xn--0"), ("xn--abc-", "xn--abc-"),
            ("xn--zn7c.com", "xn--zn7c.com"), ("xn--8i7caa", "xn--8i7caa"), ("%78n--A", "xn--a"),
            ("xn--99999999999", "xn--99999999999"), ("xn--1ug.example", "xn--1ug.example"),
        ])
    func asciiALabels(text: String, canonical: String) {
        #expect(WebHost(text)?.description == canonical)
    }

    @Test(
        "Beside a U-label, an A-label has to be one",
        arguments: [
            ("xn--bcher-kva.ü", "xn--bcher-kva.xn--tda"), ("XN--FA-HIA。de", "xn--fa-hia.de"), ("ｘn--tda", "xn--tda"),
            ("xn--a.ü", nil), ("xn--.ü", nil), ("ü.xn--abc-", nil), ("xn--zn7c。com", nil), ("xn--8i7caa.ü", nil),
            ("%78n--a.ü", nil), ("xn--ü", nil), ("ｘn--a", nil), ("xn--1ug.ü", nil), ("xn--bcher-kva-.ü", nil),
        ])
    func mixedALabels(text: String, canonical: String?) {
        #expect(WebHost(text)?.description == canonical)
    }

    @Test(
        "Hyphens, lengths and empty labels are no reason to refuse",
        arguments: [
            ("-ü", "xn----eha"), ("ü-", "xn----dha"), ("a†--", "xn--a---kp0a"), ("ü--", "xn-----wka"),
            ("x-.ß", "x-.xn--zca"), ("x..ß", "x..xn--zca"), ("ü.", "xn--tda."), ("ü..", "xn--tda.."),
            (String(repeating: "a", count: 70) + ".ü", String(repeating: "a", count: 70) + ".xn--tda"),
            (String(repeating: "a", count: 70) + "ü", "xn--" + String(repeating: "a", count: 70) + "-tih"),
            (String(repeating: "a.", count: 200) + "ü", String(repeating: "a.", count: 200) + "xn--tda"),
        ])
    func lengths(text: String, canonical: String) {
        #expect(WebHost(text)?.description == canonical)
    }

    @Test(
        "The mapping is that of UTS 46, where case folding and compatibility alone would not do",
        arguments: [
            ("ς", "xn--3xa"), ("ϲ", "xn--4xa"), ("ẞ", "xn--zca"), ("ı", "xn--cfa"), ("ꭰᏸ", "xn--58d4n"),
            ("\u{1E96}", "xn--ckg"), ("ſ", "s"), ("㎈", "cal"), ("\u{2F868}", "xn--snl"), ("\u{1CCD6}", "a"),
            ("\u{A7F1}", "s"), ("\u{1FB3}", "xn--mxaq"), ("a\u{34F}b\u{180E}\u{200B}\u{FE0F}", "ab"), ("ﾡ", "xn--ypd"),
            ("<\u{338}", "xn--gdh"), (">\u{AD}\u{338}", "xn--hdh"), ("%3C%CC%B8", "xn--gdh"), ("≠", "xn--1ch"),
            ("가\u{11A8}", "xn--p39a"), ("\u{10041}\u{308}", "xn--ssa3670k"), ("\u{105D2}\u{307}", "xn--ev8c"),
        ])
    func mapping(text: String, canonical: String) {
        #expect(WebHost(text)?.description == canonical)
    }

    @Test(
        "Characters that UTS 46 disallows are rejected",
        arguments: [
            "a\u{200D}b", "\u{301}a", "⒈com", "\u{E000}", "אa.com", "1א.com", "a\u{2FF0}", "\u{1F}ü", "\u{200E}ü",
            "ü\u{E0041}", "ü\u{2065}", "a…b", "ü⒈", "\u{378}", "a\u{200C}b", "1a.א", "a-.א",
            "a\".א", "א\u{A0}",
        ])
    func disallowed(text: String) {
        #expect(WebHost(text) == nil)
    }

    @Test(
        "Foundation's own URL says the same, where it says anything",
        arguments: [
            "bücher.de", "faß.de", "食狮.中国", "σς.gr", "💩.la", "ＥＸＡＭＰＬＥ.com", "www.食狮.公司.cn", "א1.com",
        ])
    func foundation(text: String) throws {
        var components = URLComponents()
        components.scheme = "https"
        components.host = text
        #expect(components.encodedHost == WebHost(text)?.description)
    }
}
