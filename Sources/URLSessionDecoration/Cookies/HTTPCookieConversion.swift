public import CookieModel

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A cookie for Foundation's own storage, and what it lost on the way.
///
/// What was lost is found by reading the cookie back, not by what a platform is said to hold.
public struct HTTPCookieConversion {
    /// The cookie; `nil` where something is lost without which it must not be.
    public let cookie: HTTPCookie?
    /// What is lost.
    public let losses: [CookieLoss]

    /// Converts a cookie.
    public init(_ cookie: Cookie) {
        var losses = Set<CookieLoss>()
        if cookie.id.partitionKey != nil { losses.insert(.partition) }
        var made: HTTPCookie?
        if let properties = HTTPCookieConversion.properties(cookie) {
            made = HTTPCookie(properties: properties)
        }
        if let made {
            losses.formUnion(HTTPCookieConversion.differences(cookie, CookieRecordConversion(made).record))
        } else {
            losses.insert(.octets)
        }
        self.losses = CookieLoss.allCases.filter(losses.contains)
        self.cookie = losses.contains(where: \.isPrevention) ? nil : made
    }

    /// What Foundation makes a cookie of; `nil` where that would not be text.
    private static func properties(_ cookie: Cookie) -> [HTTPCookiePropertyKey: Any]? {
        // Foundation would send a cookie without a name as `=value`.
        guard !cookie.name.isEmpty, let name = cookie.name.utf8String, let value = cookie.value.utf8String,
            let path = cookie.path.utf8String
        else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .path: path,
            // A leading dot stands for the hosts below, on every platform.
            .domain: (cookie.isHostOnly ? "" : ".") + cookie.domain.description,
        ]
        // Whatever text there is counts as true, on Linux also "FALSE".
        if cookie.isSecure { properties[.secure] = "TRUE" }
        if cookie.isHTTPOnly { properties[.httpOnly] = "TRUE" }
        if let expiry = cookie.expiry {
            properties[.expires] = Date(expiry)
        } else {
            properties[.discard] = "TRUE"
        }
        #if !canImport(FoundationNetworking)
            switch cookie.sameSite {
            case .lax: properties[.sameSitePolicy] = HTTPCookieStringPolicy.sameSiteLax.rawValue
            case .strict: properties[.sameSitePolicy] = HTTPCookieStringPolicy.sameSiteStrict.rawValue
            case .default, .none: break
            }
        #endif
        return properties
    }

    private static func differences(_ cookie: Cookie, _ record: CookieRecord) -> Set<CookieLoss> {
        var losses = Set<CookieLoss>()
        if record.name != cookie.name || record.value != cookie.value || record.path != cookie.path {
            losses.insert(.octets)
        }
        if record.domain != cookie.domain.description || record.isHostOnly != cookie.isHostOnly {
            losses.insert(.domain)
        }
        if record.isSecure != cookie.isSecure { losses.insert(.secure) }
        if record.isHTTPOnly != cookie.isHTTPOnly { losses.insert(.httpOnly) }
        if record.sameSite != cookie.sameSite { losses.insert(.sameSite) }
        // Dates are floating-point numbers, and some platforms keep whole seconds.
        let isSameEnd =
            switch (record.expiry, cookie.expiry) {
            case (nil, nil): true
            case (let read?, let written?): abs(read.seconds - written.seconds) <= 1
            default: false
            }
        if !isSameEnd { losses.insert(.expiry) }
        return losses
    }
}

extension HTTPCookiePropertyKey {
    /// The key that has no public name, and is known on every platform.
    static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
}
