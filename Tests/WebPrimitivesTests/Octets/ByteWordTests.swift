import TestSupport
import Testing

@testable import WebPrimitives

@Suite("Eight bytes at a time")
struct ByteWordTests {
    private func word(_ bytes: [UInt8]) -> ByteWord {
        bytes.withUnsafeBytes { ByteWord($0, at: 0) }
    }

    /// The place of the lowest high bit; 8 where there is none.
    private func firstMark(_ marks: UInt64) -> Int {
        #expect(marks & 0x7F7F_7F7F_7F7F_7F7F == 0)
        return marks.trailingZeroBitCount / 8
    }

    @Test("A test marks the first byte that passes, and none before it")
    func tests() {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<20_000 {
            let limit = UInt8(1 + random.below(0x80))
            let upper = UInt8(Int(limit) + random.below(0x81 - Int(limit)))
            // Bytes next to the limits tell the most.
            let bytes = (0..<8).map { _ in
                random.once(in: 4)
                    ? UInt8(random.below(256)) : random.pick([limit, upper]) &+ UInt8(random.below(3)) &- 1
            }
            func first(_ passes: (UInt8) -> Bool) -> Int { bytes.firstIndex(where: passes) ?? 8 }
            #expect(firstMark(word(bytes).bytes(below: limit)) == first { $0 < limit })
            #expect(firstMark(word(bytes).bytes(equalTo: limit)) == first { $0 == limit })
            #expect(firstMark(word(bytes).bytes(atLeast: limit)) == first { $0 >= limit })
            if upper < 0x80 {
                #expect(firstMark(word(bytes).bytes(in: limit...upper)) == first { (limit...upper).contains($0) })
            }
        }
    }

    @Test("A search has the result of a search byte by byte, at any length")
    func searches() {
        var random = SeededGenerator(seed: 22)
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(28)).map { _ in
                UInt8(random.pick([0x1F, 0x41, 0x5A, 0x7F, 0x09, 0x20, 0x5B, 0xC1]))
            }
            let lower = random.below(bytes.count + 1)
            let range = lower..<(lower + random.below(bytes.count - lower + 1))
            #expect(bytes.span.position(of: 0x41, in: range) == bytes[range].firstIndex(of: 0x41) ?? range.upperBound)
            #expect(
                bytes.span.position(of: 0x41, or: 0x7F, in: range)
                    == bytes[range].firstIndex { $0 == 0x41 || $0 == 0x7F } ?? range.upperBound)
            let slice = Array(bytes[range])
            #expect(slice.span.containsControl == slice.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
            #expect(slice.span.containsUppercase == slice.contains { (0x41...0x5A).contains($0) })
        }
    }
}
