/// A profile that is gone, in JSON.
package struct TokenRemoval: Codable {
    package let removed: String

    package init(removed: String) {
        self.removed = removed
    }
}
