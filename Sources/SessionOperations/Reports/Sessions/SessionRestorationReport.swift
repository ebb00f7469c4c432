package import SessionStore

/// What restoring a saved session came to, in JSON.
package struct SessionRestorationReport: Codable {
    package let jar: String
    package let session: SavedSessionReport
    package let cookies: Int
    package let added: Int
    package let changed: Int
    package let removed: Int
    package let expired: [CookieIdentityReport]

    package init(jar: String, _ restoration: SessionRestoration) {
        self.jar = jar
        session = SavedSessionReport(restoration.session)
        cookies = restoration.cookieCount
        added = restoration.added
        changed = restoration.changed
        removed = restoration.removed
        expired = restoration.expired.map { CookieIdentityReport($0) }
    }
}
