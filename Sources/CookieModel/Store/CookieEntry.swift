import WebPrimitives

/// Where a cookie lies within ``SiteCookies``, and what a search and the order of a header go by.
struct CookieEntry: BitwiseCopyable {
    private let creationMicroseconds: Int64
    private let sequence: Int64
    private let pathLength: UInt32
    /// Equal for equal IDs.
    private let idHash: UInt32
    /// Another one in every process, so that no server can choose cookies whose hashes are equal.
    private static let idHasher: OctetsHasher = {
        var generator = SystemRandomNumberGenerator()
        return OctetsHasher(using: &generator)
    }()
    /// Where the record begins.
    var offset: UInt32 = 0
    /// How long the record is.
    let byteCount: UInt32

    init(_ cookie: borrowing Cookie, _ record: CookieRecordHeader) {
        creationMicroseconds = record.creation.microseconds
        sequence = record.sequence
        pathLength = UInt32(record.pathCount)
        var hasher = CookieEntry.idHasher
        hasher.combine(cookie.id.name)
        hasher.combine(cookie.id.path)
        hasher.combine(cookie.id.domain.octets)
        idHash = UInt32(truncatingIfNeeded: hasher.value >> 32)
        byteCount = UInt32(record.byteCount)
    }

    /// Equal for equal IDs, and for as good as no others.
    var idKey: UInt64 { UInt64(idHash) << 32 | UInt64(pathLength) }

    /// Whether the cookies may have the same ID.
    @inline(__always)
    func mayHaveSameID(as other: CookieEntry) -> Bool {
        idHash == other.idHash && pathLength == other.pathLength
    }

    /// The order of a header (section 5.8.3, step 4).
    @inline(__always)
    func precedes(_ other: CookieEntry) -> Bool { rank < other.rank }

    @inline(__always)
    private var rank: HeaderRank {
        HeaderRank(
            pathCount: Int(pathLength), creation: Timestamp(microseconds: creationMicroseconds), sequence: sequence)
    }
}
