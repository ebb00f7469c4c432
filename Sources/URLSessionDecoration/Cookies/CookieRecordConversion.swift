public import CookieModel

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A cookie out of Foundation's own storage as a record for a jar, and what Foundation does not tell of it.
///
/// A jar takes it by `jar.withBatch(now:) { try $0.receive(record) }`, by the same rules as any other.
public struct CookieRecordConversion: Sendable {
    /// The record.
    public let record: CookieRecord
    /// What Foundation does not tell: the record has the value that stands for "not known".
    public let losses: [CookieLoss]

    /// Converts a cookie.
    public init(_ cookie: HTTPCookie) {
        let isHostOnly = !cookie.domain.hasPrefix(".")
        var record = CookieRecord(
            name: Octets(cookie.name), value: Octets(cookie.value),
            domain: isHostOnly ? cookie.domain : String(cookie.domain.dropFirst()), isHostOnly: isHostOnly,
            path: Octets(cookie.path), isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly)
        record.expiry = cookie.isSessionOnly ? nil : cookie.expiresDate.map(Timestamp.init)
        var losses: [CookieLoss] = []
        #if canImport(FoundationNetworking)
            losses.append(.sameSite)
        #else
            // Apple's text comes from Latin-1 or UTF-8, and does not say which.
            if !(cookie.name + cookie.value + cookie.path).utf8.allSatisfy({ $0 < 0x80 }) { losses.append(.octets) }
            switch cookie.sameSitePolicy {
            case .sameSiteLax: record.sameSite = .lax
            case .sameSiteStrict: record.sameSite = .strict
            default: losses.append(.sameSite)
            }
        #endif
        self.record = record
        self.losses = losses
    }
}
