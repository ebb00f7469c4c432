import Foundation

/// The time of the system's clock.
enum SystemTime {
    /// Microseconds since the Unix epoch.
    static var microseconds: Int64 {
        // A double is exact to less than a microsecond until the year 2255.
        Int64((Date().timeIntervalSince1970 * 1_000_000).rounded())
    }
}
