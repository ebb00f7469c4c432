/// A range of octets, in half the room.
struct OctetRange: BitwiseCopyable, Sendable {
    let lower: UInt32
    let upper: UInt32

    @inline(__always)
    init(_ range: Range<Int>) {
        lower = UInt32(truncatingIfNeeded: range.lowerBound)
        upper = UInt32(truncatingIfNeeded: range.upperBound)
    }

    @inline(__always)
    var range: Range<Int> { Int(lower)..<Int(upper) }
}
