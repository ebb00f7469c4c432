internal import CookieModel

/// A row of the `cookie` table: the cookie with its value sealed, its site, and where the value came from.
struct StoredCookie {
    /// The cookie, its value sealed.
    var cookie: Cookie
    /// The registrable domain.
    let site: Octets
    /// The capture that the value came out of.
    var captureID: Int64?
    /// The URL that set it.
    let sourceURL: String?
    /// When the response came that set it.
    var receivedAt: Timestamp?

    /// When the cookie last changed: when the response came, or where that is not known, when it was created.
    var lastUpdate: Timestamp { receivedAt ?? cookie.creation }
}
