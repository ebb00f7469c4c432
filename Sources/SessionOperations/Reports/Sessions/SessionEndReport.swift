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
