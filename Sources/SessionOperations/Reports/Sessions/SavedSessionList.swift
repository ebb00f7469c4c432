/// The saved sessions of a jar, in JSON.
package struct SavedSessionList: Codable {
    package let snapshots: [SavedSessionReport]

    package init(snapshots: [SavedSessionReport]) {
        self.snapshots = snapshots
    }
}
