import WebPrimitives

/// A cookie's place in the order of use: those that only requests told first, then the least recently used, and of those
/// used at the same moment the oldest.
struct UsageRank: Comparable {
    private let isSet: Bool
    private let lastAccess: Timestamp
    private let creation: Timestamp
    private let sequence: Int64

    init(_ header: CookieRecordHeader) {
        isSet = !header.isOfRequest
        lastAccess = header.lastAccess
        creation = header.creation
        sequence = header.sequence
    }

    static func < (left: UsageRank, right: UsageRank) -> Bool {
        if left.isSet != right.isSet { return right.isSet }
        if left.lastAccess != right.lastAccess { return left.lastAccess < right.lastAccess }
        if left.creation != right.creation { return left.creation < right.creation }
        return left.sequence < right.sequence
    }
}
