import CookieModel
package import SessionStore

/// A saved session in JSON.
package struct SavedSessionReport: Codable {
    package let name: String
    package let saved: String
    package let cookies: Int

    package init(_ session: SavedSession) {
        name = session.name
        saved = session.creation.rfc3339
        cookies = session.cookieCount
    }
}
