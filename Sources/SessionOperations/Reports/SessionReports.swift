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

/// The saved sessions of a jar, in JSON.
package struct SavedSessionList: Codable {
    package let snapshots: [SavedSessionReport]

    package init(snapshots: [SavedSessionReport]) {
        self.snapshots = snapshots
    }
}

/// What saving a session came to, in JSON.
package struct SessionSaveReport: Codable {
    package let jar: String
    package let session: SavedSessionReport
    package let replaced: SavedSessionReport?

    package init(jar: String, _ save: SessionSave) {
        self.jar = jar
        session = SavedSessionReport(save.session)
        replaced = save.previous.map(SavedSessionReport.init)
    }
}

/// What the end of a session came to, in JSON.
package struct SessionEndReport: Codable {
    package let jar: String
    package let removed: Int
    package let kept: Int

    package init(jar: String, removed: Int, kept: Int) {
        self.jar = jar
        self.removed = removed
        self.kept = kept
    }
}

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
