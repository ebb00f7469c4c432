package import SessionStore

/// What went with a jar, in JSON.
package struct JarRemovalReport: Codable {
    package let jar: String
    package let cookies: Int
    package let savedSessions: Int

    package init(jar: String, _ removal: JarRemoval) {
        self.jar = jar
        cookies = removal.cookies
        savedSessions = removal.savedSessions
    }
}
