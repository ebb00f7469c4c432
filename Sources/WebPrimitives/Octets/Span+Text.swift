extension Span<UInt8> {
    /// Whether these bytes are `text`.
    @inlinable @inline(__always)
    package func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(text)
    }

    /// Whether these bytes begin with `text`.
    @inlinable @inline(__always)
    package func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// Whether these bytes are `text`, letters compared without case. `text` must be lower case.
    @inlinable @inline(__always)
    package func equalsIgnoringCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefixIgnoringCase(text)
    }

    /// Whether these bytes begin with `text`, letters compared without case. `text` must be lower case.
    @inlinable @inline(__always)
    package func hasPrefixIgnoringCase(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where ASCII.lowercased(self[index]) != text.utf8Start[index] {
            return false
        }
        return true
    }

    /// The range within `range` that is left when spaces and tabs are cut from both ends.
    @inlinable @inline(__always)
    package func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, ASCII.isBlank(self[lower]) { lower += 1 }
        while upper > lower, ASCII.isBlank(self[upper - 1]) { upper -= 1 }
        return lower..<upper
    }

    /// These bytes without the carriage return that a line of theirs may end with.
    @inlinable
    package var droppingCarriageReturn: Range<Int> {
        count > 0 && self[count - 1] == ASCII.carriageReturn ? 0..<(count - 1) : 0..<count
    }

    /// Whether the bytes from `start` on are those of `other`, which must not reach past the end.
    @inlinable @inline(__always)
    package func hasBytes(_ other: some ContiguousOctets, at start: Int) -> Bool {
        other.withOctets { wanted in
            extracting(start..<(start + wanted.count)).withUnsafeBytes { $0.hasSameBytes(as: wanted) }
        }
    }

    /// The bytes of `range` as an array of their own.
    package func array(_ range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
            for offset in 0..<range.count {
                buffer.initializeElement(at: offset, to: self[range.lowerBound + offset])
            }
            initialized = range.count
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether two runs of the same length hold the same bytes. Compares eight bytes at a time.
    @inlinable @inline(__always)
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
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

    @inlinable @inline(__always)
    func hasSameWord(as other: UnsafeRawBufferPointer, at index: Int) -> Bool {
        loadUnaligned(fromByteOffset: index, as: UInt64.self)
            == other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }
}

extension [UInt8] {
    /// Appends the bytes of `span`.
    @inlinable @inline(__always)
    package mutating func append(_ span: Span<UInt8>) {
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}

extension String {
    /// The text that `bytes` are, `nil` if they are not UTF-8.
    package init?(validating bytes: Span<UInt8>) {
        guard let text = bytes.withUnsafeBufferPointer({ String(validating: $0, as: UTF8.self) }) else { return nil }
        self = text
    }

    /// Decodes `bytes` as text. Octets that are not UTF-8 become U+FFFD.
    package init(repairing bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}

extension StringProtocol {
    /// The text without the white space at its ends, line ends included.
    package var trimmingWhitespace: SubSequence {
        guard let start = firstIndex(where: { !$0.isWhitespace }), let end = lastIndex(where: { !$0.isWhitespace })
        else { return self[startIndex..<startIndex] }
        return self[start...end]
    }
}
