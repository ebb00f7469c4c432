// Searches for bytes, eight at a time: most input is long strings, and a byte at a time would make a reader slow.

/// Eight bytes that are tested together.
///
/// A test returns the high bit of each byte that passes. Bytes of 0x80 and above pass ``bytes(atLeast:)`` alone.
@usableFromInline
package struct ByteWord {
    @inlinable @inline(__always)
    static var ones: UInt64 { 0x0101_0101_0101_0101 }
    @inlinable @inline(__always)
    static var highBits: UInt64 { 0x8080_8080_8080_8080 }

    @usableFromInline let bytes: UInt64

    /// The eight bytes from `offset` on, the first one lowest.
    @inlinable @inline(__always)
    package init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.bytes = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inlinable @inline(__always)
    init(bytes: UInt64) {
        self.bytes = bytes
    }

    /// The lowest byte that is less than `limit`, which is 0x80 at most; bytes above it may be marked by a borrow.
    @inlinable @inline(__always)
    package func bytes(below limit: UInt8) -> UInt64 {
        (bytes &- ByteWord.ones &* UInt64(limit)) & ~bytes & ByteWord.highBits
    }

    /// The lowest byte that is `byte`; bytes above it may be marked by a borrow.
    @inlinable @inline(__always)
    package func bytes(equalTo byte: UInt8) -> UInt64 {
        ByteWord(bytes: bytes ^ ByteWord.ones &* UInt64(byte)).bytes(below: 1)
    }

    /// The bits in which bytes differ from `byte`. Unlike the other tests, this one marks any bit of a byte.
    @inlinable @inline(__always)
    package func bits(otherThan byte: UInt8) -> UInt64 {
        bytes ^ ByteWord.ones &* UInt64(byte)
    }

    /// The bytes that are `limit` or more, which is from 1 to 0x80.
    @inlinable @inline(__always)
    package func bytes(atLeast limit: UInt8) -> UInt64 {
        (sevenBitSums(0x80 - limit) | bytes) & ByteWord.highBits
    }

    /// The bytes within `range`, whose bounds are between 1 and 0x7F.
    @inlinable @inline(__always)
    package func bytes(in range: ClosedRange<UInt8>) -> UInt64 {
        sevenBitSums(0x80 - range.lowerBound) & ~sevenBitSums(0x7F - range.upperBound) & ~bytes & ByteWord.highBits
    }

    /// The low seven bits of each byte and `number`: at most 0xFF, so that no byte carries into the next.
    @inlinable @inline(__always)
    func sevenBitSums(_ number: UInt8) -> UInt64 {
        (bytes & ~ByteWord.highBits) &+ ByteWord.ones &* UInt64(number)
    }
}

extension Span<UInt8> {
    /// The first position in `range` of a byte for which `isWanted` holds, or the end of the range. `marks` marks the
    /// first such byte of a word, and none before it.
    @inlinable @inline(__always)
    func position(
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

    /// The first position in `range` that holds `byte`, or the end of the range.
    @inlinable @inline(__always)
    package func position(of byte: UInt8, in range: Range<Int>) -> Int {
        position(in: range, where: { $0 == byte }, markedBy: { $0.bytes(equalTo: byte) })
    }

    /// The first position in `range` that holds either byte, or the end of the range.
    @inlinable @inline(__always)
    package func position(of first: UInt8, or second: UInt8, in range: Range<Int>) -> Int {
        position(
            in: range, where: { $0 == first || $0 == second },
            markedBy: { $0.bytes(equalTo: first) | $0.bytes(equalTo: second) })
    }

    /// The first position in `range` that holds `byte`.
    @inlinable @inline(__always)
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        let found = position(of: byte, in: range)
        return found < range.upperBound ? found : nil
    }

    /// The first position from `start` on that holds `byte`.
    @inlinable @inline(__always)
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        firstIndex(of: byte, in: start..<count)
    }

    /// The first position from `start` on that ends a plain run within a JSON string: a quote, a backslash or a
    /// control character. The number of bytes if there is none.
    @inlinable @inline(__always)
    package func endOfPlainText(from start: Int) -> Int {
        position(
            in: start..<count, where: { $0 == ASCII.quote || $0 == ASCII.backslash || $0 < ASCII.space },
            markedBy: {
                $0.bytes(equalTo: ASCII.quote) | $0.bytes(equalTo: ASCII.backslash) | $0.bytes(below: ASCII.space)
            })
    }

    /// The first position from `start` on that does not hold a space; the number of bytes if there is none.
    @inlinable @inline(__always)
    package func endOfSpaces(from start: Int) -> Int {
        position(in: start..<count, where: { $0 != ASCII.space }, markedBy: { $0.bits(otherThan: ASCII.space) })
    }

    /// Whether `isWanted` holds for some byte. `marks` marks something in every word that has such a byte, and may mark
    /// more.
    @inlinable @inline(__always)
    package func contains(where isWanted: (UInt8) -> Bool, markedBy marks: (ByteWord) -> UInt64) -> Bool {
        withUnsafeBytes { bytes in
            guard bytes.count >= 8 else { return bytes.contains(where: isWanted) }
            var marked: UInt64 = 0
            var index = 0
            while index < bytes.count - 8 {
                marked |= marks(ByteWord(bytes, at: index))
                index += 8
            }
            // The last eight, of which some were tested already.
            marked |= marks(ByteWord(bytes, at: bytes.count - 8))
            return marked != 0 && bytes.contains(where: isWanted)
        }
    }

    /// Whether some byte is a control character other than horizontal tab.
    @inlinable @inline(__always)
    package var containsControl: Bool {
        contains(where: ASCII.isControl, markedBy: { $0.bytes(below: ASCII.space) | $0.bytes(equalTo: 0x7F) })
    }

    /// Whether some byte is an upper-case ASCII letter.
    @inlinable @inline(__always)
    package var containsUppercase: Bool {
        contains(where: { $0 &- 0x41 < 26 }, markedBy: { $0.bytes(in: 0x41...0x5A) })
    }

    /// The number of line feeds.
    package var lineFeedCount: Int {
        var total = 0
        var position = 0
        while let next = firstIndex(of: ASCII.lineFeed, from: position) {
            total += 1
            position = next + 1
        }
        return total
    }
}
