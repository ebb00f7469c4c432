/// What clearing a jar removed, in JSON.
package struct JarClearReport: Codable {
    package let jar: String
    package let removed: Int

    package init(jar: String, removed: Int) {
        self.jar = jar
        self.removed = removed
    }
}
