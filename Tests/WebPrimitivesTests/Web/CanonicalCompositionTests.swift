import TestSupport
import Testing

@testable import WebPrimitives

@Suite("Normalization form C")
struct CanonicalCompositionTests {
    private static func composed(_ text: String) -> String {
        String(String.UnicodeScalarView(CanonicalComposition.compose(Array(text.unicodeScalars))))
    }

    @Test(
        "Marks are put in order and composed",
        arguments: [
            ("u\u{308}", "ü"), ("a\u{302}\u{323}", "\u{1EAD}"), ("â\u{323}", "\u{1EAD}"), ("ạ\u{302}", "\u{1EAD}"),
            ("e\u{327}\u{301}", "\u{229}\u{301}"), ("a\u{301}\u{308}", "á\u{308}"), ("a\u{308}\u{301}", "ä\u{301}"),
            ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("\u{301}a", "\u{301}a"), ("", ""), ("ü", "ü"),
            ("か\u{3099}", "が"), ("\u{B92}\u{BD7}", "\u{B94}"), ("\u{1100}\u{1161}\u{11A8}", "각"), ("가\u{11A8}", "각"),
            ("각\u{11A8}", "각\u{11A8}"), ("\u{1100}\u{1100}\u{1161}", "\u{1100}가"), ("가\u{11A7}", "가\u{11A7}"),
        ])
    func composition(text: String, composed: String) {
        #expect(Array(Self.composed(text).unicodeScalars) == Array(composed.unicodeScalars))
        #expect(Array(Self.composed(composed).unicodeScalars) == Array(composed.unicodeScalars))
    }

    @Test("Text in any canonically equivalent form is composed to the same")
    func equivalence() {
        var random = SeededGenerator(seed: 15)
        let alphabet: [Unicode.Scalar] = Array(
            "aeqâạǘ각가か\u{1100}\u{1161}\u{11A8}\u{301}\u{302}\u{308}\u{323}\u{338}\u{3099}"
        )
        .flatMap(\.unicodeScalars)
        for _ in 0..<4_000 {
            let text = String(String.UnicodeScalarView((0..<random.below(8)).map { _ in random.pick(alphabet) }))
            let composed = Self.composed(text)
            // Strings are equal if they are canonically equivalent.
            guard composed == text, Self.composed(composed).unicodeScalars.elementsEqual(composed.unicodeScalars)
            else {
                Issue.record("\(text.debugDescription): \(composed.debugDescription)")
                return
            }
        }
    }
}

@Suite("The table of Unicode's data")
struct UnicodeTableTests {
    @Test("No row is out of order, and every character has one")
    func order() {
        let tables = [UnicodeTable.characters, UnicodeTable.decompositions, UnicodeTable.compositions]
        for table in tables {
            let count = table.lastRow(upTo: .max) + 1
            #expect(count > 500)
            for row in 1..<count { #expect(table[row - 1, 0] <= table[row, 0]) }
        }
        #expect(UnicodeTable.characters[0, 0] == 0)
    }

    @Test("A mapping consists of valid characters and is composed")
    func mappings() {
        var (mappedCount, validCount) = (0, 0)
        for value in UInt32(0)...0x10_FFFF {
            var mapping: [Unicode.Scalar] = []
            guard let scalar = Unicode.Scalar(value), UnicodeTable.appendMapping(of: scalar, to: &mapping) else {
                continue
            }
            if mapping == [scalar] { validCount += 1 } else { mappedCount += 1 }
            guard mapping.allSatisfy({ UnicodeTable.properties(of: $0) != nil }),
                CanonicalComposition.compose(mapping) == mapping
            else {
                Issue.record("U+\(String(value, radix: 16))")
                continue
            }
        }
        // Those of Unicode 17, with the four deviations.
        #expect((validCount, mappedCount) == (152_969, 6_671))
    }
}
