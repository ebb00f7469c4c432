import CookieModel
package import SessionStore

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
