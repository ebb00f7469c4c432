/// What reads a JSON document as a stream of events, and says which parts of it matter.
///
/// Nothing is reported of a container that the handler skips, and a string that it does not want is not kept.
protocol JSONHandler {
    /// A member of the object at hand is called `name`; its value comes next.
    mutating func key(_ name: Span<UInt8>)

    /// An array or object begins. Where the answer is false, it is skipped and its end is not reported.
    mutating func begin(_ container: JSONContainer) -> Bool

    /// The array or object at hand ends.
    mutating func end()

    /// Whether a surrogate without its pair stays one in the string that begins (``WebString``). Otherwise it becomes the
    /// octet that it stands for in Python, or U+FFFD.
    var keepsLoneSurrogates: Bool { get }

    /// A string begins. Where the answer is false, it is passed over.
    mutating func beginString() -> Bool

    /// The string that was wanted, decoded.
    mutating func string(_ text: Span<UInt8>)

    /// The string that was wanted is longer than ``CaptureLimits/fieldByteCount``.
    mutating func stringTooLong()

    /// A number, boolean or null.
    mutating func scalar(_ scalar: JSONScalar)
}

extension JSONHandler {
    var keepsLoneSurrogates: Bool { false }
}

/// The kinds of JSON values that hold others.
enum JSONContainer: UInt8 {
    case object
    case array
}

/// The JSON values without parts.
enum JSONScalar: Equatable {
    case null
    case boolean(Bool)
    case number(JSONNumber)
}

/// Why a JSON document cannot be read on.
enum JSONProblem: Equatable {
    case malformed(line: Int, column: Int)
    case tooDeep(line: Int, column: Int)
    /// An escape for half of a surrogate pair, without its other half.
    case halfPair(line: Int, column: Int)
}
