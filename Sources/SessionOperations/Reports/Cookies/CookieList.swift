/// Cookies of a jar, in JSON: all of them, or a page.
package struct CookieList: Codable, Sendable {
    package let cookies: [CookieReport]
    /// Cookies whose stored value cannot be read back; on the first page.
    package let unreadable: [CookieIdentityReport]
    /// Where the next page begins; `nil` on the last one.
    package let next: String?

    package init(cookies: [CookieReport] = [], unreadable: [CookieIdentityReport] = [], next: String? = nil) {
        self.cookies = cookies
        self.unreadable = unreadable
        self.next = next
    }
}
