/// A range of a line, in half the room.
struct LinePlace: BitwiseCopyable, Sendable {
    private let lower: UInt32
    private let upper: UInt32

    @inline(__always)
    init(_ range: Range<Int>) {
        lower = UInt32(truncatingIfNeeded: range.lowerBound)
        upper = UInt32(truncatingIfNeeded: range.upperBound)
    }

    var range: Range<Int> { Int(lower)..<Int(upper) }
}
