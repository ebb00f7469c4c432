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
