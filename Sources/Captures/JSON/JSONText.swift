import CookieModel

/// Gathers the text of one JSON string: plain runs as they are, escapes as UTF-8.
struct JSONText {
    /// The bytes so far.
    private(set) var bytes: [UInt8] = []
    /// Whether the string was longer than ``CaptureLimits/fieldByteCount``; its bytes are gone then.
    private(set) var isTooLong = false
    /// Whether the bytes are wanted at all.
    private(set) var isKept = false
    private var keepsLoneSurrogates = false
    /// The first half of a surrogate pair, waiting for the second.
    private var highSurrogate: UInt16?

    /// Begins a string.
    mutating func begin(isKept: Bool, keepsLoneSurrogates: Bool) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
        self.isKept = isKept
        self.keepsLoneSurrogates = keepsLoneSurrogates
        isTooLong = false
        highSurrogate = nil
    }

    /// Adds a run without escapes.
    @inline(__always)
    mutating func append(_ run: Span<UInt8>) {
        guard isKept, !run.isEmpty else { return }
        endPair()
        guard makeRoom(for: run.count) else { return }
        bytes.append(run)
    }

    /// Adds the byte that a two-character escape stands for.
    mutating func append(_ byte: UInt8) {
        guard isKept else { return }
        endPair()
        guard makeRoom(for: 1) else { return }
        bytes.append(byte)
    }

    /// Adds the UTF-16 code unit of a `\u` escape.
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
    mutating func end() {
        endPair()
    }

    private mutating func endPair() {
        guard let high = highSurrogate else { return }
        highSurrogate = nil
        appendLoneSurrogate(high)
    }

    /// Writers in Python (mitmproxy) turn a byte that is not UTF-8 into a lone surrogate from U+DC80 to U+DCFF
    /// (PEP 383), which gives that byte back. Any other lone surrogate is no text at all, but in a string of a web page.
    private mutating func appendLoneSurrogate(_ unit: UInt16) {
        if keepsLoneSurrogates {
            guard makeRoom(for: 3) else { return }
            bytes += WebString.octets(ofSurrogate: unit)
        } else if (0xDC80...0xDCFF).contains(unit) {
            guard makeRoom(for: 1) else { return }
            bytes.append(UInt8(truncatingIfNeeded: unit))
        } else {
            appendScalar(0xFFFD)
        }
    }

    private mutating func appendScalar(_ value: UInt32) {
        guard let scalar = Unicode.Scalar(value) else { return }
        let encoded = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        guard makeRoom(for: encoded.count) else { return }
        bytes.append(contentsOf: encoded)
    }

    private mutating func makeRoom(for count: Int) -> Bool {
        if isTooLong { return false }
        guard bytes.count + count > CaptureLimits.fieldByteCount else { return true }
        isTooLong = true
        bytes = []
        return false
    }
}
