package import SessionStore

/// What merging two jars came to, in JSON.
package struct JarMergeReport: Codable {
    package let from: String
    package let into: String
    package let added: Int
    package let replaced: Int
    package let kept: Int
    package let expired: Int
    package let unreadable: [CookieIdentityReport]
    package let evicted: [CookieIdentityReport]

    package init(from: String, into: String, _ merge: JarMerge) {
        self.from = from
        self.into = into
        added = merge.added
        replaced = merge.replaced
        kept = merge.kept
        expired = merge.expired
        unreadable = merge.unreadable.map { CookieIdentityReport($0) }
        evicted = merge.evicted.map { CookieIdentityReport($0) }
    }
}
