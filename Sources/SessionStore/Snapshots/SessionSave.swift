/// What saving a session came to.
public struct SessionSave: Sendable, Hashable {
    /// What is saved now.
    public let session: SavedSession
    /// What was saved under the same name before, and is gone; `nil` where nothing was.
    public let previous: SavedSession?
}
