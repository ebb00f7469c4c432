/// Jars, in JSON.
package struct JarList: Codable {
    package let jars: [JarReport]
    /// Where the next page begins; `nil` at the end.
    package let next: String?

    package init(jars: [JarReport], next: String? = nil) {
        self.jars = jars
        self.next = next
    }
}
