/// Cookies that are gone, in JSON.
package struct CookieRemovalList: Codable {
    package let removed: [CookieIdentityReport]

    package init(removed: [CookieIdentityReport]) {
        self.removed = removed
    }
}
