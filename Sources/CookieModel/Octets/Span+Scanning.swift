extension Span<UInt8> {
    /// The first position in `range` that holds `byte`, or the end of the range. Looks at eight bytes at a time.
    @inline(__always)
    func position(of byte: UInt8, in range: Range<Int>) -> Int {
        withUnsafeBytes { bytes in
            let pattern = UInt64(byte) &* WordScan.ones
            var index = range.lowerBound
            while index + 8 <= range.upperBound {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let zeros = WordScan.zeroBytes(word ^ pattern)
                if zeros != 0 { return index + zeros.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < range.upperBound, bytes[index] != byte { index += 1 }
            return index
        }
    }

    /// The first position in `range` that holds either byte, or the end of the range. Looks at eight bytes at a time.
    @inline(__always)
    func position(of first: UInt8, or second: UInt8, in range: Range<Int>) -> Int {
        withUnsafeBytes { bytes in
            let (firstPattern, secondPattern) = (UInt64(first) &* WordScan.ones, UInt64(second) &* WordScan.ones)
            var index = range.lowerBound
            while index + 8 <= range.upperBound {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let zeros = WordScan.zeroBytes(word ^ firstPattern) | WordScan.zeroBytes(word ^ secondPattern)
                if zeros != 0 { return index + zeros.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < range.upperBound, bytes[index] != first, bytes[index] != second { index += 1 }
            return index
        }
    }
}

/// Looks at the eight bytes of a word at once.
private enum WordScan {
    static let ones: UInt64 = 0x0101_0101_0101_0101

    /// The high bit of the lowest zero byte; bytes above it may be marked by a borrow, those below never are.
    @inline(__always)
    static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- ones) & ~word & (ones << 7)
    }
}
