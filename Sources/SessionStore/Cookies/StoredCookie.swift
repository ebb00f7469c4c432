internal import CookieModel

/// A row of the `cookie` table: the cookie with its value sealed, its site, and where the value came from.
struct StoredCookie {
    /// The cookie, its value sealed.
    var cookie: Cookie
    /// The registrable domain.
    let site: Octets
    /// Where the value came from.
    var source: Source

    /// What a row says of where its value came from.
    struct Source {
        /// The capture that the value came out of; `nil` for a live response.
        var captureID: Int64?
        /// The URL that set it, without its query.
        let url: Octets?
        /// When the response came that set it.
        var received: Timestamp?
        /// When its answer had come, if that was later; in no row.
        var answered: Timestamp?
    }

    /// When the cookie last changed: when the response came, or where that is not known, when it was created.
    var lastUpdate: Timestamp { source.received ?? cookie.creation }
}
