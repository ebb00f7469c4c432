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
    /// The URL of the response that did it, without its query; only where it is known.
    package let url: String?
    /// The capture that the response came out of; only where it came out of one.
    package let capture: String?

    /// - Parameter origin: where the cookie's present value came from, for a change that left the cookie in the jar.
    package init(_ change: CookieChange, origin: CookieOrigin? = nil) {
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
        url = change.url ?? origin?.url
        capture = change.capture ?? origin?.capture
    }
}
