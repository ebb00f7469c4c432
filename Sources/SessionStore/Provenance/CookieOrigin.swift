public import CookieModel

/// Where a cookie's present value came from.
public struct CookieOrigin: Sendable, Hashable {
    /// The capture it was imported from; `nil` for a live response, and for a cookie that is older than this record.
    public let capture: String?
    /// The URL of the response, without its query, which may hold what is as good as a password; `nil` for a record
    /// out of another program's store.
    public let url: String?
    /// When the response came, or the record was taken in; `nil` for a cookie that is older than this record.
    public let received: Timestamp?
    /// Whether a request of the capture sent the cookie and no response of it set it, so that its flags were assumed.
    public let isRequest: Bool

    init(capture: String?, url: String?, received: Timestamp?, isRequest: Bool = false) {
        self.capture = capture
        self.url = url
        self.received = received
        self.isRequest = isRequest
    }
}
