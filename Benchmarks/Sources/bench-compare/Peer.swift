/// A cookie jar that is measured, in the order of the table's columns.
enum Peer: String, CaseIterable {
    case crumb = "Crumb"
    case libsoup
    case libcurl
    case cookiejar = "Go"
    case foundation = "Foundation"

    /// The name of its driver.
    var program: String {
        switch self {
        case .crumb: "crumb-bench"
        case .libsoup: "libsoup"
        case .libcurl: "libcurl"
        case .cookiejar: "cookiejar"
        case .foundation: "foundation-bench"
        }
    }

    /// Whether Crumb's goals are ratios to it: those to the best peer written in C.
    var isReference: Bool { self == .libsoup || self == .libcurl }
}
