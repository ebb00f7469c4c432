/// Where a cookie lies within ``SiteCookies``, and what a search and the order of a header go by.
struct CookieEntry: BitwiseCopyable {
    private let creationMicroseconds: Int64
    private let sequence: Int64
    private let pathLength: UInt32
    /// Equal for equal IDs.
    private let idHash: UInt32
    /// Where the record begins.
    var offset: UInt32
    /// How long the record is.
    let byteCount: UInt32

    init(_ cookie: borrowing Cookie, _ record: CookieRecordHeader, at offset: Int) {
        creationMicroseconds = record.creation.microseconds
        sequence = record.sequence
        pathLength = UInt32(record.pathCount)
        // Collisions cost a comparison and nothing else, so that nobody gains by making them.
        var state: UInt64 = cookie.id.isHostOnly ? 1 : 2
        cookie.id.name.mix(into: &state)
        cookie.id.path.mix(into: &state)
        cookie.id.domain.octets.mix(into: &state)
        idHash = UInt32(truncatingIfNeeded: state >> 32)
        self.offset = UInt32(offset)
        byteCount = UInt32(record.byteCount)
    }

    /// Whether the cookies may have the same ID.
    @inline(__always)
    func mayHaveSameID(as other: CookieEntry) -> Bool {
        idHash == other.idHash && pathLength == other.pathLength
    }

    /// The order of a header (section 5.8.3, step 4), as ``Cookie/precedes(_:)`` has it.
    @inline(__always)
    func precedes(_ other: CookieEntry) -> Bool {
        if pathLength != other.pathLength { return pathLength > other.pathLength }
        if creationMicroseconds != other.creationMicroseconds {
            return creationMicroseconds < other.creationMicroseconds
        }
        return sequence < other.sequence
    }
}

extension Octets {
    @inline(__always)
    fileprivate func mix(into state: inout UInt64) {
        var mixed = state
        withSpan { span in
            span.withUnsafeBytes { bytes in
                var index = 0
                while index + 8 <= bytes.count {
                    mixed ^= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    mixed = mixed &* 0x9E37_79B9_7F4A_7C15
                    mixed ^= mixed >> 29
                    index += 8
                }
                var rest = UInt64(bytes.count)
                while index < bytes.count {
                    rest = rest << 8 | UInt64(bytes[index])
                    index += 1
                }
                mixed = (mixed ^ rest) &* 0xBF58_476D_1CE4_E5B9
                mixed ^= mixed >> 31
            }
        }
        state = mixed
    }
}
