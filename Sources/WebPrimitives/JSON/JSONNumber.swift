/// Reads a number (RFC 8259, section 6) a byte at a time.
@usableFromInline
package struct JSONNumber: Hashable, Sendable {
    @usableFromInline enum State: UInt8, Sendable {
        case start
        case minus
        case zero
        case digits
        case dot
        case fraction
        case exponent
        case exponentSign
        case exponentDigits
    }

    @usableFromInline var state = State.start
    @usableFromInline var magnitude = 0
    @usableFromInline var isNegative = false
    @usableFromInline var isOverflown = false
    /// The digits on both sides of the point, as many as fit, and where the point is among them.
    @usableFromInline var significand: Int64 = 0
    @usableFromInline var scale = 0
    @usableFromInline var exponent = 0
    @usableFromInline var isExponentNegative = false

    @inlinable
    package init() {}

    /// Takes the next byte; false if it cannot belong to the number.
    @inlinable
    package mutating func take(_ byte: UInt8) -> Bool {
        let isDigit = ASCII.isDigit(byte)
        switch state {
        case .start where byte == ASCII.hyphen:
            isNegative = true
            state = .minus
        case .start where isDigit, .minus where isDigit:
            magnitude = Int(byte &- ASCII.zero)
            significand = Int64(magnitude)
            state = byte == ASCII.zero ? .zero : .digits
        case .digits where isDigit:
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int(byte &- ASCII.zero))
            magnitude = sum
            isOverflown = isOverflown || overflow || carry
            takeDigit(byte, isFraction: false)
        case .zero where byte == ASCII.dot, .digits where byte == ASCII.dot:
            state = .dot
        case .dot where isDigit, .fraction where isDigit:
            takeDigit(byte, isFraction: true)
            state = .fraction
        case .zero where byte | 0x20 == 0x65, .digits where byte | 0x20 == 0x65, .fraction where byte | 0x20 == 0x65:
            state = .exponent
        case .exponent where byte == ASCII.plus || byte == ASCII.hyphen:
            isExponentNegative = byte == ASCII.hyphen
            state = .exponentSign
        case .exponent where isDigit, .exponentSign where isDigit, .exponentDigits where isDigit:
            // Beyond this every number is 0 or the largest there is.
            exponent = min(exponent * 10 + Int(byte &- ASCII.zero), 10_000)
            state = .exponentDigits
        default:
            return false
        }
        return true
    }

    /// Whether the number may end here.
    @inlinable
    package var isComplete: Bool {
        switch state {
        case .zero, .digits, .fraction, .exponentDigits: true
        case .start, .minus, .dot, .exponent, .exponentSign: false
        }
    }

    /// The value; `nil` if the number has a fraction or exponent, or is too large.
    package var integer: Int? {
        switch state {
        case .zero, .digits: isOverflown ? nil : isNegative ? -magnitude : magnitude
        default: nil
        }
    }

    /// The value in millionths, truncated; the nearest end of the range if it is too large.
    package var millionths: Int64 {
        var value = significand
        var shift = 6 - scale + (isExponentNegative ? -exponent : exponent)
        while shift < 0, value != 0 {
            value /= 10
            shift += 1
        }
        while shift > 0, value != 0 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return isNegative ? .min : .max }
            value = product
            shift -= 1
        }
        return isNegative ? -value : value
    }

    @inlinable
    mutating func takeDigit(_ byte: UInt8, isFraction: Bool) {
        guard significand < .max / 100 else {
            // Of a fraction the rest is too small to count.
            if !isFraction { scale -= 1 }
            return
        }
        significand = significand * 10 + Int64(byte &- ASCII.zero)
        if isFraction { scale += 1 }
    }
}

/// Gathers the text of one JSON string: plain runs as they are, escapes as UTF-8.
@usableFromInline
struct JSONStringBuffer: Sendable {
    /// The treatment of a surrogate without its pair.
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

    /// Adds the byte of a two-character escape.
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
