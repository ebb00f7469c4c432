extension Span<UInt8> {
    /// The first position in `range` that holds `byte`, or the end of the range. Looks at eight bytes at a time.
    @inline(__always)
    func position(of byte: UInt8, in range: Range<Int>) -> Int {
        position(in: range, where: { $0 == byte }, markedBy: { $0.bytes(equalTo: byte) })
    }

    /// The first position in `range` that holds either byte, or the end of the range. Looks at eight bytes at a time.
    @inline(__always)
    func position(of first: UInt8, or second: UInt8, in range: Range<Int>) -> Int {
        position(
            in: range, where: { $0 == first || $0 == second },
            markedBy: { $0.bytes(equalTo: first) | $0.bytes(equalTo: second) })
    }

    /// The first position in `range` of a byte for which `isWanted` holds, or the end of the range. `marks` marks the
    /// first such byte of a word, and none before it.
    @inline(__always)
    private func position(
        in range: Range<Int>, where isWanted: (UInt8) -> Bool, markedBy marks: (ByteWord) -> UInt64
    ) -> Int {
        withUnsafeBytes { bytes in
            var index = range.lowerBound
            while index + 8 <= range.upperBound {
                let marked = marks(ByteWord(bytes, at: index))
                if marked != 0 { return index + marked.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < range.upperBound, !isWanted(bytes[index]) { index += 1 }
            return index
        }
    }

    /// Whether `isWanted` holds for some byte. `marks` marks something in every word that has such a byte, and may mark
    /// more. Looks at eight bytes at a time.
    @inline(__always)
    func contains(where isWanted: (UInt8) -> Bool, markedBy marks: (ByteWord) -> UInt64) -> Bool {
        withUnsafeBytes { bytes in
            guard bytes.count >= 8 else { return bytes.contains(where: isWanted) }
            var marked: UInt64 = 0
            var index = 0
            while index < bytes.count - 8 {
                marked |= marks(ByteWord(bytes, at: index))
                index += 8
            }
            // The last eight, of which some were looked at already.
            marked |= marks(ByteWord(bytes, at: bytes.count - 8))
            return marked != 0 && bytes.contains(where: isWanted)
        }
    }

    /// Whether some byte is a control character other than horizontal tab.
    @inline(__always)
    var containsControl: Bool {
        contains(where: ASCII.isControl, markedBy: { $0.bytes(below: ASCII.space) | $0.bytes(equalTo: 0x7F) })
    }

    /// Whether some byte is an upper-case ASCII letter.
    @inline(__always)
    var containsUppercase: Bool {
        contains(where: { $0 &- 0x41 < 26 }, markedBy: { $0.bytes(in: 0x41...0x5A) })
    }
}
