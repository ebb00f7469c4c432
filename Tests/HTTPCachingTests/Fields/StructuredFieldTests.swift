import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Structured fields")
struct StructuredFieldTests {
    @Test(
        "Lists of strings",
        arguments: [
            (["\"a\", \"b\""], ["a", "b"]), (["\"a\"", "\"b\""], ["a", "b"]), (["\"a\\\"\\\\\""], ["a\"\\"]),
            (["\"a\";x=1;y;z=\"q\" ,\t\"b\""], ["a", "b"]), (["  \"a\"  "], ["a"]), (["\"\""], [""]),
            ([], []), ([""], []), (["a"], []), (["\"a\","], []), (["\"a\" \"b\""], []), (["\"a"], []),
            (["\"a\\b\""], []),
            (["\"ü\""], []), (["\"a\", 1"], []), (["\"a\";X=1"], []), (["\"a\"", ""], []),
        ] as [([Octets], [Octets])])
    func strings(lines: [Octets], strings: [Octets]) {
        #expect(StructuredField.strings(lines) == strings)
    }

    @Test(
        "Every type of item is recognized, and every error",
        arguments: [
            ("1", true), ("-999999999999999", true), ("1000000000000000", false), ("1.5", true), ("1.", false),
            ("1.2345", false), ("1234567890123.1", false), ("-", false), ("+1", false), ("tok*en:/x", true),
            ("*a", true),
            ("?1", true), ("?2", false), ("?", false), (":YQ==:", true), (":YQ==", false), (":a-b:", false),
            ("@1659578233", true), ("@1.5", false), ("%\"f%c3%bc\"", true), ("%\"%c3\"", false), ("%\"%C3%BC\"", false),
            ("%\"a", false), ("(\"a\" 1 tok);q=1", true), ("()", true), ("( )", true), ("(\"a\"\"b\")", false),
            ("(\"a\"", false), ("((a))", false), ("a;b;c=?0", true), ("a; b", true), ("a ;b", false), ("a;=1", false),
            ("a, b,", false), (", a", false), ("a,,b", false), ("{}", false),
        ] as [(Octets, Bool)])
    func items(text: Octets, isValid: Bool) {
        #expect((StructuredField.list([text]) != nil) == isValid)
    }

    @Test("A dictionary has keys of small letters, and the last value of each counts")
    func dictionaries() {
        let value = StructuredField.dictionary(["a=1, b, c=(\"x\" y), a=?0, *d.-_=\"\""])
        #expect(
            value == [
                "a": .item(.boolean(false)), "b": .item(.boolean(true)),
                "c": .innerList([.string("x"), .token("y")]), "*d.-_": .item(.string("")),
            ])
        #expect(StructuredField.dictionary(["b;x=1, c"])?.count == 2)
        for text: Octets in ["A=1", "a=", "a=1 b=2", "1=a", "a,", "\"a\"=1"] {
            #expect(StructuredField.dictionary([text]) == nil, "\(text)")
        }
        #expect(StructuredField.dictionary([]) == [:])
    }

    @Test("A field with too many members counts as absent")
    func bounded() {
        let members = Array(repeating: "\"a\"", count: 1001).joined(separator: ",")
        #expect(StructuredField.strings([Octets(members)]).isEmpty)
        #expect(StructuredField.strings([Octets(members.dropLast(4).description)]).count == 1000)
    }
}

@Suite("No-Vary-Search")
struct URLVariationTests {
    @Test(
        "URLs are equivalent if only what does not count differs",
        arguments: [
            ("", "?a=1", "?a=1", true), ("", "?a=1", "?a=2", false), ("key-order", "?a=1&b=2", "?b=2&a=1", true),
            ("key-order", "?a=1&a=2", "?a=2&a=1", false), ("key-order", "?a=1&b=2", "?a=2&b=1", false),
            ("params=(\"u\")", "?a=1&u=2", "?a=1", true), ("params=(\"u\")", "?u=1&a=1", "?a=1&u=2", true),
            ("params=(\"u\")", "?a=1&u=2", "?a=2", false), ("params=(\"u\")", "?a=1&b=2", "?b=2&a=1", false),
            ("params=(\"u\"), key-order", "?a=1&u=3&b=2", "?b=2&a=1", true),
            ("except=(\"p\")", "?p=1&x=2", "?p=1", true),
            ("except=(\"p\")", "?p=1", "?p=2", false), ("except=()", "?a=1", "?b=2", true),
            ("params=()", "?a=1", "?a=2", false),
            // Keys and parameters are decoded.
            ("params=(\"%C3%A9+%E6%B0%97\")", "?é 気=1", "?%C3%A9+%E6%B0%97=4", true),
            ("key-order", "", "?", true), ("key-order", "?a=x", "?%61=%78", true),
            ("key-order", "?a=x&&&&", "?a=x", true),
            ("key-order", "?a=", "?a", true), ("key-order", "?a=%20", "?a=+", true),
            ("key-order", "?a=%f6", "?a=%ef%bf%bd", true),
            // Invalid fields count for nothing.
            ("key-order=\"x\"", "?a=1&b=2", "?b=2&a=1", false), ("params=\"u\"", "?u=1", "?u=2", false),
            ("params=(u)", "?u=1", "?u=2", false), ("params=?1", "?u=1", "?u=2", false),
            ("params", "?u=1", "?u=2", false),
            ("params=(\"u\"), except=(\"v\")", "?u=1", "?u=2", false), ("params=(\"u\"", "?u=1", "?u=2", false),
            ("key-order=?0", "?a=1&b=2", "?b=2&a=1", false), ("x, key-order", "?a=1&b=2", "?b=2&a=1", true),
        ] as [(Octets, String, String, Bool)])
    func equivalence(value: Octets, first: String, second: String, isEquivalent: Bool) throws {
        let left = try RequestURL("https://shop.example/a" + first)
        let right = try RequestURL("https://shop.example/a" + second)
        let variation = URLVariation(value.isEmpty ? [:] : ["No-Vary-Search": value])
        #expect(variation.areEquivalent(left, right) == isEquivalent)
        #expect(variation.areEquivalent(right, left) == isEquivalent)
        let other = try RequestURL("https://shop.example/b" + first)
        #expect(!variation.areEquivalent(left, other))
    }
}
