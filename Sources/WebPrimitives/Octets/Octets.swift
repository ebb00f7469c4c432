/// A run of bytes that goes back exactly as it came: cookie names, values and paths.
///
/// Cookie names and values are octets, not text: a server may send Latin-1, half a UTF-8 sequence or anything else
/// that is not a control character, and gets it back byte for byte. `Octets` shares the storage it was cut from, so
/// slicing copies nothing. Equality, hashing and order are by content.
public struct Octets: Sendable {
    @usableFromInline let storage: [UInt8]
    @usableFromInline let lower: UInt32
    @usableFromInline let upper: UInt32

    /// The bytes of `storage` within `range`, without a copy. The range is clamped to the storage.
    @inlinable
    package init(_ storage: [UInt8], in range: Range<Int>) {
        self.storage = storage
        let bounded = range.clamped(to: 0..<storage.count)
        lower = UInt32(truncatingIfNeeded: bounded.lowerBound)
        upper = UInt32(truncatingIfNeeded: bounded.upperBound)
    }

    @inlinable @inline(__always)
    init(_ storage: [UInt8], lower: UInt32, upper: UInt32) {
        self.storage = storage
        self.lower = lower
        self.upper = upper
    }

    /// The bytes at `place`, which must be within these. They share this storage.
    @inlinable @inline(__always)
    package subscript(place: OctetRange) -> Octets {
        Octets(storage, lower: lower &+ place.lower, upper: lower &+ place.upper)
    }

    /// All bytes of `storage`, without a copy.
    @inlinable
    public init(_ storage: [UInt8]) {
        self.init(storage, in: 0..<storage.count)
    }

    /// A copy of any sequence of bytes.
    @inlinable
    public init(_ bytes: some Sequence<UInt8>) {
        self.init(Array(bytes))
    }

    /// The UTF-8 bytes of `text`.
    @inlinable
    public init(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// The text these bytes are, or `nil` if they are not UTF-8.
    public var utf8String: String? {
        String(validating: self, as: UTF8.self)
    }

    /// The bytes as an array of their own.
    @inlinable
    public var bytes: [UInt8] {
        lower == 0 && upper == storage.count ? storage : Array(storage[Int(lower)..<Int(upper)])
    }

    /// Runs `body` on the bytes in place.
    @inlinable
    public func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let whole = storage.span
        return try body(whole.extracting(Int(lower)..<Int(upper)))
    }
}

extension Octets: RandomAccessCollection {
    /// The position of the first byte, always 0.
    @inlinable public var startIndex: Int { 0 }
    /// The position past the last byte, which is the number of bytes.
    @inlinable public var endIndex: Int { Int(upper) - Int(lower) }

    /// The byte at `position`, counted from 0.
    @inlinable
    public subscript(position: Int) -> UInt8 {
        storage[Int(lower) + position]
    }

    /// The bytes within `bounds`, sharing this storage.
    @inlinable
    public subscript(bounds: Range<Int>) -> Octets {
        Octets(storage, in: (Int(lower) + bounds.lowerBound)..<(Int(lower) + bounds.upperBound))
    }

    /// Runs `body` on the bytes in place; never `nil`.
    @inlinable
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try storage.withUnsafeBufferPointer { whole in
            try body(UnsafeBufferPointer(rebasing: whole[Int(lower)..<Int(upper)]))
        }
    }
}

extension Octets: Hashable, Comparable {
    /// Whether both hold the same bytes.
    @inlinable
    public static func == (left: Octets, right: Octets) -> Bool {
        left.count == right.count
            && left.withOctets { leftBytes in right.withOctets { leftBytes.hasSameBytes(as: $0) } }
    }

    /// Feeds the bytes and their number to `hasher`.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        withSpan { span in
            span.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    /// Compares the bytes as unsigned numbers, with a prefix before the longer sequence.
    @inlinable
    public static func < (left: Octets, right: Octets) -> Bool {
        left.lexicographicallyPrecedes(right)
    }
}

extension Octets: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The UTF-8 bytes of a literal.
    @inlinable
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// The bytes of a literal.
    @inlinable
    public init(arrayLiteral bytes: UInt8...) {
        self.init(bytes)
    }

    /// The bytes as text for a person: octets that are not UTF-8, control characters, and those that change the direction
    /// of text or end a line are written `\xHH`.
    public var description: String {
        var text = ""
        if let valid = utf8String {
            for scalar in valid.unicodeScalars {
                if scalar.value < 0x20 || scalar.value == 0x7F || (0x80..<0xA0).contains(scalar.value) {
                    Octets.appendEscaped(UInt8(truncatingIfNeeded: scalar.value), to: &text)
                } else if scalar.value >= 0x600, Octets.isLayoutControl(scalar) {
                    for byte in String(scalar).utf8 { Octets.appendEscaped(byte, to: &text) }
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
        } else {
            for byte in self {
                if (0x20..<0x7F).contains(byte) {
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    Octets.appendEscaped(byte, to: &text)
                }
            }
        }
        return text
    }

    /// Whether a character makes the text around it look like another one.
    private static func isLayoutControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isBidiControl || scalar.value == 0x2028 || scalar.value == 0x2029
    }

    private static func appendEscaped(_ byte: UInt8, to text: inout String) {
        let digits = String(byte, radix: 16, uppercase: true)
        text += digits.utf8.count == 1 ? "\\x0\(digits)" : "\\x\(digits)"
    }
}

extension Octets {
    /// The same octets with ASCII letters in lower case; shared if they are already.
    @inlinable
    package var lowercased: Octets {
        withSpan { $0.containsUppercase } ? Octets(map(ASCII.lowercased)) : self
    }

    /// These octets without the spaces and tabs at both ends.
    package var trimmingBlanks: Octets {
        self[withSpan { $0.trimmingBlanks(0..<$0.count) }]
    }
}

/// A range of octets, in half the room.
@usableFromInline
package struct OctetRange: BitwiseCopyable, Sendable {
    @usableFromInline let lower: UInt32
    @usableFromInline let upper: UInt32

    @inlinable @inline(__always)
    package init(_ range: Range<Int>) {
        lower = UInt32(truncatingIfNeeded: range.lowerBound)
        upper = UInt32(truncatingIfNeeded: range.upperBound)
    }
}

/// Octets that are contiguous in memory, regardless of their owner.
@usableFromInline
package protocol ContiguousOctets: RandomAccessCollection<UInt8> where Index == Int {
    /// Runs `body` on the octets in place.
    func withOctets<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension Octets: ContiguousOctets {
    @inlinable @inline(__always)
    package func withOctets<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withSpan { span in span.withUnsafeBytes { body($0) } }
    }
}

extension UnsafeRawBufferPointer: ContiguousOctets {
    @inlinable @inline(__always)
    package func withOctets<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(self)
    }
}
