extension WebHost {
    /// The URL Standard's "ends in a number" check: the last label is digits or a `0x` number.
    @inline(__always)
    static func endsInNumber(_ bytes: Span<UInt8>) -> Bool {
        var end = bytes.count
        if end > 1, bytes[end - 1] == ASCII.dot { end -= 1 }
        // Most top-level domains end in a letter past `f`, which no number has.
        guard end > 0, ASCII.hexadecimalValue(bytes[end - 1]) != nil || bytes[end - 1] | 0x20 == 0x78
        else { return false }
        var start = end
        while start > 0, bytes[start - 1] != ASCII.dot { start -= 1 }
        guard start < end else { return false }
        var isDecimal = true
        for index in start..<end where !ASCII.isDigit(bytes[index]) { isDecimal = false }
        return isDecimal || parseIPv4Number(bytes, start..<end) != nil
    }

    /// The URL Standard's IPv4 parser: one to four decimal, octal or hexadecimal numbers, the last one filling what
    /// the others leave.
    static func parseIPv4(_ bytes: Span<UInt8>) -> UInt32? {
        var end = bytes.count
        if end > 1, bytes[end - 1] == ASCII.dot { end -= 1 }
        var numbers: [UInt64] = []
        var start = 0
        while start <= end {
            let dot = bytes.position(of: ASCII.dot, in: start..<end)
            guard numbers.count < 4, start < dot, let number = parseIPv4Number(bytes, start..<dot) else { return nil }
            numbers.append(number)
            start = dot + 1
        }
        guard let last = numbers.popLast(), numbers.allSatisfy({ $0 <= 255 }) else { return nil }
        guard last < UInt64(1) << UInt64(8 * (4 - numbers.count)) else { return nil }
        var address = UInt32(last)
        for (index, number) in numbers.enumerated() {
            address |= UInt32(number) << UInt32(8 * (3 - index))
        }
        return address
    }

    /// One number of an IPv4 address; values past 32 bits come back as a value that no part may have.
    private static func parseIPv4Number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var start = range.lowerBound
        var radix: UInt64 = 10
        if range.count >= 2, bytes[start] == ASCII.zero {
            if bytes[start + 1] | 0x20 == 0x78 {
                radix = 16
                start += 2
            } else {
                radix = 8
                start += 1
            }
        }
        var value: UInt64 = 0
        for index in start..<range.upperBound {
            guard let digit = ASCII.hexadecimalValue(bytes[index]), UInt64(digit) < radix else { return nil }
            value = min(value * radix + UInt64(digit), UInt64(1) << 40)
        }
        return value
    }

    static func serializeIPv4(_ address: UInt32) -> Octets {
        Octets("\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)")
    }
}
