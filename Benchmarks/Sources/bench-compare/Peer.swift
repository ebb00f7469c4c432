/// What is measured, in the order of the table's columns: cookie jars, and what a jar on disk is held against, which is
/// Crumb's own in memory, its bare header and bare SQLite, and a request to this machine.
enum Peer: String, CaseIterable {
    case crumb = "Crumb"
    case libsoup
    case libcurl
    case cookiejar = "Go"
    case foundation = "Foundation"
    case memory = "in memory"
    case lookup = "bare header"
    case sqlite = "SQLite"
    case loopback = "loopback request"

    /// The name of its driver.
    var program: String {
        switch self {
        case .crumb: "crumb-bench"
        case .libsoup: "libsoup"
        case .libcurl: "libcurl"
        case .cookiejar: "cookiejar"
        case .foundation: "foundation-bench"
        case .memory, .lookup, .loopback: "crumb-bench"
        case .sqlite: "sqlite"
        }
    }

    /// The cookie jars, which most subjects compare.
    static let jars: [Peer] = [.crumb, .libsoup, .libcurl, .cookiejar, .foundation]

    /// Whether Crumb's goals are ratios to it: those to the best peer written in C.
    /// Subjects on disk name their own.
    var isReference: Bool { self == .libsoup || self == .libcurl }
}
