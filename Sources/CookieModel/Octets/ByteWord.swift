/// Eight bytes that are looked at together.
///
/// A test answers with the high bit of each byte that passes. Bytes of 0x80 and above pass ``bytes(atLeast:)`` alone.
struct ByteWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits = ones << 7

    private let bytes: UInt64

    /// The eight bytes from `offset` on, the first one lowest.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.bytes = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private init(bytes: UInt64) {
        self.bytes = bytes
    }

    /// The lowest byte that is less than `limit`, which is 0x80 at most; bytes above it may be marked by a borrow.
    @inline(__always)
    func bytes(below limit: UInt8) -> UInt64 {
        (bytes &- ByteWord.ones &* UInt64(limit)) & ~bytes & ByteWord.highBits
    }

    /// The lowest byte that is `byte`, which is less than 0x80; bytes above it may be marked by a borrow.
    @inline(__always)
    func bytes(equalTo byte: UInt8) -> UInt64 {
        ByteWord(bytes: bytes ^ ByteWord.ones &* UInt64(byte)).bytes(below: 1)
    }

    /// The bytes that are `limit` or more, which is from 1 to 0x80.
    @inline(__always)
    func bytes(atLeast limit: UInt8) -> UInt64 {
        (sevenBitSums(0x80 - limit) | bytes) & ByteWord.highBits
    }

    /// The bytes within `range`, which lies between 1 and 0x7F.
    @inline(__always)
    func bytes(in range: ClosedRange<UInt8>) -> UInt64 {
        sevenBitSums(0x80 - range.lowerBound) & ~sevenBitSums(0x7F - range.upperBound) & ~bytes & ByteWord.highBits
    }

    /// The low seven bits of each byte and `number`: at most 0xFF, so that no byte carries into the next.
    @inline(__always)
    private func sevenBitSums(_ number: UInt8) -> UInt64 {
        (bytes & ~ByteWord.highBits) &+ ByteWord.ones &* UInt64(number)
    }
}
