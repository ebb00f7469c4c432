/// A cookie's place in the order of use: the least recently used first, and of those used at the same moment the oldest.
struct UsageRank: Comparable {
    private let lastAccess: Timestamp
    private let creation: Timestamp
    private let sequence: Int64

    init(_ header: CookieRecordHeader) {
        lastAccess = header.lastAccess
        creation = header.creation
        sequence = header.sequence
    }

    static func < (left: UsageRank, right: UsageRank) -> Bool {
        if left.lastAccess != right.lastAccess { return left.lastAccess < right.lastAccess }
        if left.creation != right.creation { return left.creation < right.creation }
        return left.sequence < right.sequence
    }
}
