/// Gathers the text of one JSON string: plain runs as they are, escapes as UTF-8.
@usableFromInline
struct JSONStringBuffer: Sendable {
    /// What becomes of a surrogate without its pair.
    @usableFromInline enum LoneSurrogates: UInt8, Sendable {
        /// It stays, as in a string of a web page (``WebString``).
        case kept
        /// From U+DC80 to U+DCFF it is the octet that is not UTF-8 and that Python wrote in this way (PEP 383).
        case octets
        /// It becomes U+FFFD.
        case replaced
    }

    /// The bytes so far.
    @usableFromInline var bytes: [UInt8] = []
    /// Whether the string was longer than ``JSONLimits/stringByteCount``; its bytes are gone then.
    @usableFromInline var isTooLong = false
    /// Whether the bytes are wanted at all.
    @usableFromInline var isKept = false
    @usableFromInline var loneSurrogates = LoneSurrogates.replaced
    /// The first half of a surrogate pair, waiting for the second.
    @usableFromInline var highSurrogate: UInt16?

    @inlinable
    init() {}

    /// Begins a string.
    @inlinable
    mutating func begin(isKept: Bool, loneSurrogates: LoneSurrogates) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
        self.isKept = isKept
        self.loneSurrogates = loneSurrogates
        isTooLong = false
        highSurrogate = nil
    }

    /// Adds a run without escapes.
    @inlinable @inline(__always)
    mutating func append(_ run: Span<UInt8>) {
        guard isKept, !run.isEmpty else { return }
        endPair()
        guard makeRoom(for: run.count) else { return }
        bytes.append(run)
    }

    /// Adds the byte that a two-character escape stands for.
    @inlinable
    mutating func append(_ byte: UInt8) {
        guard isKept else { return }
        endPair()
        guard makeRoom(for: 1) else { return }
        bytes.append(byte)
    }

    /// Adds the UTF-16 code unit of a `\u` escape.
    @inlinable
    mutating func append(unit: UInt16) {
        guard isKept else { return }
        switch unit {
        case 0xD800..<0xDC00:
            endPair()
            highSurrogate = unit
        case 0xDC00..<0xE000:
            if let high = highSurrogate {
                highSurrogate = nil
                appendScalar(0x10000 + (UInt32(high - 0xD800) << 10 | UInt32(unit - 0xDC00)))
            } else {
                appendLoneSurrogate(unit)
            }
        default:
            endPair()
            appendScalar(UInt32(unit))
        }
    }

    /// Ends the string.
    @inlinable
    mutating func end() {
        endPair()
    }

    @inlinable
    mutating func endPair() {
        guard let high = highSurrogate else { return }
        highSurrogate = nil
        appendLoneSurrogate(high)
    }

    @usableFromInline
    mutating func appendLoneSurrogate(_ unit: UInt16) {
        switch loneSurrogates {
        case .kept:
            guard makeRoom(for: 3) else { return }
            bytes += WebString.octets(ofSurrogate: unit)
        case .octets where (0xDC80...0xDCFF).contains(unit):
            guard makeRoom(for: 1) else { return }
            bytes.append(UInt8(truncatingIfNeeded: unit))
        case .octets, .replaced:
            appendScalar(0xFFFD)
        }
    }

    @usableFromInline
    mutating func appendScalar(_ value: UInt32) {
        guard let scalar = Unicode.Scalar(value) else { return }
        let encoded = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        guard makeRoom(for: encoded.count) else { return }
        bytes.append(contentsOf: encoded)
    }

    @inlinable
    mutating func makeRoom(for count: Int) -> Bool {
        if isTooLong { return false }
        guard bytes.count + count > JSONLimits.stringByteCount else { return true }
        isTooLong = true
        bytes = []
        return false
    }
}

/// Strings of JavaScript as octets: UTF-8, in which a surrogate without its pair is three octets (WTF-8).
package enum WebString {
    /// The octets of a surrogate without its pair.
    package static func octets(ofSurrogate unit: UInt16) -> [UInt8] {
        [0xED, UInt8(truncatingIfNeeded: unit >> 6) & 0x3F | 0x80, UInt8(truncatingIfNeeded: unit) & 0x3F | 0x80]
    }

    /// Goes through the text between surrogates without a pair, and through these. Linear in the number of octets.
    package static func forEachPart<Text: RandomAccessCollection>(
        of text: Text, _ body: (Text.SubSequence) -> Void, surrogate: (UInt16) -> Void
    ) where Text.Element == UInt8, Text.Index == Int {
        var start = text.startIndex
        var index = start
        while index < text.endIndex {
            // In UTF-8, 0xED begins a character, and an octet of 0xA0 or more never follows it.
            guard text[index] == 0xED, text.endIndex - index > 2, text[index + 1] & 0xE0 == 0xA0,
                text[index + 2] & 0xC0 == 0x80
            else {
                index += 1
                continue
            }
            if start < index { body(text[start..<index]) }
            surrogate(0xD000 | UInt16(text[index + 1] & 0x3F) << 6 | UInt16(text[index + 2] & 0x3F))
            index += 3
            start = index
        }
        if start < text.endIndex { body(text[start...]) }
    }
}
