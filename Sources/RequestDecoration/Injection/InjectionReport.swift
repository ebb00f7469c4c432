/// The result for the cookies and `localStorage` items of an ``InjectionScript`` on a page.
///
/// A page can forge it if the script runs in the page's world. Use it to see whether a session was set, never to grant
/// access.
package struct InjectionReport: Sendable, Hashable {
    /// The result for a cookie or an item.
    package enum State: String, Sendable, CaseIterable {
        /// The script set it, and it reads back.
        case set
        /// The page already had it, with that value.
        case present
        /// The page has another value with that name, which was not changed.
        case kept
        /// The script set it in this tab before and did not change it again.
        case given
        /// The script set it, but cannot read it back: the browser rejected it.
        case refused
        /// It has expired.
        case expired
        /// The script set it for another path of the host, which scripts of the page cannot see.
        case unverifiable
        /// It waits for a page of its own path, or for another page in the address bar.
        case elsewhere
        /// The page cannot use cookies, for example in a sandboxed frame.
        case blocked
    }

    /// A cookie of the script, and its result.
    package struct Entry: Sendable, Hashable {
        /// The name.
        package let name: String
        /// The domain, with a leading dot unless the cookie is host-only.
        package let domain: String
        /// The path.
        package let path: String
        /// Its result.
        package let state: State
    }

    /// Scheme and host of the page: `https://www.example.com`.
    package let page: String
    /// The script's cookies for that page, in its order.
    package let cookies: [Entry]

    /// The number of the script's `localStorage` items for that page by state. States without items are omitted.
    package let storage: [State: Int]

    /// Whether nothing was rejected or blocked, as far as scripts of the page can see. ``State/unverifiable`` cookies
    /// count as set.
    package var isComplete: Bool {
        cookies.allSatisfy { $0.state != .refused && $0.state != .blocked } && storage[.refused] == nil
            && storage[.blocked] == nil
    }
}
