import CookieModel
package import SessionStore

/// A change in JSON.
package struct ChangeReport: Codable {
    package let position: Int64
    package let time: String
    package let cause: String
    package let name: String?
    package let nameBase64: String?
    package let domain: String
    package let path: String
    package let hostOnly: Bool
    package let partitionKey: String?

    package init(_ change: CookieChange) {
        position = change.position
        time = change.time.rfc3339
        cause = change.cause.identifier
        let name = OctetsReport(change.cookie.name)
        self.name = name.text
        nameBase64 = name.base64
        domain = change.cookie.domain.description
        path = change.cookie.path.description
        hostOnly = change.cookie.isHostOnly
        partitionKey = change.cookie.partitionKey?.serialized
    }
}
