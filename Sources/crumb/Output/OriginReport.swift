import CookieModel
import SessionStore

/// Where a cookie's value came from, in JSON.
struct OriginReport: Encodable {
    /// The capture it was imported from.
    let capture: String?
    /// The URL of the response, without its query.
    let url: String?
    /// When the response came.
    let received: String?

    init(_ origin: CookieOrigin) {
        capture = origin.capture
        url = origin.url
        received = origin.received?.rfc3339
    }
}

extension CookieOrigin {
    /// The origin for a person.
    var label: String {
        let parts = [url, capture.map { "in \(Octets($0))" }, received.map { "at \($0.rfc3339)" }].compactMap(\.self)
        return parts.isEmpty ? "-" : parts.joined(separator: " ")
    }
}
