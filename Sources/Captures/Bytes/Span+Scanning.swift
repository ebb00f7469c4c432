// Looking for a byte, eight at a time: captures are mostly long strings and long runs of spaces, and a byte at a time
// is what makes a reader slow.
//
// In each test below the lowest bit that is set belongs to the first byte that matches. (A borrow can set bits of
// bytes above a match, never of bytes below the first one.)

private let lows: UInt64 = 0x0101_0101_0101_0101
private let highs: UInt64 = 0x8080_8080_8080_8080

extension Span<UInt8> {
    /// Eight bytes, the one at `position` lowest.
    @inline(__always)
    private func word(at position: Int) -> UInt64 {
        UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// The first position from `start` on that holds `byte`.
    @inline(__always)
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        let pattern = lows &* UInt64(byte)
        var position = start
        while position &+ 8 <= count {
            let difference = word(at: position) ^ pattern
            let found = (difference &- lows) & ~difference & highs
            if found != 0 { return position &+ found.trailingZeroBitCount >> 3 }
            position &+= 8
        }
        while position < count {
            if self[position] == byte { return position }
            position &+= 1
        }
        return nil
    }

    /// The first position from `start` on that ends a plain run within a JSON string: a quote, a backslash or a
    /// control character. The number of bytes where there is none.
    @inline(__always)
    func endOfPlainText(from start: Int) -> Int {
        let quotes = lows &* UInt64(ASCII.quote)
        let backslashes = lows &* UInt64(ASCII.backslash)
        let spaces = lows &* UInt64(ASCII.space)
        var position = start
        while position &+ 8 <= count {
            let word = word(at: position)
            let quote = word ^ quotes
            let backslash = word ^ backslashes
            let found =
                ((quote &- lows) & ~quote | (backslash &- lows) & ~backslash | (word &- spaces) & ~word) & highs
            if found != 0 { return position &+ found.trailingZeroBitCount >> 3 }
            position &+= 8
        }
        while position < count {
            let byte = self[position]
            if byte == ASCII.quote || byte == ASCII.backslash || byte < ASCII.space { break }
            position &+= 1
        }
        return position
    }

    /// The first position from `start` on that does not hold a space; the number of bytes where there is none.
    @inline(__always)
    func endOfSpaces(from start: Int) -> Int {
        let spaces = lows &* UInt64(ASCII.space)
        var position = start
        while position &+ 8 <= count {
            let difference = word(at: position) ^ spaces
            if difference != 0 { return position &+ difference.trailingZeroBitCount >> 3 }
            position &+= 8
        }
        while position < count, self[position] == ASCII.space { position &+= 1 }
        return position
    }
}
