/// Jars, in JSON.
package struct JarList: Codable {
    package let jars: [JarReport]

    package init(jars: [JarReport]) {
        self.jars = jars
    }
}
