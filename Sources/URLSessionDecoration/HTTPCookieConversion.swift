public import CookieModel

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A cookie for Foundation's own storage, and the attributes that were lost.
///
/// Losses are detected by reading the cookie back, so they are those of the current platform.
public struct HTTPCookieConversion {
    /// The cookie; `nil` if a loss would make it unsafe.
    public let cookie: HTTPCookie?
    /// The losses.
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

    /// The properties from which Foundation creates a cookie; `nil` if they would not be text.
    private static func properties(_ cookie: Cookie) -> [HTTPCookiePropertyKey: Any]? {
        // Foundation would send a cookie without a name as `=value`.
        guard !cookie.name.isEmpty, let name = cookie.name.utf8String, let value = cookie.value.utf8String,
            let path = cookie.path.utf8String
        else { return nil }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .path: path,
            // A leading dot includes the hosts below, on every platform.
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

/// A cookie of Foundation's own storage as a record for a jar, and the attributes that Foundation does not expose.
///
/// Store it with `jar.withBatch(now:) { try $0.receive(record) }`, under the same rules as any other.
public struct CookieRecordConversion: Sendable {
    /// The record.
    public let record: CookieRecord
    /// The attributes that Foundation does not expose. The record has the value for "unknown".
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

/// An attribute of a cookie that Foundation's `HTTPCookie` cannot hold or does not expose on this platform.
///
/// Creation and last access are always lost: cookies that are read back count as new, and may change their order in a
/// header.
public enum CookieLoss: String, Sendable, CaseIterable {
    /// The name, value or path: they are octets, and Foundation accepts only text.
    case octets
    /// The host or domain, or the host-only flag.
    case domain
    /// Whether only secure connections get the cookie.
    case secure
    /// Whether the cookie is hidden from scripts.
    case httpOnly = "http-only"
    /// The same-site-flag.
    case sameSite = "same-site"
    /// The expiry, or that the cookie is a session cookie.
    case expiry
    /// The partition that the cookie belongs to.
    case partition

    /// Whether the loss would send the cookie where it must not go, or change its identity, so it is not converted.
    public var isPrevention: Bool {
        switch self {
        case .octets, .domain, .secure, .partition: true
        case .httpOnly, .sameSite, .expiry: false
        }
    }

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .octets: "Foundation does not accept the octets of its name, value or path"
        case .domain: "it would lose its domain or its host-only flag"
        case .secure: "it would lose Secure"
        case .httpOnly: "it loses HttpOnly"
        case .sameSite: "it loses SameSite"
        case .expiry: "it loses its expiry"
        case .partition: "it is partitioned, and would be sent on other sites' pages"
        }
    }
}
