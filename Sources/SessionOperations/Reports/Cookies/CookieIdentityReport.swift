package import CookieModel

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

    package init(_ cookie: CookieReport) {
        name = cookie.name
        nameBase64 = cookie.nameBase64
        domain = cookie.domain
        path = cookie.path
        hostOnly = cookie.hostOnly
        partitionKey = cookie.partitionKey
        reason = nil
    }

    package init(_ change: ChangeReport) {
        name = change.name
        nameBase64 = change.nameBase64
        domain = change.domain
        path = change.path
        hostOnly = change.hostOnly
        partitionKey = change.partitionKey
        reason = nil
    }

    package init(_ eviction: Eviction) {
        self.init(eviction.cookie, reason: ReasonReport(eviction.reason))
    }
}
