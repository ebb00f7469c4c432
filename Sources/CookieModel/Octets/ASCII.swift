/// The bytes and byte classes that the grammars of this module name.
enum ASCII {
    static let tab: UInt8 = 0x09
    static let space: UInt8 = 0x20
    static let percent: UInt8 = 0x25
    static let hyphen: UInt8 = 0x2D
    static let dot: UInt8 = 0x2E
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D
    static let questionMark: UInt8 = 0x3F
    static let at: UInt8 = 0x40
    static let leftBracket: UInt8 = 0x5B
    static let backslash: UInt8 = 0x5C
    static let rightBracket: UInt8 = 0x5D
    static let numberSign: UInt8 = 0x23

    /// Whether `byte` is a control character other than horizontal tab (section 5.6, step 1).
    @inline(__always)
    static func isControl(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != tab) || byte == 0x7F
    }

    @inline(__always)
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == tab
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- zero < 10
    }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26
    }

    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// The value of a hexadecimal digit, `nil` for any other byte.
    @inline(__always)
    static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- zero }
        let letter = byte | 0x20
        return letter &- 0x61 < 6 ? letter &- 0x57 : nil
    }
}

extension Octets {
    /// The same octets with ASCII letters in lower case; shared where they are already.
    var lowercased: Octets {
        withSpan { $0.containsUppercase } ? Octets(map(ASCII.lowercased)) : self
    }
}

extension Span<UInt8> {
    /// Whether these bytes are `text`, letters compared without case. `text` must be lower case.
    @inline(__always)
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefixIgnoringCase(text)
    }

    /// Whether these bytes begin with `text`, letters compared without case. `text` must be lower case.
    @inline(__always)
    func hasPrefixIgnoringCase(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where ASCII.lowercased(self[index]) != text.utf8Start[index] {
            return false
        }
        return true
    }

    /// The range within `range` that is left when white space (space and tab) is cut from both ends.
    @inline(__always)
    func trimmingWhiteSpace(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, ASCII.isWhiteSpace(self[lower]) { lower += 1 }
        while upper > lower, ASCII.isWhiteSpace(self[upper - 1]) { upper -= 1 }
        return lower..<upper
    }

    /// The first position in `range` that holds `byte`.
    @inline(__always)
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        let found = position(of: byte, in: range)
        return found < range.upperBound ? found : nil
    }

    /// Whether the bytes from `start` on are those of `other`, which must not reach past the end.
    @inline(__always)
    func hasBytes(_ other: some ContiguousOctets, at start: Int) -> Bool {
        other.withOctets { wanted in
            extracting(start..<(start + wanted.count)).withUnsafeBytes { $0.hasSameBytes(as: wanted) }
        }
    }

    /// The bytes as an array of their own.
    func array(_ range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
            for offset in 0..<range.count {
                buffer.initializeElement(at: offset, to: self[range.lowerBound + offset])
            }
            initialized = range.count
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether two runs of the same length hold the same bytes. Looks at eight bytes at a time.
    @inline(__always)
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count >= 8 else {
            for index in 0..<count where self[index] != other[index] { return false }
            return true
        }
        var index = 0
        while index < count - 8 {
            guard hasSameWord(as: other, at: index) else { return false }
            index += 8
        }
        // The last eight, of which some were compared already.
        return hasSameWord(as: other, at: count - 8)
    }

    @inline(__always)
    private func hasSameWord(as other: UnsafeRawBufferPointer, at index: Int) -> Bool {
        loadUnaligned(fromByteOffset: index, as: UInt64.self)
            == other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }
}
