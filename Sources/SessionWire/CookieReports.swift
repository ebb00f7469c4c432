public import WebPrimitives

/// A cookie. The value is present only if it was requested.
public struct CookieReport: Codable, Sendable {
    /// The name.
    public let name: String?
    /// The name in Base64 if it is not UTF-8.
    package let nameBase64: String?
    /// The value, if values were requested.
    public let value: String?
    /// The value in Base64 if it is not UTF-8.
    package let valueBase64: String?
    /// The domain.
    public let domain: String
    /// The path.
    public let path: String
    /// Whether only the host itself gets the cookie.
    public let hostOnly: Bool
    /// Whether the cookie is sent over secure connections only.
    public let secure: Bool
    /// Whether scripts cannot read the cookie.
    public let httpOnly: Bool
    /// `Strict`, `Lax` or `None`; `nil` if the cookie does not say.
    public let sameSite: String?
    /// The partition; `nil` for a cookie without one.
    public let partitionKey: String?
    /// When it expires (RFC 3339); `nil` for a session cookie.
    public let expires: String?
    /// When it was created (RFC 3339).
    public let created: String
    /// The octets of name and value; `nil` if the value was not read.
    package let size: Int?
    /// Seconds until the cookie expires, negative if it has expired; `nil` if the report has no time.
    package let expiresIn: Int64?
    /// Where the value came from; `nil` if the origin was not requested.
    package let origin: OriginReport?

    package init(
        name: String? = nil, nameBase64: String? = nil, value: String? = nil, valueBase64: String? = nil,
        domain: String, path: String, hostOnly: Bool, secure: Bool, httpOnly: Bool, sameSite: String? = nil,
        partitionKey: String? = nil, expires: String? = nil, created: String, size: Int? = nil, expiresIn: Int64? = nil,
        origin: OriginReport? = nil
    ) {
        self.name = name
        self.nameBase64 = nameBase64
        self.value = value
        self.valueBase64 = valueBase64
        self.domain = domain
        self.path = path
        self.hostOnly = hostOnly
        self.secure = secure
        self.httpOnly = httpOnly
        self.sameSite = sameSite
        self.partitionKey = partitionKey
        self.expires = expires
        self.created = created
        self.size = size
        self.expiresIn = expiresIn
        self.origin = origin
    }

    /// The octets of the name.
    public var nameOctets: Octets { OctetsReport(text: name, base64: nameBase64).octets }

    /// The octets of the value; empty if the value is not in the report.
    public var valueOctets: Octets { OctetsReport(text: value, base64: valueBase64).octets }
}

/// A cookie that was removed or left out: its identity without its value, and the reason if there is one.
public struct CookieIdentityReport: Codable, Equatable, Sendable {
    /// The name.
    public let name: String?
    /// The name in Base64 if it is not UTF-8.
    package let nameBase64: String?
    /// The domain.
    public let domain: String
    /// The path.
    public let path: String
    /// Whether only the host itself gets the cookie.
    public let hostOnly: Bool
    /// The partition; `nil` for a cookie without one.
    public let partitionKey: String?
    /// The reason.
    public let reason: ReasonReport?

    package init(
        name: String? = nil, nameBase64: String? = nil, domain: String, path: String, hostOnly: Bool,
        partitionKey: String? = nil, reason: ReasonReport? = nil
    ) {
        self.name = name
        self.nameBase64 = nameBase64
        self.domain = domain
        self.path = path
        self.hostOnly = hostOnly
        self.partitionKey = partitionKey
        self.reason = reason
    }

    package init(_ report: some CookieNaming) {
        self.init(
            name: report.name, nameBase64: report.nameBase64, domain: report.domain, path: report.path,
            hostOnly: report.hostOnly, partitionKey: report.partitionKey)
    }

    /// The octets of the name.
    public var nameOctets: Octets { OctetsReport(text: name, base64: nameBase64).octets }
}

/// A report that identifies a cookie.
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

/// Octets in JSON: text if they are UTF-8, otherwise Base64.
package struct OctetsReport {
    package let text: String?
    package let base64: String?

    package init(_ octets: Octets) {
        text = octets.utf8String
        base64 = text == nil ? octets.base64 : nil
    }

    /// Octets as a report has them.
    package init(text: String?, base64: String?) {
        self.text = text
        self.base64 = base64
    }

    /// The octets; empty if the report has neither form.
    package var octets: Octets {
        if let text { return Octets(text) }
        return Octets(base64.flatMap { Base64.decode($0.utf8) } ?? [])
    }
}

extension Octets {
    /// The octets in Base64.
    package var base64: String { Base64.text(self) }
}

/// Where a cookie's value came from.
package struct OriginReport: Codable, Sendable {
    /// The kind of a cookie that a request sent.
    package static let requestKind = "request"

    /// The capture it was imported from.
    package let capture: String?
    /// The URL of the response, without its query.
    package let url: String?
    /// When the response was received (RFC 3339).
    package let received: String?
    /// `request` for a cookie that a request sent, whose flags are assumed; `nil` for any other.
    package let kind: String?

    package init(capture: String? = nil, url: String? = nil, received: String? = nil, kind: String? = nil) {
        self.capture = capture
        self.url = url
        self.received = received
        self.kind = kind
    }
}

/// Cookies of a jar: all of them, or a page.
public struct CookieList: Codable, Sendable {
    /// The cookies.
    public let cookies: [CookieReport]
    /// Cookies whose stored value cannot be read; on the first page.
    public let unreadable: [CookieIdentityReport]
    /// The cursor of the next page; `nil` on the last page.
    public let next: String?

    package init(cookies: [CookieReport] = [], unreadable: [CookieIdentityReport] = [], next: String? = nil) {
        self.cookies = cookies
        self.unreadable = unreadable
        self.next = next
    }
}

/// Cookies that were removed.
public struct CookieRemovalList: Codable, Sendable {
    /// The removed cookies.
    public let removed: [CookieIdentityReport]

    package init(removed: [CookieIdentityReport]) {
        self.removed = removed
    }
}

/// The names of cookies, in printable form, as a list for a person.
package func shownNames(_ names: [String]) -> String {
    names.map { $0.isEmpty ? "(no name)" : $0 }.joined(separator: ", ")
}
