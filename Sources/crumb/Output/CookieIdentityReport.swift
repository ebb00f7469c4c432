import CookieModel

/// A cookie that is gone or was left out, in JSON: what it was, without its value, and why where there is a reason.
struct CookieIdentityReport: Encodable {
    let name: String?
    let nameBase64: String?
    let domain: String
    let path: String
    let hostOnly: Bool
    let partitionKey: String?
    let reason: ReasonReport?

    init(_ cookie: Cookie, reason: ReasonReport? = nil) {
        self.init(CookieRecord(cookie), reason: reason)
    }

    init(_ record: CookieRecord, reason: ReasonReport? = nil) {
        let name = OctetsReport(record.name)
        self.name = name.text
        nameBase64 = name.base64
        domain = record.domain
        path = record.path.description
        hostOnly = record.isHostOnly
        partitionKey = record.partitionKey?.serialized
        self.reason = reason
    }

    init(_ eviction: Eviction) {
        self.init(eviction.cookie, reason: ReasonReport(eviction.reason))
    }
}

extension Eviction {
    /// The eviction for a person.
    var line: String {
        "evicted \(cookie.label): \(reason.explanation) (\(reason.identifier))"
    }
}

/// A number and a noun: "1 cookie", "2 cookies".
func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}

/// A name that a person chose, without what a terminal would obey.
func shown(_ name: String) -> String {
    Octets(name).description
}
