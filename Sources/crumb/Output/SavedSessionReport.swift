import CookieModel
import SessionStore

/// A saved session in JSON.
struct SavedSessionReport: Encodable {
    let name: String
    let saved: String
    let cookies: Int

    init(_ session: SavedSession) {
        name = session.name
        saved = session.creation.rfc3339
        cookies = session.cookieCount
    }
}
