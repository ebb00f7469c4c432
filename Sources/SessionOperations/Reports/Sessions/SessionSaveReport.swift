package import SessionStore

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
