package import SessionStore

/// A page of a jar's journal, in JSON.
package struct ChangeList: Codable {
    package let changes: [ChangeReport]
    /// The position to ask for next.
    package let position: Int64
    /// Whether changes after the position asked for are gone, so that the whole jar has to be looked at once.
    package let hasGap: Bool
    /// Whether there is more to read already.
    package let hasMore: Bool

    /// A page that has come by itself.
    package init(changes: [ChangeReport], position: Int64, hasGap: Bool) {
        self.changes = changes
        self.position = position
        self.hasGap = hasGap
        hasMore = false
    }

    package init(_ page: ChangePage) {
        changes = page.changes.map { ChangeReport($0) }
        position = page.position
        hasGap = page.hasGap
        hasMore = page.hasMore
    }
}
