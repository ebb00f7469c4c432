// IPv4 and IPv6 addresses, in every spelling that a URL may have.
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

    /// The URL Standard's IPv4 parser: one to four decimal, octal or hexadecimal numbers, of which the last one fills
    /// the remaining bytes.
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

    /// The octets of the address, 4 or 16 of them; none for a domain.
    package var addressOctets: [UInt8] {
        octets.withSpan { bytes in
            switch kind {
            case .domain: []
            case .ipv4:
                WebHost.parseIPv4(bytes).map { address in
                    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: address >> $0) }
                }
                    ?? []
            case .ipv6:
                WebHost.parseIPv6(bytes.extracting(1..<(bytes.count - 1)))?.flatMap {
                    [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)]
                } ?? []
            }
        }
    }

    static func serializeIPv4(_ address: UInt32) -> Octets {
        Octets("\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)")
    }
}

extension WebHost {
    /// Parses `[…]` as the URL Standard's IPv6 parser does and serializes it in the short form of RFC 5952.
    static func parseIPv6Literal(_ bytes: Span<UInt8>) -> WebHost? {
        guard bytes.count >= 4, bytes[bytes.count - 1] == ASCII.rightBracket,
            let pieces = parseIPv6(bytes.extracting(1..<(bytes.count - 1)))
        else { return nil }
        return WebHost(canonical: Octets("[\(serializeIPv6(pieces))]"), kind: .ipv6)
    }

    private static func parseIPv6(_ bytes: Span<UInt8>) -> [UInt16]? {
        var pieces: [UInt16] = []
        var compression: Int?
        var position = 0
        if bytes[0] == ASCII.colon {
            guard bytes.count >= 2, bytes[1] == ASCII.colon else { return nil }
            position = 2
            compression = 0
        }
        while position < bytes.count {
            guard pieces.count < 8 else { return nil }
            if bytes[position] == ASCII.colon {
                guard compression == nil else { return nil }
                position += 1
                compression = pieces.count
                continue
            }
            let start = position
            var value: UInt16 = 0
            while position < bytes.count, position - start < 4, let digit = ASCII.hexadecimalValue(bytes[position]) {
                value = value << 4 | UInt16(digit)
                position += 1
            }
            if position < bytes.count, bytes[position] == ASCII.dot {
                guard position > start, pieces.count <= 6, let tail = parseEmbeddedIPv4(bytes, from: start)
                else { return nil }
                pieces += [UInt16(tail >> 16), UInt16(tail & 0xFFFF)]
                position = bytes.count
                break
            }
            if position < bytes.count {
                guard bytes[position] == ASCII.colon else { return nil }
                position += 1
                guard position < bytes.count else { return nil }
            }
            pieces.append(value)
        }
        if let compression {
            guard pieces.count < 8 else { return nil }
            pieces.insert(contentsOf: Array(repeating: 0, count: 8 - pieces.count), at: compression)
        }
        return pieces.count == 8 ? pieces : nil
    }

    /// Four decimal numbers without leading zeros, to the end.
    private static func parseEmbeddedIPv4(_ bytes: Span<UInt8>, from start: Int) -> UInt32? {
        var address: UInt32 = 0
        var position = start
        for part in 0..<4 {
            if part > 0 {
                guard position < bytes.count, bytes[position] == ASCII.dot else { return nil }
                position += 1
            }
            let first = position
            var value: UInt32 = 0
            while position < bytes.count, ASCII.isDigit(bytes[position]) {
                guard position == first || value != 0 else { return nil }
                value = value * 10 + UInt32(bytes[position] - ASCII.zero)
                guard value <= 255 else { return nil }
                position += 1
            }
            guard position > first else { return nil }
            address = address << 8 | value
        }
        return position == bytes.count ? address : nil
    }

    private static func serializeIPv6(_ pieces: [UInt16]) -> String {
        var longest = 0..<0
        var index = 0
        while index < 8 {
            let start = index
            while index < 8, pieces[index] == 0 { index += 1 }
            if index - start > max(longest.count, 1) { longest = start..<index }
            index += 1
        }
        func joined(_ range: Range<Int>) -> String {
            pieces[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        return longest.isEmpty ? joined(0..<8) : "\(joined(0..<longest.lowerBound))::\(joined(longest.upperBound..<8))"
    }
}
