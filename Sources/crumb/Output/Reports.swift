import CookieModel
import Foundation
import SessionStore

/// Octets in JSON: text where they are UTF-8, base64 beside it where they are not.
struct OctetsReport: Encodable {
    let text: String?
    let base64: String?

    init(_ octets: Octets) {
        text = octets.utf8String
        base64 = text == nil ? Data(octets).base64EncodedString() : nil
    }
}

/// A cookie in JSON; the value only where it was asked for.
struct CookieReport: Encodable {
    let name: String?
    let nameBase64: String?
    let value: String?
    let valueBase64: String?
    let domain: String
    let path: String
    let hostOnly: Bool
    let secure: Bool
    let httpOnly: Bool
    let sameSite: String?
    let partitionKey: String?
    let expires: String?
    let created: String
    /// Octets of name and value; `nil` where the value was not read.
    let size: Int?
    /// Seconds until it expires, negative where it has; only where the report has a time.
    let expiresIn: Int64?
    /// Where the value came from; only where the report was given it.
    let origin: OriginReport?

    init(_ cookie: Cookie, showingValue: Bool, origin: CookieOrigin? = nil) {
        self.init(
            cookie, showingValue: showingValue, size: cookie.name.count + cookie.value.count, at: nil, origin: origin)
    }

    /// A cookie whose value nobody looks at, with how long it lives from `now` on.
    init(_ cookie: Cookie, at now: Timestamp) {
        self.init(cookie, showingValue: false, size: nil, at: now, origin: nil)
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

/// A reason in JSON.
struct ReasonReport: Encodable {
    let id: String
    let explanation: String
    /// What a server or a user does about it.
    var remedy: String?

    init(_ reason: some DecisionReason) {
        id = reason.identifier
        explanation = reason.explanation
        remedy = reason.remedy
    }

    init(id: String, explanation: String) {
        self.id = id
        self.explanation = explanation
    }
}

/// The Cookie header in JSON.
struct HeaderReport: Encodable {
    let url: String
    let cookie: String?
    let cookieBase64: String
    let names: [String]

    init(url: String, retrieval: Retrieval?) {
        let octets = retrieval?.cookieString ?? []
        self.url = url
        cookie = octets.utf8String
        cookieBase64 = Data(octets).base64EncodedString()
        names = retrieval?.included.map(\.name.description) ?? []
    }
}

extension Cookie {
    /// The cookie for a person: name, host, path.
    var label: String {
        let shownName = name.isEmpty ? "(no name)" : name.description
        return "\(shownName)  \(isHostOnly ? "" : ".")\(domain)\(path)"
    }

    /// The flags for a person.
    var flags: String {
        var flags: [String] = []
        if isSecure { flags.append("Secure") }
        if isHTTPOnly { flags.append("HttpOnly") }
        if let sameSite = sameSite.attributeValue { flags.append("SameSite=\(sameSite)") }
        if isHostOnly { flags.append("host-only") }
        if id.partitionKey != nil { flags.append("Partitioned") }
        return flags.isEmpty ? "-" : flags.joined(separator: " ")
    }
}
