import CookieModel

/// The writer of one format: appends the bytes of one cookie after the other.
///
/// It is asked only for cookies that the format can hold (``FormatCapabilities/obstacle(to:)``).
protocol FormatWriter: Sendable {
    /// What stands before the first cookie.
    mutating func begin(_ bytes: inout [UInt8])

    /// Takes the next cookie, whose lifetime ends at a moment that the format can write.
    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8])

    /// What stands behind the last cookie.
    mutating func end(_ bytes: inout [UInt8])
}
