package import CookieModel

/// A limit of a jar, by the name that people write.
package enum JarLimit: String, CaseIterable {
    case domainCookies = "domain-cookies"
    case totalCookies = "total-cookies"
    case partitionCookies = "partition-cookies"
    case partitionOctets = "partition-octets"
    case requestCookies = "request-cookies"
    case requestOctets = "request-octets"

    /// Where the limit is within a jar's limits.
    package var keyPath: WritableKeyPath<CookieLimits, Int?> {
        switch self {
        case .domainCookies: \.domainCookies
        case .totalCookies: \.totalCookies
        case .partitionCookies: \.partitionCookies
        case .partitionOctets: \.partitionOctets
        case .requestCookies: \.requestCookies
        case .requestOctets: \.requestOctets
        }
    }
}
