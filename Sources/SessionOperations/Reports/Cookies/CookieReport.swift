package import CookieModel
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
