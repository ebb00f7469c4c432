package import CookieModel
import Foundation
package import SessionStore

/// A cookie in JSON; the value only where it was asked for.
package struct CookieReport: Codable {
    package let name: String?
    package let nameBase64: String?
    package let value: String?
    package let valueBase64: String?
    package let domain: String
    package let path: String
    package let hostOnly: Bool
    package let secure: Bool
    package let httpOnly: Bool
    package let sameSite: String?
    package let partitionKey: String?
    package let expires: String?
    package let created: String
    /// Octets of name and value; `nil` where the value was not read.
    package let size: Int?
    /// Seconds until it expires, negative where it has; only where the report has a time.
    package let expiresIn: Int64?
    /// Where the value came from; only where the report was given it.
    package let origin: OriginReport?

    package init(_ cookie: Cookie, showingValue: Bool, origin: CookieOrigin? = nil) {
        self.init(
            cookie, showingValue: showingValue, size: cookie.name.count + cookie.value.count, at: nil, origin: origin)
    }

    /// A cookie whose value nobody looks at, with how long it lives from `now` on.
    package init(_ cookie: Cookie, at now: Timestamp, origin: CookieOrigin? = nil) {
        self.init(cookie, showingValue: false, size: nil, at: now, origin: origin)
    }

    /// Whether a request told of it and no response set it, so that all but name and value was assumed.
    package var isAssumed: Bool {
        origin?.kind == OriginReport.requestKind && hostOnly && httpOnly && path == "/" && expires == nil
            && sameSite == nil && partitionKey == nil
    }

    private init(_ cookie: Cookie, showingValue: Bool, size: Int?, at now: Timestamp?, origin: CookieOrigin?) {
        let name = OctetsReport(cookie.name)
        let value = showingValue ? OctetsReport(cookie.value) : nil
        self.name = name.text
        nameBase64 = name.base64
        self.value = value?.text
        valueBase64 = value?.base64
        domain = cookie.domain.description
        path = cookie.path.description
        hostOnly = cookie.isHostOnly
        secure = cookie.isSecure
        httpOnly = cookie.isHTTPOnly
        sameSite = cookie.sameSite.attributeValue
        partitionKey = cookie.id.partitionKey?.serialized
        expires = cookie.expiry?.rfc3339
        created = cookie.creation.rfc3339
        self.size = size
        expiresIn = now.flatMap { now in cookie.expiry.map { $0.seconds - now.seconds } }
        self.origin = origin.map(OriginReport.init)
    }
}

/// A cookie that is gone or was left out, in JSON: what it was, without its value, and why where there is a reason.
package struct CookieIdentityReport: Codable, Equatable {
    package let name: String?
    package let nameBase64: String?
    package let domain: String
    package let path: String
    package let hostOnly: Bool
    package let partitionKey: String?
    package let reason: ReasonReport?

    package init(_ cookie: Cookie, reason: ReasonReport? = nil) {
        self.init(CookieRecord(cookie), reason: reason)
    }

    package init(_ record: CookieRecord, reason: ReasonReport? = nil) {
        let name = OctetsReport(record.name)
        self.name = name.text
        nameBase64 = name.base64
        domain = record.domain
        path = record.path.description
        hostOnly = record.isHostOnly
        partitionKey = record.partitionKey?.serialized
        self.reason = reason
    }

    package init(_ report: some CookieNaming) {
        name = report.name
        nameBase64 = report.nameBase64
        domain = report.domain
        path = report.path
        hostOnly = report.hostOnly
        partitionKey = report.partitionKey
        reason = nil
    }

    package init(_ eviction: Eviction) {
        self.init(eviction.cookie, reason: ReasonReport(eviction.reason))
    }
}

/// A report that says which cookie it is about.
package protocol CookieNaming {
    var name: String? { get }
    var nameBase64: String? { get }
    var domain: String { get }
    var path: String { get }
    var hostOnly: Bool { get }
    var partitionKey: String? { get }
}

extension CookieReport: CookieNaming {}
extension ChangeReport: CookieNaming {}

/// Octets in JSON: text where they are UTF-8, base64 beside it where they are not.
package struct OctetsReport: Codable {
    package let text: String?
    package let base64: String?

    package init(_ octets: Octets) {
        text = octets.utf8String
        base64 = text == nil ? Data(octets).base64EncodedString() : nil
    }

    /// Octets as a report has them.
    package init(text: String?, base64: String?) {
        self.text = text
        self.base64 = base64
    }

    /// The octets; none where there is neither.
    package var octets: Octets {
        if let text { return Octets(text) }
        return Octets(Array(base64.flatMap { Data(base64Encoded: $0) } ?? Data()))
    }
}

/// Where a cookie's value came from, in JSON.
package struct OriginReport: Codable {
    /// The kind of a cookie that a request sent.
    static let requestKind = "request"

    /// The capture it was imported from.
    package let capture: String?
    /// The URL of the response, without its query.
    package let url: String?
    /// When the response came.
    package let received: String?
    /// `request` for a cookie that a request sent, whose flags were assumed; absent for any other.
    package let kind: String?

    package init(_ origin: CookieOrigin) {
        capture = origin.capture
        url = origin.url
        received = origin.received?.rfc3339
        kind = origin.isRequest ? OriginReport.requestKind : nil
    }
}

/// Cookies of a jar, in JSON: all of them, or a page.
package struct CookieList: Codable, Sendable {
    package let cookies: [CookieReport]
    /// Cookies whose stored value cannot be read back; on the first page.
    package let unreadable: [CookieIdentityReport]
    /// Where the next page begins; `nil` on the last one.
    package let next: String?

    package init(cookies: [CookieReport] = [], unreadable: [CookieIdentityReport] = [], next: String? = nil) {
        self.cookies = cookies
        self.unreadable = unreadable
        self.next = next
    }
}

/// Cookies that are gone, in JSON.
package struct CookieRemovalList: Codable {
    package let removed: [CookieIdentityReport]

    package init(removed: [CookieIdentityReport]) {
        self.removed = removed
    }
}
