import WebPrimitives

/// A cookie's place in a header (section 5.8.3, step 4): longer paths first, then earlier creation. A total and stable
/// order.
struct HeaderRank: Comparable {
    let pathCount: Int
    let creation: Timestamp
    let sequence: Int64

    @inline(__always)
    static func < (left: HeaderRank, right: HeaderRank) -> Bool {
        if left.pathCount != right.pathCount { return left.pathCount > right.pathCount }
        if left.creation != right.creation { return left.creation < right.creation }
        return left.sequence < right.sequence
    }
}
