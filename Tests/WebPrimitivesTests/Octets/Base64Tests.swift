import Foundation
import TestSupport
import Testing

@testable import WebPrimitives

@Suite("Base64, hexadecimal and percent-encoding")
struct Base64Tests {
    @Test(
        "Base64 passes the vectors of RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func samples(_ text: String, _ expected: String) {
        #expect(String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self) == expected)
    }

    @Test("Base64 of any bytes is that of Foundation")
    func twin() {
        var generator = SeededGenerator(seed: 7)
        for count in 0..<100 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            #expect(Base64.text(bytes) == Data(bytes).base64EncodedString())
        }
    }

    @Test(
        "Base64 is decoded with complete padding or none, and without unused bits",
        arguments: [
            ("Zg==", "f"), ("Zg", "f"), ("Zm9vYg==", "foob"), ("", ""), ("Zg=", nil), ("Zh==", nil), ("Zh", nil),
            ("Zm9=", nil), ("Zm8==", nil), ("Zm9v====", nil), ("=", nil), ("====", nil), ("Z", nil), ("Zg==Zg==", nil),
            ("Zm9v\n", nil), ("Zm_v", nil),
        ] as [(String, String?)])
    func exact(_ text: String, _ expected: String?) {
        #expect(Base64.decode(text.utf8) == expected.map { Array($0.utf8) })
    }

    @Test("Hexadecimal text is read in pairs of digits, in either case")
    func hexadecimal() {
        #expect(Hexadecimal.text([0x00, 0x9F, 0xFA]) == "009ffa")
        #expect(Hexadecimal.bytes("009fFA") == [0x00, 0x9F, 0xFA])
        for text in ["0", "0g", "+1", " 1", "١١"] { #expect(Hexadecimal.bytes(text) == nil, "\(text)") }
    }

    @Test(
        "Only a percent sign and two hexadecimal digits are an escape",
        arguments: [("%41%c3%A9", "Aé"), ("%", "%"), ("%4", "%4"), ("%+1", "%+1"), ("%%41", "%A"), ("a+b", "a+b")])
    func percent(_ text: String, _ expected: String) {
        #expect(PercentEncoding.decode(Array(text.utf8).span) == Array(expected.utf8))
        let isExact = !text.contains("%") || text.hasPrefix("%41")
        #expect((PercentEncoding.decodeStrictly(Array(text.utf8).span) != nil) == isExact)
    }

    @Test(
        "Percent-encoded text is decoded as by Foundation, which rejects what is not UTF-8",
        arguments: [
            ("", ""), ("a b", "a b"), ("a%20b%2fc", "a b/c"), ("é%C3%a9", "éé"), ("%00", "\0"), ("a+b", "a+b"),
            ("%", nil), ("%4", nil), ("%g1", nil), ("%41%", nil), ("%FF", nil), ("%E2%82", nil), ("%ED%A0%80", nil),
            ("%C0%80", nil),
        ] as [(String, String?)])
    func percentText(_ text: String, _ expected: String?) {
        #expect(PercentEncoding.text(text) == expected)
        #expect(text.removingPercentEncoding == expected)
    }

    @Test("In a form, a plus sign is a space, and an escaped one is not")
    func plus() {
        #expect(PercentEncoding.text("a+b%2Bc", plusIsSpace: true) == "a b+c")
        #expect(PercentEncoding.text("a+b%2", plusIsSpace: true) == nil)
    }

    @Test("All octets are percent-encoded but letters, digits and those to keep, and are decoded again")
    func percentEncoding() {
        let octets: [UInt8] = Array("aZ09-._~/%é".utf8) + [0x00, 0xFF]
        let encoded = PercentEncoding.encode(octets)
        #expect(encoded == Array("aZ09%2D%2E%5F%7E%2F%25%C3%A9%00%FF".utf8))
        let readable = PercentEncoding.encode(octets, keeping: Array("-/".utf8))
        #expect(readable == Array("aZ09-%2E%5F%7E/%25%C3%A9%00%FF".utf8))
        #expect(PercentEncoding.decodeStrictly(encoded.span) == octets)
    }
}
