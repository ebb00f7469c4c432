/// What clearing a jar removed, in JSON.
package struct JarClearReport: Codable {
    package let jar: String
    /// How many cookies.
    package let removed: Int
    /// How many items of `localStorage`.
    package let storageItems: Int

    package init(jar: String, removed: (cookies: Int, storageItems: Int)) {
        self.jar = jar
        (self.removed, storageItems) = removed
    }
}
