/// Reads a JSON document as a stream of events, and selects the parts of it that matter.
///
/// The stream reports nothing of a container that the handler skips, and does not keep a string that the handler does
/// not need.
@usableFromInline
package protocol JSONHandler {
    /// The next event, which begins or ends a container or begins a string value, is at `offset` in the document.
    mutating func at(_ offset: Int)

    /// A member of the current object is called `name`; its value comes next.
    mutating func key(_ name: Span<UInt8>)

    /// An array or object begins. Where the answer is false, it is skipped and its end is not reported.
    mutating func begin(_ container: JSONContainer) -> Bool

    /// The current array or object ends.
    mutating func end()

    /// Whether a lone surrogate is kept in the string that begins (``WebString``). Otherwise it becomes U+FFFD, or in a
    /// capture the octet that it represents in Python.
    var keepsLoneSurrogates: Bool { get }

    /// A string begins. Where the answer is false, it is passed over.
    mutating func beginString() -> Bool

    /// The string that was wanted, decoded.
    mutating func string(_ text: Span<UInt8>)

    /// The string that was wanted is longer than ``JSONLimits/stringByteCount``.
    mutating func stringTooLong()

    /// A number, boolean or null.
    mutating func scalar(_ scalar: JSONScalar)
}

extension JSONHandler {
    @inlinable
    package mutating func at(_ offset: Int) {}

    @inlinable
    package var keepsLoneSurrogates: Bool { false }
}

/// The kinds of JSON values that hold others.
@usableFromInline
package enum JSONContainer: UInt8, Sendable {
    case object
    case array
}

/// The JSON values without parts.
@usableFromInline
package enum JSONScalar: Equatable {
    case null
    case boolean(Bool)
    case number(JSONNumber)
}

/// Why a JSON document cannot be read on.
@usableFromInline
package enum JSONProblem: Equatable, Sendable {
    case malformed(line: Int, column: Int)
    case tooDeep(line: Int, column: Int)
    /// An escape for half of a surrogate pair, without its other half.
    case halfPair(line: Int, column: Int)
}

/// The extensions of RFC 8259 that a JSON text may use.
@usableFromInline
package enum JSONDialect: Sendable {
    /// The extensions in captures: control characters within strings, and octets that Python wrote as lone surrogates
    /// (PEP 383).
    case capture
    /// The grammar of RFC 8259. A surrogate without its pair becomes U+FFFD.
    case standard
    /// Also refuses a surrogate without its pair (RFC 7493, section 2.1).
    case interoperable
}

/// How much of a JSON text is held.
@usableFromInline
package enum JSONLimits {
    /// The longest string, in bytes: 1 MiB. A longer one is left out.
    @inlinable package static var stringByteCount: Int { 1 << 20 }
    /// The most bytes of one value that is kept whole, each value in it counted with 64 more: 16 MiB.
    @inlinable package static var valueByteCount: Int { 1 << 24 }
    /// How deep arrays and objects may be nested in a text that is read in pieces: 1,048,576 levels, a byte each.
    @inlinable package static var nestingDepth: Int { 1 << 20 }
}
