import TestSupport
import Testing

@testable import WebPrimitives

@Suite("Octets")
struct OctetsTests {
    private func random(_ random: inout SeededGenerator, upTo count: Int = 20) -> [UInt8] {
        (0..<random.below(count)).map { _ in UInt8(random.below(256)) }
    }

    @Test("Bytes come back as they went in, from any place in their storage")
    func roundTrip() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<5000 {
            let (before, bytes, after) = (random(&generator), random(&generator), random(&generator))
            let slice = Octets(before + bytes + after, in: before.count..<(before.count + bytes.count))
            let whole = Octets(bytes)
            #expect(slice == whole)
            #expect(slice.bytes == bytes)
            #expect(Array(slice) == bytes)
            #expect(slice.hashValue == whole.hashValue)
            #expect(slice.withContiguousStorageIfAvailable { Array($0) } == bytes)
            #expect(slice.withSpan { span in span.indices.map { span[$0] } } == bytes)
            #expect(slice.utf8String?.utf8.elementsEqual(bytes) ?? (String(validating: bytes, as: UTF8.self) == nil))
        }
    }

    @Test("A slice of a slice is the slice")
    func slices() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let bytes = random(&generator, upTo: 30)
            let lower = generator.below(bytes.count + 1)
            let upper = lower + generator.below(bytes.count - lower + 1)
            let slice = Octets(bytes)[lower..<upper]
            #expect(slice.bytes == Array(bytes[lower..<upper]))
            let middle = slice.count / 2
            #expect(slice[0..<middle].bytes + slice[middle..<slice.count].bytes == slice.bytes)
        }
    }

    @Test("The order is that of unsigned bytes")
    func order() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            let (left, right) = (random(&generator, upTo: 4), random(&generator, upTo: 4))
            #expect((Octets(left) < Octets(right)) == left.lexicographicallyPrecedes(right))
            #expect((Octets(left) == Octets(right)) == (left == right))
        }
    }

    @Test("A range past the end is clamped")
    func clamped() {
        #expect(Octets([1, 2, 3], in: 1..<9).bytes == [2, 3])
        #expect(Octets([1, 2, 3], in: 5..<9).isEmpty)
        #expect(Octets([]).isEmpty)
    }

    @Test(
        "A description is for people: no control character gets out",
        arguments: [
            ([0x61], "a"), ([0x00], "\\x00"), ([0x1B, 0x5B], "\\x1B["), ([0x7F], "\\x7F"), ([0xC3, 0xA9], "é"),
            ([0xFF], "\\xFF"), ([0x61, 0xFF, 0x0A], "a\\xFF\\x0A"), ([0xC2, 0x85], "\\x85"), ([], ""),
            (Array("a\u{202E}b".utf8), "a\\xE2\\x80\\xAEb"),
            (Array("\u{2066}\u{2069}".utf8), "\\xE2\\x81\\xA6\\xE2\\x81\\xA9"),
            (Array("\u{61C}\u{200F}".utf8), "\\xD8\\x9C\\xE2\\x80\\x8F"), (Array("\u{2028}".utf8), "\\xE2\\x80\\xA8"),
            (Array("שלום, 日本".utf8), "שלום, 日本"),
        ] as [([UInt8], String)])
    func description(bytes: [UInt8], text: String) {
        #expect(Octets(bytes).description == text)
    }

    @Test(
        "White space is trimmed at both ends, and nowhere else",
        arguments: [
            ("", ""), (" ", ""), ("\r\n\t ", ""), ("a", "a"), (" a b\t", "a b"), ("\na\n\nb\r\n", "a\n\nb"),
            ("\u{A0}a\u{2028}", "a"), ("\u{200B}a", "\u{200B}a"),
        ])
    func trimming(text: String, trimmed: String) {
        #expect(text.trimmingWhitespace == trimmed)
    }
}
