package import SessionStore

/// What copying a jar came to, in JSON.
package struct JarCopyReport: Codable {
    package let from: String
    package let to: String
    package let copied: Int
    package let expired: Int
    package let unreadable: [CookieIdentityReport]

    package init(from: String, to: String, _ copy: JarCopy) {
        self.from = from
        self.to = to
        copied = copy.copied
        expired = copy.expired
        unreadable = copy.unreadable.map { CookieIdentityReport($0) }
    }
}
